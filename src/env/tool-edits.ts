/** An environment whose tools a person has changed: the model sees the changed ones, the environment gets its own names. */

import { shownTools, toolsFound, type DiscoveredEnvironment } from '../core/discovered'
import type { Environment, EnvironmentSession } from '../core/environment'
import { applyToolEdits, calledTool, type ToolEdit } from '../core/tool-edits'
import { checkToolCall } from '../core/tool-schema'
import type { Tool } from '../core/tools'
import { wrapped } from './wrapped'

/**
 * The environment with `edits` applied; the environment itself when there are none. A call that does not fit the changed tools is
 * answered here as a refused one and never reaches the environment. `connect` throws PlaygroundError('config') when the edits do not
 * fit the tools.
 */
export function withToolEdits(environment: Environment, edits: readonly ToolEdit[]): Environment {
  if (edits.length === 0) return environment
  let made: { from: readonly Tool[]; found: DiscoveredEnvironment; tools: readonly Tool[] } | null = null
  // An environment may make its list anew each time it is asked.
  const edited = () => {
    const from = environment.tools
    if (made && made.from.length === from.length && made.from.every((tool, i) => tool === from[i])) return made
    const found = applyToolEdits(toolsFound(environment.name, from), edits)
    made = { from, found, tools: shownTools(found) }
    return made
  }
  return wrapped<Environment>(environment, {
    get tools() {
      return environment.tools.length === 0 ? [] : edited().tools
    },
    get ownTools() {
      return environment.ownTools ?? environment.tools
    },
    async connect() {
      await environment.connect()
      try {
        edited()
      } catch (error) {
        await environment.close()
        throw error
      }
    },
    async open() {
      return editedSession(await environment.open(), edited().found)
    },
  })
}

function editedSession(session: EnvironmentSession, found: DiscoveredEnvironment): EnvironmentSession {
  const tools = found.tools.map(({ tool }) => tool)
  return wrapped<EnvironmentSession>(session, {
    async step(call) {
      const why = checkToolCall(call, tools)
      const called = calledTool(found, call)
      if (why !== null || !called) return { text: `Error: ${why ?? 'no such tool.'}`, reward: null, done: false, metadata: {}, toolError: true, refused: true }
      return session.step({ ...call, name: called.id })
    },
  })
}

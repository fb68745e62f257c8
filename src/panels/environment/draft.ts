/** The environment's tools as the controls' edits make them, which the run takes over at Reset. */

import { useMemo } from 'react'
import { describeError } from '../../core/errors'
import { applyToolEdits, type ToolEdit } from '../../core/tool-edits'
import type { Tool } from '../../core/tools'
import { toolsFound } from '../../core/discovered'
import { playedConfig } from '../../store/play-store'
import { usePlay, useSetup, useShown } from '../../store/hooks'
import type { EnvironmentView } from '../../store/view'

export interface DraftTool {
  /** The environment's own name. */
  id: string
  own: Tool
  /** null = left out. */
  tool: Tool | null
}

export interface Draft {
  tools: readonly DraftTool[]
  /** Why the edits cannot be made; the tools are then the environment's own. */
  error: string | null
}

/** Why these edits cannot be made on these tools; null when they can. */
export function whyNot(tools: readonly Tool[], edits: readonly ToolEdit[]): string | null {
  try {
    applyToolEdits(toolsFound('The environment', tools), edits)
    return null
  } catch (error) {
    return describeError(error)
  }
}

/** Of the environment that is played; null while none is connected. */
export function useDraft(): Draft | null {
  const member = usePlay((view) => view.member)
  const own = useShown(({ environment }) => (environment ? toolsOf(environment, member) : null))
  const several = useShown(({ environment }) => environment?.members !== undefined)
  const all = useSetup((state) => playedConfig(state).tool_edits)
  return useMemo(() => {
    if (!own) return null
    // An edit is about the tools of that name, wherever they are.
    const edits = several ? all.filter((edit) => own.some((tool) => tool.function.name === edit.tool)) : all
    const error = whyNot(own, edits)
    const found = applyToolEdits(toolsFound('', own), error === null ? edits : [])
    const tools = own.map((tool) => {
      const id = tool.function.name
      return { id, own: tool, tool: found.tools.find((each) => each.id === id)?.tool ?? null }
    })
    return { tools, error }
  }, [own, several, all])
}

function toolsOf({ ownTools, members }: EnvironmentView, member: number): readonly Tool[] {
  const one = members?.[member] ?? members?.[0]
  return one ? (one.ownTools ?? one.tools) : ownTools
}

/** What a person should know of a server's episodes though each of them can be scored: said once, not for each episode. */

import type { Environment } from '../core/environment'
import type { Episode } from '../core/episode'
import type { TrainEvent } from '../core/events'
import { cutText } from '../core/text'

type Kind = 'silent' | 'failing'
const told = new WeakMap<Environment, Set<Kind>>()

/** Whether this has not been said of the environment yet, while it stays connected. */
function isNew(environment: Environment, kind: Kind): boolean {
  const kinds = told.get(environment) ?? new Set()
  told.set(environment, kinds)
  if (kinds.has(kind)) return false
  kinds.add(kind)
  return true
}

/** Warns when a server said nothing at reset: what an episode is about, the model then learns from the person's prompts or not at all. */
export function remarkOnStart(environment: Environment, text: string, onEvent: (event: TrainEvent) => void): void {
  if (!environment.discovered || text.trim() !== '' || !isNew(environment, 'silent')) return
  const why = 'What an episode is about, the model reads in your prompts or not at all: if the task is drawn anew each time, it cannot know it.'
  onEvent({ type: 'notice', level: 'warning', text: `${environment.name} said nothing at reset. ${why}` })
}

/** How an MCP server tells that a tool raised an exception of its own. Which one is not sent: a lost database and a bad word look alike. */
const RAISED = /^Error: Error calling tool '/

/**
 * Warns when an episode earned 0 because no call of it succeeded and one ended in an exception of the server's tool: that may be the server's
 * fault (a database that is down), for which the model should not be trained; only a person can tell.
 */
export function remarkOnErrors(environment: Environment, episode: Episode, onEvent: (event: TrainEvent) => void): void {
  const raised = episode.turns.flatMap((turn) => turn.calls).find(({ error, result }) => error && RAISED.test(result))
  if (!environment.discovered || raised === undefined || !isNew(environment, 'failing')) return
  const said = cutText(raised.result.replace(/^Error: /, '').replace(/\.$/, ''), 200)
  const why = 'No call of the episode succeeded, so it earned 0. Where that is the server’s fault, stop the run and mend the tool: the model learns nothing right from it.'
  onEvent({ type: 'notice', level: 'warning', text: `${environment.name} reported an error of its own tool: ${said}. ${why}` })
}

/** Worker messages → what the panels read: one pure function, except for tokens, which go to the token log. */

import { LEADING_METRIC } from '../core/stage'
import type { Message } from '../worker/protocol'
import { reduceEvent } from './reduce-event'
import { restore } from './restore'
import type { TokenLog } from './token-log'
import { EMPTY_RUN, type RunView } from './view'

/** The view after `message`; `now` is a clock in ms, used only to time waiting. */
export function reduce(view: RunView, message: Message, tokens: TokenLog, now: number): RunView {
  switch (message.type) {
    case 'state':
      return { ...view, run: message.state, ...(message.state.state === 'failed' && { evaluation: null, plan: null }) }
    case 'engine':
      return { ...view, engine: message.report }
    case 'environment': {
      const { spec, tools, ownTools = tools, prompts, maxSessions, heldOut, discovered = null, dataset, members } = message
      return { ...view, environment: { spec, tools, ownTools, prompts, maxSessions, ...(heldOut !== undefined && { heldOut }), discovered, ...(dataset && { dataset }), ...(members && { members }) } }
    }
    case 'event':
      return reduceEvent(view, message.event, tokens, now)
    case 'cleared':
      tokens.clear()
      return { ...EMPTY_RUN, run: view.run, engine: view.engine, environment: view.environment }
    case 'inspection':
    case 'stored-models':
    case 'configured':
    case 'chat-tokens':
    case 'chat-ended':
    case 'play-event':
    case 'play-frames':
    case 'play-result':
    case 'play-ended':
    case 'runs':
    case 'run-history':
    case 'exported':
    case 'publish-progress':
    case 'published':
    case 'resume-refused':
    case 'examined':
    case 'compared':
    case 'dry-run-progress':
    case 'dry-run-done':
    case 'bench-progress':
    case 'bench-done':
    case 'prompts-looked':
    case 'prompts-reading':
    case 'stage-looked':
    case 'stage-rows':
    case 'stage-reading':
    case 'stage-state':
    case 'stage-progress':
      // The model panel, the chat, play by hand and the settings keep their own stores.
      return view
    case 'plan': {
      const { kind, at, stages, doing, done, of, before, metrics } = message
      const lead = view.plan?.at === at ? view.plan.lead : []
      return { ...view, plan: { kind, at, stages, doing, done, of, ...(before && { before }), lead: metrics ? [...lead, metrics[LEADING_METRIC[kind]] ?? null] : lead } }
    }
    case 'stages':
      return { ...view, plan: null, stages: message.stages }
    case 'restored':
      return restore(view, message, tokens)
    case 'evaluation':
    case 'evaluation-failed':
      return { ...view, evaluation: null }
  }
}

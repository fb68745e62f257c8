/** What a rollout's groups are: who plays each, with which prompt; every environment's sessions and queue stand once. */

import type { Environment } from '../core/environment'
import type { ChatMessage } from '../core/tools'
import { firstMessages } from './first-messages'
import { sharedPrefix } from './prefix'
import { Queue } from './queue'
import { SessionGate } from './sessions'
import type { AuthoredTokens } from './tokens'
import type { RolloutRequest } from './types'

/** An environment with its sessions, and with the episodes that wait for one. */
export interface Venue {
  environment: Environment
  gate: SessionGate
  queue: Queue
}

/** One group's. */
export interface Scenario {
  venue: Venue
  messages: readonly ChatMessage[]
  /** The prompt without what reset says. */
  base: AuthoredTokens
  /** Prompts by what reset said; groups that begin alike share them. */
  prompts: Map<string, AuthoredTokens>
  columns?: Readonly<Record<string, unknown>>
}

/** One scenario for each group of a request, and the environments that they name. `onFree`: a session has become free. */
export function scenariosOf(request: RolloutRequest, onFree: () => void): { scenarios: Scenario[]; venues: Venue[] } {
  const { environment, groupSeeds, num_generations, split, firstPrompt, chat } = request
  const own = firstMessages(request)
  const assigned = groupSeeds.map((seed, i) => {
    const draw = { seed, split, ...(firstPrompt === undefined ? {} : { prompt: firstPrompt + i }) }
    return environment.assign?.(draw) ?? { environment }
  })
  const venues = new Map<Environment, Venue>()
  const venueOf = (of: Environment): Venue => {
    const episodes = assigned.filter((one) => one.environment === of).length * num_generations
    // Sessions beyond the slots are reset ahead, so that a slot that becomes free finds its next episode.
    const made = venues.get(of) ?? {
      environment: of,
      gate: new SessionGate(of, 2 * request.sampler.slots, onFree),
      queue: new Queue(of, request.step, episodes, request.onEvent),
    }
    venues.set(of, made)
    return made
  }
  const begun = new Map<string, Pick<Scenario, 'base' | 'prompts'>>()
  const scenarios = assigned.map((one): Scenario => {
    const venue = venueOf(one.environment)
    const messages = one.messages ?? own
    const key = JSON.stringify([[...venues.keys()].indexOf(one.environment), messages])
    const start = begun.get(key) ?? { base: chat.prompt(messages, one.environment.tools), prompts: new Map<string, AuthoredTokens>() }
    begun.set(key, start)
    return { venue, messages, ...start, ...(one.columns && { columns: one.columns }) }
  })
  return { scenarios, venues: [...venues.values()] }
}

/** The tokens with which all groups' prompts begin, whatever is said at reset; none for a single group, which shares its own prompt. */
export function commonStart({ chat }: Pick<RolloutRequest, 'chat'>, scenarios: readonly Scenario[]): number[] {
  if (scenarios.length < 2) return []
  const different = [...new Map(scenarios.map((scenario) => [scenario.base, scenario])).values()]
  const starts = different.map(({ messages, venue }) => sharedPrefix(chat, messages, venue.environment.tools))
  const [first = [], ...others] = starts
  const end = first.findIndex((id, i) => others.some((other) => other[i] !== id))
  return end < 0 ? first : first.slice(0, end)
}

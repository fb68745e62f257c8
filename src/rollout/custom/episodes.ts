/** From what a rollout function returned to an episode, and what the page sees of it while it is written. */

import type { SampledToken } from '../../core/engine'
import { APPENDED, type Episode } from '../../core/episode'
import type { ChatMessage } from '../../core/tools'
import type { ChatFormat } from '../chat'
import { appendedTokens, appendGiven, appendSampled, assertConsistent, recordTurn, startEpisode } from '../episode'
import type { Scenario } from '../scenarios'
import type { AuthoredTokens } from '../tokens'
import type { RolloutRequest } from '../types'
import type { Drawn } from './generate'
import type { Returned } from './read-result'

type Place = Pick<Episode, 'step' | 'index' | 'group' | 'seed'>

/** Tokens that nobody drew: of the page's prompt by whom they are, else as the template's. */
const promptOf = ({ base }: Scenario, ids: readonly number[]): AuthoredTokens =>
  isSame(ids, base.ids) ? base : { ids: [...ids], authors: ids.map(() => 'template') }

const isSame = (one: readonly number[], other: readonly number[]): boolean => one.length === other.length && one.every((id, i) => id === other[i])

/** Draws the episode that is being written; a call of generate that does not go on from what is drawn begins it anew. */
export class Shown {
  private episode: Episode | null = null
  /** What is being drawn; another that is drawn beside it is not shown. */
  private of: Drawn | null = null

  constructor(
    private readonly request: RolloutRequest,
    private readonly place: Place,
    private readonly scenario: Scenario,
  ) {}

  token(drawn: Drawn, token: SampledToken): void {
    const { onEvent, chat } = this.request
    const { step, index } = this.place
    if (drawn !== this.of && drawn.tokens.length > 1) return
    const from = drawn === this.of && this.episode ? this.episode : this.goOn(drawn.ids)
    this.of = drawn
    appendSampled(from, token)
    onEvent({ type: 'tokens', step, index, tokens: appendedTokens(from, chat, from.ids.length - 1) })
  }

  /** The finished episode in place of what was drawn of it. */
  end(episode: Episode): void {
    const { onEvent, chat } = this.request
    const { step, index } = this.place
    const drawn = this.episode
    const same = drawn && drawn.promptLength === episode.promptLength && JSON.stringify([drawn.ids, drawn.mask]) === JSON.stringify([episode.ids, episode.mask])
    if (!same) {
      onEvent({ type: 'episode-started', ...this.place, prompt: appendedTokens(episode, chat, 0, episode.promptLength) })
      onEvent({ type: 'tokens', step, index, tokens: appendedTokens(episode, chat, episode.promptLength) })
    }
    onEvent({ type: 'episode-finished', step, episode })
  }

  private goOn(beginning: readonly number[]): Episode {
    const { onEvent, chat } = this.request
    const { step, index } = this.place
    const { episode } = this
    if (episode && beginning.length >= episode.ids.length && episode.ids.every((id, i) => id === beginning[i])) {
      const start = episode.ids.length
      if (beginning.length === start) return episode
      const ids = beginning.slice(start)
      appendGiven(episode, { ids, authors: ids.map(() => 'environment') })
      onEvent({ type: 'tokens', step, index, tokens: appendedTokens(episode, chat, start) })
      return episode
    }
    const begun = startEpisode(this.place, promptOf(this.scenario, beginning), this.scenario.messages.map((message) => ({ ...message })), undefined)
    this.episode = begun
    onEvent({ type: 'episode-started', ...this.place, prompt: appendedTokens(begun, chat, 0) })
    return begun
  }
}

/** The episode that a completion is, without a reward. */
export function episodeOf(returned: Returned, place: Place, scenario: Scenario, { chat, environment }: Pick<RolloutRequest, 'chat' | 'environment'>): Episode {
  const { completion_ids, tokens } = returned
  const episode = startEpisode(place, promptOf(scenario, returned.prompt_ids), promptMessages(scenario, returned.prompt_ids, chat), undefined)
  for (let at = 0; at < tokens.length; ) {
    const own = tokens[at] !== null
    const next = tokens.findIndex((token, i) => i > at && (token !== null) !== own)
    const end = next < 0 ? tokens.length : next
    const start = episode.ids.length
    if (own) {
      for (const token of tokens.slice(at, end)) appendSampled(episode, token as SampledToken)
      episode.terminated = chat.endOfTurnIds.includes(episode.ids.at(-1) as number)
      recordTurn(episode, chat, start, [], null)
    } else {
      const ids = completion_ids.slice(at, end)
      appendGiven(episode, { ids, authors: ids.map(() => 'environment') })
      const turn = episode.turns.at(-1)
      if (turn) turn.resultEnd = episode.ids.length
      episode.messages.push(...appendedMessages(ids, chat))
      episode.terminated = false
    }
    at = end
  }
  episode.exit = episode.terminated ? 'answered' : 'token_limit'
  const { venue, columns } = scenario
  if (venue.environment !== environment) episode.environment = venue.environment.name
  if (columns || Object.keys(returned.columns).length > 0) episode.columns = { ...columns, ...returned.columns }
  assertConsistent(episode)
  return episode
}

/** Characters by which what was put behind a message may lie beside where both prompts part: they may go on alike. */
const MOST_ALIKE = 16

/** The conversation that a prompt is: the scenario's, with what the function put behind its last message, as reset's words are. The last message of any other prompt is named so. */
function promptMessages({ base, messages, venue }: Scenario, ids: readonly number[], chat: ChatFormat): ChatMessage[] {
  const own = messages.map((message) => ({ ...message }))
  const last = own.at(-1)
  if (!last || isSame(ids, base.ids)) return own
  const [before, whole] = [chat.text(base.ids), chat.text(ids)]
  let at = 0
  while (at < before.length && before[at] === whole[at]) at++
  for (let end = at; end >= Math.max(0, at - MOST_ALIKE); end--) {
    if (!whole.endsWith(before.slice(end))) continue
    const said = last.content + whole.slice(end, whole.length - (before.length - end))
    if (!isSame(chat.prompt([...own.slice(0, -1), { ...last, content: said }], venue.environment.tools).ids, ids)) continue
    last.content = said
    return own
  }
  last.name = APPENDED
  return own
}

/** What the function appended between two turns: the results of tools where it is what trainer.tool_suffix writes for them, else one text of no known form. */
function appendedMessages(ids: readonly number[], chat: ChatFormat): ChatMessage[] {
  const results = [...chat.text(ids).matchAll(/<tool_response>\n([^]*?)\n<\/tool_response>/g)].map(([, content = '']) => ({ name: 'tool', content }))
  const suffix = results.length > 0 ? chat.toolSuffix(results).ids : []
  if (isSame(suffix, ids)) return results.map((result) => ({ role: 'tool', ...result }))
  return [{ role: 'tool', name: APPENDED, content: chat.plainText(ids) }]
}

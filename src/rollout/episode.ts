/** Builds an episode's append-only record: who wrote each token, which tokens train, and what every turn brought. */

import type { SampledToken } from '../core/engine'
import type { Episode } from '../core/episode'
import type { AppendedToken } from '../core/events'
import type { ToolCall } from '../core/tools'
import type { ChatFormat } from './chat'
import { thoughtIn } from './tool-calls'
import type { AuthoredTokens } from './tokens'

/** An episode that holds its prompt and nothing else. */
export function startEpisode(
  place: Pick<Episode, 'step' | 'index' | 'group' | 'seed'>,
  prompt: AuthoredTokens,
  messages: Episode['messages'],
  scene: unknown,
): Episode {
  const episode: Episode = {
    ...place,
    ids: [],
    mask: [],
    logprobs: [],
    authors: [],
    alternatives: [],
    promptLength: prompt.ids.length,
    turns: [],
    messages: messages.map((message) => ({ ...message })),
    ...(scene === undefined ? {} : { scene }),
    reward: null,
    exit: 'stopped',
    error: null,
    terminated: false,
  }
  appendGiven(episode, prompt)
  return episode
}

/** Appends tokens that the model did not sample: mask 0, log-prob 0, no alternatives. */
export function appendGiven(episode: Episode, tokens: AuthoredTokens): void {
  tokens.ids.forEach((id, i) => {
    episode.ids.push(id)
    episode.mask.push(0)
    episode.logprobs.push(0)
    episode.authors.push(tokens.authors[i] ?? 'template')
    episode.alternatives.push(null)
  })
}

/** Appends a token that the model sampled: mask 1. */
export function appendSampled(episode: Episode, token: SampledToken): void {
  episode.ids.push(token.id)
  episode.mask.push(1)
  episode.logprobs.push(token.logprob)
  episode.authors.push('model')
  episode.alternatives.push(token.top)
}

/**
 * Notes the model's turn that began at `start` and ends with the episode's last token, in `turns` and in `messages`.
 * `parseErrors`: the faults of calls that could not be parsed. `written` null means that the turn holds no call that could be parsed: all of its text is content.
 */
export function recordTurn(
  episode: Episode,
  chat: ChatFormat,
  start: number,
  parseErrors: readonly string[],
  written: { content: string; calls: readonly ToolCall[] } | null,
): void {
  const end = episode.ids.length
  const parseError = parseErrors[0] ?? null
  episode.turns.push({
    start,
    end,
    resultEnd: end,
    calls: [],
    parseError,
    ...(parseErrors.length > 1 ? { parseErrors: parseErrors.length } : {}),
  })
  if (written) {
    const tool_calls = written.calls.map((call) => ({ type: 'function' as const, function: call }))
    const reasoning_content = thoughtIn(chat.text(episode.ids.slice(start, end)))
    episode.messages.push({ role: 'assistant', content: written.content, ...(reasoning_content !== '' && { reasoning_content }), tool_calls })
  } else {
    const content = chat.text(episode.ids.slice(start, episode.terminated ? end - 1 : end))
    episode.messages.push({ role: 'assistant', content })
  }
}

/** Tokens [start, end) as the page shows them. */
export function appendedTokens(episode: Episode, chat: ChatFormat, start: number, end = episode.ids.length): AppendedToken[] {
  return episode.ids.slice(start, end).map((id, i) => {
    const at = start + i
    return {
      id,
      text: chat.tokenText(id),
      author: episode.authors[at] ?? 'template',
      logprob: episode.mask[at] === 1 ? (episode.logprobs[at] ?? 0) : null,
      top: episode.alternatives[at]?.map((option) => ({ ...option, text: chat.tokenText(option.id) })) ?? null,
    }
  })
}

/** Throws when the five token arrays differ in length or a mask disagrees with an author: a bug of ours, never of a model. */
export function assertConsistent(episode: Episode): void {
  const { ids, mask, logprobs, authors, alternatives } = episode
  const lengths = [ids, mask, logprobs, authors, alternatives].map((array) => array.length)
  if (new Set(lengths).size !== 1) {
    throw new Error(`Episode ${episode.index}: ids, mask, logprobs, authors and alternatives have lengths ${lengths.join(', ')}`)
  }
  const wrong = mask.findIndex((value, i) => (value === 1) !== (authors[i] === 'model'))
  if (wrong >= 0) throw new Error(`Episode ${episode.index}: the mask at ${wrong} disagrees with the author ${authors[wrong]}`)
}

/**
 * 0 when the policy never got one call into the environment: that is its own doing, and without a reward it could not learn to call.
 * null when it did and the environment gave no reward: there is nothing to learn from.
 */
export function earnedNothing(episode: Episode): number | null {
  return episode.turns.some((turn) => turn.calls.some((call) => !call.error)) ? null : 0
}

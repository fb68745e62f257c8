/** What the card says about one token: pure text, from the log and the episode's advantage. */

import type { LoggedToken, TokenLog } from '../../store/token-log'
import { NONE, number, signed } from '../../ui/format'
import { S } from '../../ui/strings'

export interface TokenFacts {
  title: string
  /** 'token 31 of 80' */
  position: string
  rows: { label: string; value: string }[]
  /** The likeliest tokens, best first; the one that was drawn is marked, also when it is not among them. */
  alternatives: { text: string; probability: number; sampled: boolean }[]
}

/** A token's text with blanks made visible: ␣ for a space, ⏎ for a line break, ⇥ for a tab. */
export function visibleText(text: string): string {
  if (text === '') return '∅'
  return text.replaceAll(' ', '␣').replaceAll('\n', '⏎').replaceAll('\r', '␍').replaceAll('\t', '⇥')
}

const nats = (value: number | null) => (value === null ? NONE : `${number(value)} nats`)

/**
 * `position` from 0, `total` tokens in the episode. The advantage counts only where the mask is 1. `writer`: who wrote in the
 * model's place, if not the model.
 */
export function factsOf(token: LoggedToken, position: number, total: number, advantage: number | null, log: TokenLog, writer?: string): TokenFacts {
  const rows: TokenFacts['rows'] = [
    { label: S.token.id, value: String(token.id) },
    { label: S.token.author, value: token.author === 'model' && writer ? writer : S.authors[token.author] },
    { label: S.token.mask, value: token.mask === 1 ? `1, ${S.trajectory.trained}` : `0, ${S.trajectory.masked}` },
  ]
  if (token.author === 'model') {
    const later = (value: number | null) => (value === null ? S.trajectory.later : nats(value))
    rows.push(
      { label: S.token.probability, value: token.logprob === null ? NONE : number(Math.exp(token.logprob)) },
      { label: S.token.samplerLogprob, value: nats(token.logprob) },
      { label: S.token.trainerLogprob, value: token.mask === 1 ? later(token.trainLogprob) : NONE },
      { label: S.token.entropy, value: token.mask === 1 ? later(token.entropy) : NONE },
      { label: S.token.advantage, value: advantage === null ? S.trajectory.later : signed(token.mask === 1 ? advantage : 0) },
    )
  }
  const alternatives = (token.top ?? []).map((option) => ({
    text: visibleText(log.textOf(option)),
    probability: option.prob,
    sampled: option.id === token.id,
  }))
  if (token.top && token.logprob !== null && !alternatives.some((a) => a.sampled)) {
    alternatives.push({ text: visibleText(token.text), probability: Math.exp(token.logprob), sampled: true })
  }
  return { title: visibleText(token.text), position: S.token.position(position + 1, total), rows, alternatives }
}

/** What is said about one token: pure text, from the log and the episode's advantage. */

import type { Heat } from '../../store/display'
import type { LoggedToken, TokenLog } from '../../store/token-log'
import { NONE, number, signed } from '../../ui/format'
import { S } from '../../ui/strings'
import { heatText, heatValue } from './heat'
import { visibleText } from './token-text'

export { visibleText }

export interface TokenFacts {
  title: string
  /** 'token 31 of 80' */
  position: string
  author: string
  /** `heat`: that the value is drawn by. `plain`: what the token is, no number of it. */
  rows: { label: string; value: string; heat?: Heat; plain?: true }[]
  /** The likeliest tokens, best first; the one that was drawn is marked, also when it is not among them. */
  alternatives: { text: string; probability: number; sampled: boolean }[]
}

const nats = (value: number | null) => (value === null ? NONE : `${number(value)} nats`)

/**
 * `position` from 0, `total` tokens in the episode. The advantage counts only where the mask is 1. `writer`: who wrote in the
 * model's place, if not the model.
 */
export function factsOf(token: LoggedToken, position: number, total: number, advantage: number | null, log: TokenLog, writer?: string): TokenFacts {
  const author = token.author === 'model' && writer ? writer : S.authors[token.author]
  const rows: TokenFacts['rows'] = [
    { label: S.token.id, value: String(token.id), plain: true },
    { label: S.token.author, value: author, plain: true },
    token.mask === 1 ? { label: S.token.mask, value: `1, ${S.trajectory.trained}`, plain: true } : { label: S.token.mask, value: `0, ${S.trajectory.masked}` },
  ]
  if (token.author === 'model') {
    const later = (value: number | null) => (value === null ? S.trajectory.later : nats(value))
    rows.push(
      { label: S.token.probability, value: token.logprob === null ? NONE : number(Math.exp(token.logprob)), heat: 'probability' },
      { label: S.token.samplerLogprob, value: nats(token.logprob), heat: 'logprob' },
      { label: S.token.trainerLogprob, value: token.mask === 1 ? later(token.trainLogprob) : NONE, heat: 'difference' },
      { label: S.token.entropy, value: token.mask === 1 ? later(token.entropy) : NONE, heat: 'entropy' },
      ...known(token),
      { label: S.token.advantage, value: advantage === null ? S.trajectory.later : signedWithMark(token.mask === 1 ? advantage : 0), heat: 'advantage' },
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
  return { title: visibleText(token.text), position: S.token.position(position + 1, total), author, rows, alternatives }
}

const signedWithMark = (value: number) => (value === 0 ? signed(value) : heatText('advantage', value))

/** What only some records hold. */
function known(token: LoggedToken): TokenFacts['rows'] {
  const labels = { ratio: S.token.ratio, kl: S.token.kl, change: S.token.change }
  return (['ratio', 'kl', 'change'] as const).flatMap((heat) => {
    const value = heatValue(token, heat, null)
    return value === null ? [] : [{ label: labels[heat], value: heatText(heat, value), heat }]
  })
}

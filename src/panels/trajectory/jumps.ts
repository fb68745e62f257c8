/** Finds the tokens that are worth a look: the most surprising one, the one that changed most, the next that is trained. Pure. */

import type { LoggedToken } from '../../store/token-log'
import { heatValue } from './heat'

/** Position of the trained token with the largest `size`; null where none has one. The first of equals. */
function largest(tokens: readonly LoggedToken[], size: (token: LoggedToken) => number | null): number | null {
  let [best, most] = [null as number | null, -Infinity]
  for (const [position, token] of tokens.entries()) {
    const value = size(token)
    if (value !== null && value > most) [best, most] = [position, value]
  }
  return best
}

/** The trained token that was least likely when it was sampled. */
export function mostSurprising(tokens: readonly LoggedToken[]): number | null {
  return largest(tokens, (token) => {
    const logprob = heatValue(token, 'logprob', null)
    return logprob === null ? null : -logprob
  })
}

/** The trained token whose log-prob moved most since it was sampled, up or down; null where none was examined. */
export function mostChanged(tokens: readonly LoggedToken[]): number | null {
  return largest(tokens, (token) => {
    const change = heatValue(token, 'change', null)
    return change === null ? null : Math.abs(change)
  })
}

/** The nearest trained token after (1) or before (−1) a position; null where there is none. */
export function nextTrained(tokens: readonly LoggedToken[], from: number, by: 1 | -1): number | null {
  for (let i = from + by; i >= 0 && i < tokens.length; i += by) if (tokens[i]?.mask === 1) return i
  return null
}

/** Colours the tokens of an episode by one quantity, with one scale for all of them. */

import type { Heat } from '../../store/display'
import type { LoggedToken } from '../../store/token-log'
import { divergingScale, type Scale, scaleColor, sequentialScale, symmetricScale } from '../../ui/colors'

/** A token's value under a heat; null where it has none (masked tokens never have one). */
export function heatValue(token: LoggedToken, heat: Heat, advantage: number | null): number | null {
  if (token.mask === 0 || heat === 'author') return null
  switch (heat) {
    case 'logprob':
      return token.logprob
    case 'probability':
      return token.logprob === null ? null : Math.exp(token.logprob)
    case 'entropy':
      return token.entropy
    case 'difference':
      return token.trainLogprob === null || token.logprob === null ? null : token.trainLogprob - token.logprob
    case 'advantage':
      return advantage
    case 'ratio':
    case 'kl':
    case 'change':
      return null
  }
}

/** Scale over all tokens; null for 'author' and while no token has a value. `bound` ends the scale of advantages. */
export function heatScale(tokens: readonly LoggedToken[], heat: Heat, advantage: number | null, bound: number): Scale | null {
  const values = tokens.flatMap((token) => heatValue(token, heat, advantage) ?? [])
  if (values.length === 0) return null
  switch (heat) {
    case 'author':
      return null
    case 'probability':
      return sequentialScale(0, 1)
    case 'entropy':
      return sequentialScale(0, Math.max(...values))
    case 'advantage':
      return symmetricScale(bound)
    case 'logprob':
    case 'difference':
    case 'ratio':
    case 'kl':
    case 'change':
      return divergingScale(values)
  }
}

/** CSS background of a token, or undefined to leave its author's. */
export function heatColor(scale: Scale | null, value: number | null): string | undefined {
  return scale === null || value === null ? undefined : scaleColor(scale.kind, scale.at(value))
}

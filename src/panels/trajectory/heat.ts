/** Colours the tokens of an episode by one quantity, with one scale for all of them. */

import { k3 } from '../../rl'
import type { Heat } from '../../store/display'
import { isLater, type LoggedToken, ratioLogprobs } from '../../store/token-log'
import { divergingScale, lowerHalf, risingScale, type Scale, scaleColor, sequentialScale, signMark, symmetricScale } from '../../ui/colors'
import { number, signed } from '../../ui/format'
import { S } from '../../ui/strings'

/** The log-prob that the update began from: the trainer's own, else the sampler's. */
const oldLogprob = (token: LoggedToken): number | null => token.trainLogprob ?? token.logprob

/** A token's value under a heat; null where it has none (masked tokens never have one). */
export function heatValue(token: LoggedToken, heat: Heat, advantage: number | null): number | null {
  if (token.mask === 0 || heat === 'author') return null
  const old = oldLogprob(token)
  switch (heat) {
    case 'logprob':
      return token.logprob
    case 'probability':
      return token.logprob === null ? null : Math.exp(token.logprob)
    case 'entropy':
      return token.entropy
    case 'difference':
      return token.trainLogprob === null || token.logprob === null ? null : token.trainLogprob - token.logprob
    case 'ratio': {
      const found = ratioLogprobs(token)
      return found && isLater(token) ? Math.exp(found.now - found.old) : null
    }
    case 'kl': {
      const base = token.refLogprob ?? token.baseLogprob
      return old === null || base === undefined ? null : k3(old, base)
    }
    case 'change':
      return old === null || token.afterLogprob === undefined ? null : token.afterLogprob - old
    case 'advantage':
      return advantage
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
    // Never negative, so a sign would say nothing.
    case 'entropy':
    case 'kl':
      return risingScale(values)
    case 'advantage':
      return symmetricScale(bound)
    case 'logprob':
      return lowerHalf(divergingScale(values))
    case 'ratio':
      return divergingScale(values, 1)
    case 'difference':
    case 'change':
      return divergingScale(values)
  }
}

/** CSS background of a token, or undefined to leave its author's. */
export function heatColor(scale: Scale | null, value: number | null): string | undefined {
  return scale === null || value === null ? undefined : scaleColor(scale.kind, scale.at(value))
}

const UNITS: Partial<Record<Heat, string>> = { logprob: ' nats', entropy: ' nats', difference: ' nats', kl: ' nats', change: ' nats' }

/** A value as people read it: its sign also as a mark where the heat has one, with its unit. */
export function heatText(heat: Heat, value: number): string {
  const hasSign = heat === 'difference' || heat === 'change' || heat === 'advantage'
  const mark = hasSign ? signMark(value) : heat === 'ratio' ? signMark(value - 1) : ''
  return `${mark && `${mark} `}${hasSign ? signed(value) : number(value)}${UNITS[heat] ?? ''}`
}

/** What stands behind the tokens that are looked at: the recorded run of the site, a recording from a file, or a run of this page. */
export type Source = 'replay' | 'recording' | 'live'

interface Circumstances {
  /** The rewards of the episode's step are in; its update is done. */
  scored: boolean
  finished: boolean
  num_iterations: number
  source: Source
  /** What is being asked of the model, if anything is. */
  asking: 'computing' | 'busy' | 'no-model' | { failed: string } | null
}

/** Why no token has a value under a heat that has been chosen, as a sentence. */
export function whyWithout(tokens: readonly LoggedToken[], heat: Heat, { scored, finished, num_iterations, source, asking }: Circumstances): string {
  const { without } = S.trajectory
  if (!tokens.some((token) => token.mask === 1)) return without.nothing
  if (heat === 'advantage') return scored ? without.unrecorded : without.afterRewards
  if (!finished) return without.afterUpdate
  if (heat === 'ratio' && num_iterations === 1) return without.sameRatio
  if (heat !== 'kl' && heat !== 'change') return without.unrecorded
  if (source !== 'live') return source === 'replay' ? without.unrecorded : without.recording
  if (asking === null || asking === 'computing') return without.computing
  if (asking === 'busy') return without.busy
  return asking === 'no-model' ? without.noModel : asking.failed
}

/** Whether a heat needs the model to read the episode once more. What an examination brings, it brings for all trained tokens. */
export function needsExamination(tokens: readonly LoggedToken[], heat: Heat): boolean {
  if (heat !== 'kl' && heat !== 'change') return false
  const first = tokens.find((token) => token.mask === 1)
  return first !== undefined && heatValue(first, heat, null) === null
}

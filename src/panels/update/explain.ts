/** What the loss makes of one token, or of a whole step on average: training's own functions on the numbers that were recorded. */

import type { GrpoConfig } from '../../core/config'
import { type Factor, factorsOf, LOSS_FORMULAS, type LossNormalizer, lossNormalizer, type TokenTerm, tokenTerm, tokenWeight, trainingMask } from '../../rl'
import type { LoggedToken, TokenLog } from '../../store/token-log'
import type { EpisodeView, StepView } from '../../store/view'

/** Why a token contributes 0, whatever the loss is. */
export type MaskedReason = 'prompt' | 'environment' | 'template' | 'unscorable' | 'truncated' | 'person'

/**
 * The optimizer step whose numbers stand in the formula. 'only': the one there is, which begins at the ratio 1. 'last' of several.
 * 'first' of several, because the record holds no later one.
 */
export type WhichUpdate = 'only' | 'last' | 'first'

export interface TokenNumbers {
  kind: 'numbers'
  update: WhichUpdate
  advantage: number
  /** Nats: logπ and logπ_old. */
  logprob: number
  oldLogprob: number
  term: TokenTerm
  /** beta is not 0, but the record lacks the reference's log-prob: `term` is without its KL part. */
  klMissing: boolean
  /** What the term is divided by, in the formula's order. */
  dividedBy: { factor: Factor; value: number }[]
  /** Of the whole step's loss, and of its derivative by this log-prob. */
  contribution: number
  derivative: number
}

export type Explanation =
  | { kind: 'masked'; why: MaskedReason }
  /** The update has not run, so there is no ratio yet. */
  | { kind: 'waiting'; advantage: number | null }
  /** The update has run, and the record does not hold its log-probs. */
  | { kind: 'unrecorded' }
  | TokenNumbers

/** The settings that the loss reads. */
export type LossSettings = Pick<
  GrpoConfig,
  'loss_type' | 'epsilon' | 'epsilon_high' | 'beta' | 'max_completion_length' | 'num_iterations' | 'mask_truncated_completions'
>

/** What a finished step's loss was divided by, and which tokens it read. */
export interface StepLoss {
  normalizer: LossNormalizer
  /** Of every scorable episode, by its index: the mask that trained. */
  masks: ReadonlyMap<number, readonly (0 | 1)[]>
}

/** Reads a finished step; null before its update, or when not all of its episodes are kept. */
export function stepLoss(step: StepView, log: TokenLog, settings: LossSettings): StepLoss | null {
  if (!step.finished || step.episodes.length < step.episodeCount) return null
  const scorable = step.episodes.filter((episode) => episode.reward !== null)
  const masks = new Map(
    scorable.map((episode) => {
      const mask = log.read(step.step, episode.index).map((token) => token.mask)
      return [episode.index, trainingMask({ mask, terminated: episode.terminated !== false }, settings.mask_truncated_completions)]
    }),
  )
  return { normalizer: lossNormalizer([...masks.values()], settings), masks }
}

function whyMasked(token: LoggedToken, position: number, episode: EpisodeView, settings: LossSettings): MaskedReason | null {
  if (position < episode.promptLength) return 'prompt'
  if (token.author !== 'model') return token.author
  if (episode.finished && episode.reward === null) return 'unscorable'
  const cut = episode.terminated === false
  if (cut && (settings.mask_truncated_completions || token.mask === 0)) return 'truncated'
  return token.mask === 0 ? 'person' : null
}

/** What the loss makes of the token at `position`; `loss` null before the update. */
export function explainToken(
  token: LoggedToken,
  position: number,
  episode: EpisodeView,
  loss: StepLoss | null,
  finished: boolean,
  settings: LossSettings,
): Explanation {
  const why = whyMasked(token, position, episode, settings)
  if (why) return { kind: 'masked', why }
  const { advantage } = episode
  if (!finished) return { kind: 'waiting', advantage }
  const mask = loss?.masks.get(episode.index)
  const old = token.trainLogprob
  if (!loss || !mask || old === null || advantage === null) return { kind: 'unrecorded' }

  const last = settings.num_iterations > 1 ? token.lastLogprob : undefined
  const logprob = last ?? old
  const ref = token.refLogprob ?? null
  const term = tokenTerm(logprob, last === undefined ? null : old, ref, advantage, settings)
  const { normalizer } = loss
  const trained = mask.reduce<number>((count, m) => count + m, 0)
  const values = factorsOf(normalizer, trained)
  const weight = tokenWeight(normalizer, trained)
  return {
    kind: 'numbers',
    update: settings.num_iterations === 1 ? 'only' : last === undefined ? 'first' : 'last',
    advantage,
    logprob,
    oldLogprob: old,
    term,
    klMissing: settings.beta !== 0 && ref === null,
    dividedBy: LOSS_FORMULAS[settings.loss_type].dividedBy.map((factor) => ({ factor, value: values[factor] })),
    contribution: weight * term.value,
    derivative: weight * term.derivative,
  }
}

/** A step's numbers on average over its trained tokens. */
export interface StepMeans {
  update: WhichUpdate
  sequences: number
  tokens: number
  advantage: number
  ratio: number
  /** Share of tokens that the clip holds back, 0..1. */
  clipped: number
  /** Nats; null without a KL term. */
  kl: number | null
  klMissing: boolean
  /** Sum of all contributions. */
  loss: number
}

/** Explains every token of a finished step and takes the means; null where the record does not hold them, or nothing trained. */
export function stepMeans(step: StepView, log: TokenLog, settings: LossSettings): StepMeans | null {
  const loss = stepLoss(step, log, settings)
  if (!loss) return null
  const { sequences, tokens } = loss.normalizer
  const sums = { advantage: 0, ratio: 0, clipped: 0, kl: 0, loss: 0 }
  let first: TokenNumbers | null = null
  for (const episode of step.episodes) {
    for (const [position, token] of log.read(step.step, episode.index).entries()) {
      const found = explainToken(token, position, episode, loss, true, settings)
      if (found.kind === 'unrecorded') return null
      if (found.kind !== 'numbers') continue
      first ??= found
      sums.advantage += found.advantage
      sums.ratio += found.term.ratio
      sums.clipped += found.term.branch === 'clipped' ? 1 : 0
      sums.kl += found.term.kl ?? 0
      sums.loss += found.contribution
    }
  }
  if (!first) return null
  return {
    update: first.update,
    sequences,
    tokens,
    advantage: sums.advantage / tokens,
    ratio: sums.ratio / tokens,
    clipped: sums.clipped / tokens,
    kl: first.term.kl === null ? null : sums.kl / tokens,
    klMissing: first.klMissing,
    loss: sums.loss,
  }
}

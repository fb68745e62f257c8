/** What the loss makes of one token, or of a whole step on average: training's own functions on the numbers that were recorded. */

import type { GrpoConfig } from '../../core/config'
import {
  entropyThreshold,
  type Factor,
  factorsOf,
  LOSS_FORMULAS,
  type LossNormalizer,
  lossNormalizer,
  type LossOptions,
  type SequenceTerms,
  sequenceTerms,
  type TokenTerm,
  tokenWeight,
  trainingMask,
} from '../../rl'
import { isLater, type LoggedToken, ratioLogprobs, type TokenLog } from '../../store/token-log'
import { type EpisodeView, isDiscarded, type StepView } from '../../store/view'

/** Why a token contributes 0, whatever the loss is. */
export type MaskedReason = 'prompt' | 'environment' | 'template' | 'unscorable' | 'truncated' | 'person' | 'discarded'

/**
 * The optimizer step whose numbers stand in the formula. 'only': the one there is, which begins at the ratio 1. 'last' of several.
 * 'first' of several, because the record holds no later one.
 */
/** 'ahead': the only one, on a batch that other weights had sampled. */
export type WhichUpdate = 'only' | 'ahead' | 'last' | 'first'

export interface TokenNumbers {
  kind: 'numbers'
  update: WhichUpdate
  advantage: number
  /** Nats: logπ and logπ_old. */
  logprob: number
  oldLogprob: number
  term: TokenTerm
  /** Of its sequence: trained tokens, and VESPO's weight. */
  sequence: Pick<SequenceTerms, 'tokens' | 'phi' | 'kept'>
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
  /** The step's episodes were divided over several optimizer steps, and the record does not tell how. */
  | { kind: 'divided' }
  | TokenNumbers

/** The settings that the loss reads. */
export type LossSettings = LossOptions & Pick<GrpoConfig, 'num_iterations' | 'steps_per_generation' | 'mask_truncated_completions'>

/** What a finished step's loss was divided by, and which tokens it read. */
export interface StepLoss {
  normalizer: LossNormalizer
  /** Of every scorable episode that was not sampled again, by its index: the mask that trained. */
  masks: ReadonlyMap<number, readonly (0 | 1)[]>
  /** Least entropy of a token with a policy term; null = any. */
  threshold: number | null
  log: TokenLog
  /** Of an episode, by its index; null where its log-probs were not recorded. */
  terms: Map<number, SequenceTerms | null>
}

/** Reads a finished step; null before its update, or when not all of its episodes are kept. */
export function stepLoss(step: StepView, log: TokenLog, settings: LossSettings): StepLoss | null {
  if (!step.finished || step.episodes.length < step.episodeCount) return null
  const scorable = step.episodes.filter((episode) => episode.reward !== null && !isDiscarded(step, episode.group))
  const masks = new Map(
    scorable.map((episode) => {
      const mask = log.read(step.step, episode.index).map((token) => token.mask)
      return [episode.index, trainingMask({ mask, terminated: episode.terminated !== false }, settings.mask_truncated_completions)]
    }),
  )
  const entropies = [...masks.keys()].map((index) => log.read(step.step, index).map((token) => token.entropy ?? 0))
  const threshold = entropyThreshold(entropies, [...masks.values()], settings.top_entropy_quantile)
  return { normalizer: lossNormalizer([...masks.values()], settings), masks, threshold, log, terms: new Map() }
}

/** Training's own terms of an episode, from what was recorded of it. */
function termsOf(episode: EpisodeView, loss: StepLoss, settings: LossSettings): SequenceTerms | null {
  const known = loss.terms.get(episode.index)
  if (known !== undefined) return known
  const tokens = loss.log.read(episode.step, episode.index)
  const mask = loss.masks.get(episode.index)
  const { advantage } = episode
  const trained = (t: number) => mask?.[t] === 1
  const complete = mask !== undefined && advantage !== null && tokens.every((token, t) => !trained(t) || token.trainLogprob !== null)
  let terms: SequenceTerms | null = null
  if (complete) {
    const ratios = tokens.map(ratioLogprobs)
    const old = ratios.map((found) => found?.old ?? 0)
    const later = tokens.some(isLater)
    const hasReference = tokens.every((token, t) => !trained(t) || token.refLogprob !== undefined)
    const sequence = {
      mask,
      advantage,
      oldLogprobs: later ? old : null,
      refLogprobs: hasReference ? tokens.map((token) => token.refLogprob ?? 0) : null,
      samplerLogprobs: tokens.map((token) => token.logprob ?? 0),
      entropies: tokens.map((token) => token.entropy ?? 0),
    }
    terms = sequenceTerms(sequence, later ? ratios.map((found) => found?.now ?? 0) : old, loss.threshold, settings)
  }
  loss.terms.set(episode.index, terms)
  return terms
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
  if (loss && !loss.masks.has(episode.index)) return { kind: 'masked', why: 'discarded' }
  if (settings.steps_per_generation > 1) return { kind: 'divided' }
  // The later updates have a threshold of their own, which was not kept.
  if (settings.top_entropy_quantile < 1 && settings.num_iterations > 1) return { kind: 'unrecorded' }
  const sequence = loss && termsOf(episode, loss, settings)
  const term = sequence?.terms[position]
  const ratio = ratioLogprobs(token)
  if (!loss || !sequence || !term || ratio === null || advantage === null) return { kind: 'unrecorded' }

  const later = loss.log.read(episode.step, episode.index).some(isLater)
  const { normalizer } = loss
  const values = factorsOf(normalizer, sequence.tokens)
  const weight = tokenWeight(normalizer, sequence.tokens)
  return {
    kind: 'numbers',
    update: settings.num_iterations === 1 ? (later ? 'ahead' : 'only') : later ? 'last' : 'first',
    advantage,
    logprob: ratio.now,
    oldLogprob: ratio.old,
    term,
    sequence,
    klMissing: settings.beta !== 0 && term.kl === null,
    dividedBy: LOSS_FORMULAS[settings.loss_type].dividedBy.map((factor) => ({ factor, value: values[factor] })),
    contribution: weight * term.total,
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
  /** Share of tokens that a bound holds back, 0..1. */
  clipped: number
  /** Mean of what the policy term is multiplied by: masks and the correction for the sampler. */
  factor: number
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
  const sums = { advantage: 0, ratio: 0, clipped: 0, factor: 0, kl: 0, loss: 0 }
  let first: TokenNumbers | null = null
  for (const episode of step.episodes) {
    for (const [position, token] of log.read(step.step, episode.index).entries()) {
      const found = explainToken(token, position, episode, loss, true, settings)
      if (found.kind === 'unrecorded' || found.kind === 'divided') return null
      if (found.kind !== 'numbers') continue
      first ??= found
      sums.advantage += found.advantage
      sums.ratio += found.term.ratio
      sums.clipped += found.term.bound === null ? 0 : 1
      sums.factor += found.term.factor
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
    factor: sums.factor / tokens,
    kl: first.term.kl === null ? null : sums.kl / tokens,
    klMissing: first.klMissing,
    loss: sums.loss,
  }
}

/**
 * Direct Preference Optimization: learning from pairs, "this answer rather than that one", without sampling anything.
 *
 * Of a pair, c and r say how much likelier the chosen and the rejected answer have become since the reference:
 *
 *     c = logπ(chosen) − logπ_ref(chosen)        sums over the answer's tokens
 *     r = logπ(rejected) − logπ_ref(rejected)
 *     loss = −log σ(β·(c − r))                   push c above r, the less the further they are apart
 *
 * The other losses differ in the function of c and r alone (DPOS below); the chain rule then gives every token of an answer the same
 * derivative. Compare `loss.ts`: a chosen answer is like an advantage above zero that fades as the answer pulls ahead.
 */

import { countTrained } from './loss'
import { mean, sum } from './statistics'

/** A loss of one pair and its derivatives by c and r. `lengths`: trained tokens of the two answers. */
type PairLoss = (c: number, r: number, options: DpoOptions, lengths: { chosen: number; rejected: number }) => { value: number; byChosen: number; byRejected: number }

export interface DpoOptions {
  loss_type: DpoLossType
  /** How far the policy may leave the reference: above 0, smaller is farther. */
  beta: number
  /** Share of pairs that are taken to be the wrong way round, 0 to below 0.5; read by robust alone, as in TRL. */
  label_smoothing: number
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))
/** log σ(x) without overflow on either side. */
const logSigmoid = (x: number) => (x < 0 ? x - Math.log1p(Math.exp(x)) : -Math.log1p(Math.exp(-x)))

/** TRL's loss types that are a function of one pair. */
export const DPO_LOSSES = {
  /** DPO (arXiv 2305.18290). */
  sigmoid: (c, r, { beta }) => {
    const z = beta * (c - r)
    const byMargin = -beta * sigmoid(-z)
    return { value: -logSigmoid(z), byChosen: byMargin, byRejected: -byMargin }
  },
  /** Unbiased where a share `label_smoothing` of the pairs is the wrong way round (arXiv 2403.00409). */
  robust: (c, r, { beta, label_smoothing: ls }) => {
    const z = beta * (c - r)
    const byMargin = (-(1 - ls) * beta * sigmoid(-z) - ls * beta * sigmoid(z)) / (1 - 2 * ls)
    return { value: (-(1 - ls) * logSigmoid(z) + ls * logSigmoid(-z)) / (1 - 2 * ls), byChosen: byMargin, byRejected: -byMargin }
  },
  /** A wall instead of a slope: nothing to learn from a pair that is far enough apart (arXiv 2305.10425). */
  hinge: (c, r, { beta }) => {
    const rest = 1 - beta * (c - r)
    return { value: Math.max(0, rest), byChosen: rest > 0 ? -beta : 0, byRejected: rest > 0 ? beta : 0 }
  },
  /** A goal for the distance, 1/(2β), in means over tokens: pairs that are far apart are pulled back (arXiv 2310.12036). */
  ipo: (c, r, { beta }, lengths) => {
    const [nc, nr] = [Math.max(1, lengths.chosen), Math.max(1, lengths.rejected)]
    const off = c / nc - r / nr - 1 / (2 * beta)
    return { value: off * off, byChosen: (2 * off) / nc, byRejected: (-2 * off) / nr }
  },
  /** Both answers against the reference by themselves (arXiv 2402.05369). */
  nca_pair: (c, r, { beta }) => ({
    value: -logSigmoid(beta * c) - 0.5 * logSigmoid(-beta * c) - 0.5 * logSigmoid(-beta * r),
    byChosen: beta * (-sigmoid(-beta * c) + 0.5 * sigmoid(beta * c)),
    byRejected: 0.5 * beta * sigmoid(beta * r),
  }),
  /** Chosen answers up, rejected ones down (arXiv 2408.06266). */
  apo_zero: (c, r, { beta }) => {
    const [up, down] = [sigmoid(beta * c), sigmoid(beta * r)]
    return { value: 1 - up + down, byChosen: -beta * up * (1 - up), byRejected: beta * down * (1 - down) }
  },
  /** Both down, the rejected ones more (arXiv 2408.06266). */
  apo_down: (c, r, { beta }) => {
    const [one, apart] = [sigmoid(beta * c), sigmoid(beta * (c - r))]
    const [byOne, byApart] = [beta * one * (1 - one), beta * apart * (1 - apart)]
    return { value: one + 1 - apart, byChosen: byOne - byApart, byRejected: byApart }
  },
  /** Towards a win of 1/2 for the chosen and −1/2 for the rejected answer (arXiv 2405.00675). */
  sppo_hard: (c, r, { beta }) => {
    const [offC, offR] = [c - 1 / (2 * beta), r + 1 / (2 * beta)]
    return { value: offC * offC + offR * offR, byChosen: 2 * offC, byRejected: 2 * offR }
  },
} satisfies Record<string, PairLoss>

export type DpoLossType = keyof typeof DPO_LOSSES
export const DPO_LOSS_TYPES = Object.keys(DPO_LOSSES) as DpoLossType[]

/** One answer of a pair; arrays are [tokens] and read only where mask is 1. */
export interface DpoAnswer {
  mask: ArrayLike<number>
  refLogprobs: ArrayLike<number>
}

export interface DpoPairLoss {
  /** This pair's share of the step's loss. */
  loss: number
  /** d loss / d logπ of every trained token of the answer: the same for all. */
  dChosen: number
  dRejected: number
  /** TRL's metrics of the pair: rewards are β·c and β·r, log-probs are sums, nats. */
  rewards: { chosen: number; rejected: number }
  logps: { chosen: number; rejected: number }
}

/** Sum over the trained tokens, nats. */
const total = (mask: ArrayLike<number>, logprobs: ArrayLike<number>) => sum(Array.from(logprobs).filter((_, t) => mask[t] === 1))

/**
 * One pair's share of an optimizer step of `pairs` pairs; the shares add up to TRL's mean over pairs.
 * @param logprobs present log-probabilities of both answers, [tokens] each, nats
 */
export function dpoPairLoss(
  chosen: DpoAnswer,
  rejected: DpoAnswer,
  logprobs: { chosen: ArrayLike<number>; rejected: ArrayLike<number> },
  pairs: number,
  options: DpoOptions,
): DpoPairLoss {
  const logps = { chosen: total(chosen.mask, logprobs.chosen), rejected: total(rejected.mask, logprobs.rejected) }
  const c = logps.chosen - total(chosen.mask, chosen.refLogprobs)
  const r = logps.rejected - total(rejected.mask, rejected.refLogprobs)
  const lengths = { chosen: countTrained(chosen.mask), rejected: countTrained(rejected.mask) }
  const { value, byChosen, byRejected } = DPO_LOSSES[options.loss_type](c, r, options, lengths)
  return { loss: value / pairs, dChosen: byChosen / pairs, dRejected: byRejected / pairs, rewards: { chosen: options.beta * c, rejected: options.beta * r }, logps }
}

/** TRL's metrics of an optimizer step, means over its pairs; rewards/accuracies is the share of pairs whose chosen answer leads. */
export function dpoMetrics(pairs: readonly DpoPairLoss[]): Record<string, number | null> {
  const over = (of: (pair: DpoPairLoss) => number) => mean(pairs.map(of))
  return {
    loss: pairs.length === 0 ? null : sum(pairs.map(({ loss }) => loss)),
    'rewards/chosen': over(({ rewards }) => rewards.chosen),
    'rewards/rejected': over(({ rewards }) => rewards.rejected),
    'rewards/margins': over(({ rewards }) => rewards.chosen - rewards.rejected),
    'rewards/accuracies': over(({ rewards }) => (rewards.chosen > rewards.rejected ? 1 : 0)),
    'logps/chosen': over(({ logps }) => logps.chosen),
    'logps/rejected': over(({ logps }) => logps.rejected),
  }
}

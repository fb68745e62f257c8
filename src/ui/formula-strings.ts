/** The words of the formula card: what stands in the loss, in plain language, TRL's term first. */

import type { LossType } from '../core/config'
import type { Factor } from '../rl'
import { number, percent, plural } from './format'

export const FORMULA_STRINGS = {
  title: 'Loss',
  lossType: (name: string) => `loss_type ${name}`,
  averages: {
    grpo: 'Averaged over the tokens of each episode, then over the episodes: every episode counts the same.',
    bnpo: 'Averaged over all trained tokens of the step: every token counts the same.',
    dr_grpo: 'Summed and divided by a constant, so an episode’s length has no influence.',
    dapo: 'Averaged over all trained tokens of the step: every token counts the same.',
  } satisfies Record<LossType, string>,
  source: 'Source',
  loading: 'Loading the formula',
  none: 'Press a token of the trajectory: its numbers stand here.',
  noneMeans: (step: number) => `Means over the trained tokens of step ${step}; 𝓛 is the sum of all contributions. Press a token for its own numbers.`,
  clippedShare: (share: number) => `The clip holds back ${percent(share)} of the tokens.`,
  contributes0: 'contributes 0',
  of: (position: string, episode: string) => `${position}, ${episode}`,
  release: 'Let go of this token',
  masked: {
    prompt: 'It belongs to the prompt: the model reads it and did not write it.',
    environment: 'The environment wrote it: the model reads it and did not choose it.',
    template: 'The chat template wrote it: it is the same whatever the model does.',
    unscorable: 'Its episode has no reward (unscorable), so the update leaves the whole episode out.',
    truncated: 'Its episode was cut off before its end, and mask_truncated_completions leaves such episodes out.',
    person: 'A person wrote it in the model’s place.',
  },
  waiting: 'The update of this step has not run yet, so there is no ratio.',
  waitingAdvantage: (advantage: string) => `The update of this step has not run yet, so there is no ratio. Its advantage is ${advantage}.`,
  unrecorded: 'The record of this step does not hold the log-probs of its update, so the numbers cannot be put in.',
  gone: 'The tokens of this step are no longer kept.',
  notWritten: 'This token is not written yet.',
  branch: {
    equal: 'Both branches of the min are equal: the ratio is within the clip range.',
    noAdvantage: 'Advantage 0: both branches of the min are 0, whatever the ratio.',
    unclipped: 'The min takes ρA: the token moved against its advantage, and the way back is never clipped.',
    clipped: 'The min takes the clipped branch: the token has moved far enough, so its advantage does not push it.',
  },
  push: {
    up: (value: number) => `Derivative by its log-prob ${number(value)}: the update makes this token likelier.`,
    down: (value: number) => `Derivative by its log-prob ${number(value)}: the update makes this token less likely.`,
    none: 'Derivative by its log-prob 0: the update does not push this token.',
  },
  update: {
    only: 'num_iterations is 1: π is still π_old here, so the ratio is exactly 1 and nothing is clipped.',
    last: (n: number) => `num_iterations is ${n}: these are the numbers of the last of the step’s ${plural(n, 'update')}; the loss below is their mean.`,
    first: (n: number) => `num_iterations is ${n}, but only the log-probs before the first update were recorded: the ratio there is 1.`,
  },
  klMissing: 'The reference’s log-probs were not recorded, so the KL term is left out of these numbers.',
  symbols: 'What each symbol means',
  symbol: {
    term: 'loss of token t in episode i, before it is averaged',
    ratio: 'ratio: how much likelier the token is now than when it was sampled, π ÷ π_old',
    advantage: 'advantage: how much better the episode did than its group',
    clip: (low: string, high: string) => `epsilon, epsilon_high: the clip keeps the ratio between ${low} and ${high}`,
    kl: (beta: string) => `beta (${beta}) × KL: the pull back to the reference policy, k3 per token, nats`,
  },
  factor: {
    sequences: 'sequences of the optimizer step: its scorable episodes',
    tokens: 'trained tokens of the optimizer step',
    sequenceTokens: 'trained tokens of episode i',
    maxLength: 'max_completion_length',
  } satisfies Record<Factor, string>,
} as const

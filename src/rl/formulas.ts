/**
 * Every loss_type as data: what a token's term is, what it is divided by, how both are written, and where they come from.
 *
 * The variants of GRPO differ in the term of a token (terms.ts) and in how the terms of a step are averaged:
 *
 * - grpo, sapo: mean over sequences of each sequence's token mean, so every episode counts the same (long ones get less per token)
 * - bnpo, dapo, cispo, vespo: mean over all trained tokens of the step, so every token counts the same
 * - dr_grpo: the sum divided by a constant, B · max_completion_length, so that length has no influence at all
 * - luspo: mean over sequences of each sequence's sum, so long episodes count more; meant for one ρ a sequence
 *
 * Training (loss.ts) divides by `dividedBy`; the formula card shows the same factors with their numbers.
 */

import type { LossType } from '../core/config'

/**
 * What a loss may be divided by. sequences: B, sequences of the optimizer step, also those without a trained token. tokens: N, trained
 * tokens of the optimizer step. sequenceTokens: trained tokens of the token's own sequence. maxLength: max_completion_length.
 */
export const FACTORS = ['sequences', 'tokens', 'sequenceTokens', 'maxLength'] as const
export type Factor = (typeof FACTORS)[number]

/** How each factor is written in TeX. */
export const FACTOR_TEX: Record<Factor, string> = {
  sequences: 'B',
  tokens: 'N',
  sequenceTokens: 'T_i',
  maxLength: 'L_{\\text{max}}',
}

export interface LossFormula {
  /** TeX of the average over the step, up to the term of token t in sequence i. */
  average: string
  /** The factors that every token's term is divided by; each is at least 1. */
  dividedBy: readonly Factor[]
  /** TRL's field and the paper that the average comes from. */
  source: { title: string; section: string; url: string }
}

export const LOSS_FORMULAS: Record<LossType, LossFormula> = {
  grpo: {
    average: '\\frac{1}{B}\\sum_{i=1}^{B}\\frac{1}{T_i}\\sum_{t=1}^{T_i}',
    dividedBy: ['sequences', 'sequenceTokens'],
    source: { title: 'DeepSeekMath', section: 'section 4.1', url: 'https://arxiv.org/abs/2402.03300' },
  },
  bnpo: {
    average: '\\frac{1}{N}\\sum_{i=1}^{B}\\sum_{t=1}^{T_i}',
    dividedBy: ['tokens'],
    source: { title: 'TRL, GRPOConfig', section: 'loss_type', url: 'https://huggingface.co/docs/trl/grpo_trainer' },
  },
  dr_grpo: {
    average: '\\frac{1}{B\\,L_{\\text{max}}}\\sum_{i=1}^{B}\\sum_{t=1}^{T_i}',
    dividedBy: ['sequences', 'maxLength'],
    source: { title: 'Dr. GRPO', section: 'GRPO Done Right', url: 'https://arxiv.org/abs/2503.20783' },
  },
  dapo: {
    average: '\\frac{1}{N}\\sum_{i=1}^{B}\\sum_{t=1}^{T_i}',
    dividedBy: ['tokens'],
    source: { title: 'DAPO', section: 'token-level loss', url: 'https://arxiv.org/abs/2503.14476' },
  },
  cispo: {
    average: '\\frac{1}{N}\\sum_{i=1}^{B}\\sum_{t=1}^{T_i}',
    dividedBy: ['tokens'],
    source: { title: 'MiniMax-M1', section: 'CISPO', url: 'https://arxiv.org/abs/2506.13585' },
  },
  sapo: {
    average: '\\frac{1}{B}\\sum_{i=1}^{B}\\frac{1}{T_i}\\sum_{t=1}^{T_i}',
    dividedBy: ['sequences', 'sequenceTokens'],
    source: { title: 'SAPO', section: 'soft adaptive policy optimization', url: 'https://arxiv.org/abs/2511.20347' },
  },
  vespo: {
    average: '\\frac{1}{N}\\sum_{i=1}^{B}\\sum_{t=1}^{T_i}',
    dividedBy: ['tokens'],
    source: { title: 'VESPO', section: 'variational sequence-level soft policy optimization', url: 'https://arxiv.org/abs/2602.10693' },
  },
  luspo: {
    average: '\\frac{1}{B}\\sum_{i=1}^{B}\\sum_{t=1}^{T_i}',
    dividedBy: ['sequences'],
    source: { title: 'LUSPO', section: 'length-unbiased sequence policy optimization', url: 'https://arxiv.org/abs/2602.05261' },
  },
}

/** TeX of the term that is averaged, in its parts: the policy term of each family (the clip has two branches), and what beta adds. */
export const TERM_TEX = {
  unclipped: '\\rho_{i,t}\\,A_i',
  capped: '\\min(\\rho_{i,t},\\,\\delta)\\,A_i',
  clipped: '\\operatorname{clip}(\\rho_{i,t},\\,1-\\varepsilon,\\,1+\\varepsilon_{\\text{high}})\\,A_i',
  cispo: '-\\operatorname{sg}\\bigl[\\min(\\rho_{i,t},\\,\\varepsilon_{\\text{high}})\\bigr]\\,A_i\\log\\pi(o_{i,t})',
  sapo: '-\\tfrac{4}{\\tau_i}\\,\\sigma\\bigl(\\tau_i(\\rho_{i,t}-1)\\bigr)\\,A_i',
  vespo: '-\\operatorname{sg}\\bigl[\\varphi_i\\bigr]\\,A_i\\log\\pi(o_{i,t})',
  factor: 'w_{i,t}',
  kl: '\\beta\\,D_{i,t}',
  ratio: '\\rho_{i,t}=\\frac{\\pi(o_{i,t})}{\\pi_{\\text{old}}(o_{i,t})}',
  sequenceRatio: '\\rho_i=\\Bigl(\\prod_t\\frac{\\pi(o_{i,t})}{\\pi_{\\text{old}}(o_{i,t})}\\Bigr)^{1/T_i}',
} as const

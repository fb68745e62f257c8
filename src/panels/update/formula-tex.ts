/** The loss as TeX: with its symbols, and with a token's or a step's numbers in their place. */

import { DEFAULT_GRPO } from '../../core/config'
import { cispoCap, clipRange, FACTOR_TEX, hasEntropyBonus, LOSS_FORMULAS, TERM_OF, TERM_TEX } from '../../rl'
import { number, plain } from '../../ui/format'
import type { LossSettings, StepMeans, TokenNumbers } from './explain'

/** A number as the page writes it, in TeX: '0.940', '1.25\times 10^{-5}'. */
export function texNumber(value: number): string {
  return asTex(number(value))
}

const texPlain = (value: number) => asTex(plain(value))

function asTex(text: string): string {
  const [mantissa = '', exponent] = text.replaceAll('−', '-').replaceAll('∞', '\\infty').split('e')
  return exponent === undefined ? mantissa : `${mantissa}{\\times}10^{${exponent}}`
}

/** A factor of a product: negative ones stand in parentheses. */
const factor = (value: number) => (value < 0 ? `(${texNumber(value)})` : texNumber(value))

const rows = (lines: readonly string[]) => `\\begin{aligned}${lines.join('\\\\[3px]')}\\end{aligned}`

/**
 * Whether the formula has a factor before the policy term: a mask, or the correction for the sampler. TRL's default correction is 1 in all
 * digits that are shown, and a symbol for it would only be in the way; where it is not, the token's own numbers have it.
 */
export function hasFactor(settings: LossSettings): boolean {
  const { loss_type, top_entropy_quantile, off_policy_mask_threshold, vllm_importance_sampling_correction } = settings
  const isOwn = CORRECTION.some((key) => settings[key] !== DEFAULT_GRPO[key])
  return top_entropy_quantile < 1 || off_policy_mask_threshold !== null || (vllm_importance_sampling_correction && isOwn && loss_type !== 'vespo')
}

const CORRECTION = ['vllm_importance_sampling_mode', 'vllm_importance_sampling_clip_max', 'vllm_importance_sampling_clip_min'] as const

/** A correction nearer to 1 than this is rounding: nothing to speak of. */
const NOISE = 1e-3
export const isNoise = (factor: number): boolean => Math.abs(factor - 1) < NOISE

/** The whole loss in symbols; without what the settings leave out. */
export function lossTex(settings: LossSettings): string {
  const { loss_type, beta, delta } = settings
  const { average } = LOSS_FORMULAS[loss_type]
  const { unclipped, capped, clipped, kl, factor: weight } = TERM_TEX
  const family = TERM_OF[loss_type]
  const before = hasFactor(settings) ? `${weight}\\,` : ''
  const isOne = settings.importance_sampling_level === 'sequence'
  const term =
    family === 'clip'
      ? [`\\ell_{i,t}=&-${before}\\min\\bigl(${delta === null ? unclipped : capped},`, `&\\quad${clipped}\\bigr)${beta === 0 ? '\\vphantom{D}' : ''}`]
      : [`\\ell_{i,t}=&\\;${before}\\bigl(${TERM_TEX[family]}\\bigr)`]
  return rows([
    `\\mathcal{L}=&\\;${average}\\ell_{i,t}${hasEntropyBonus(settings) ? '-c\\,\\overline{H}' : ''}`,
    ...(isOne ? term.map((line) => line.replaceAll('\\rho_{i,t}', '\\rho_i')) : term),
    ...(beta === 0 ? [] : [`&+${kl}`]),
  ])
}

/** The token's numbers in place; the branch that the min took is boxed, both where they are equal. */
export function tokenTex(found: TokenNumbers, settings: LossSettings): string {
  const { term, dividedBy } = found
  const denominator = dividedBy.map(({ factor: name }) => FACTOR_TEX[name]).join('\\,')
  const divisor = dividedBy.map(({ value }) => texCount(value)).join('{\\cdot}')
  const isOne = settings.importance_sampling_level === 'sequence'
  return rows([
    isOne ? `\\rho_i&=${texNumber(term.ratio)}` : `\\rho&=e^{${texNumber(found.logprob)}-${factor(found.oldLogprob)}}=${texNumber(term.ratio)}`,
    ...policyLines(found, settings),
    ...(isNoise(term.factor) ? [] : [`w&=${texNumber(term.factor)}`]),
    ...(term.kl === null ? [] : [`\\beta D&=${texPlain(settings.beta)}\\cdot${texNumber(term.kl)}=${texNumber(settings.beta * term.kl)}`]),
    `\\ell&=${texNumber(term.total)}${boundsTex(settings)}`,
    `\\frac{\\ell}{${denominator}}&=\\frac{${texNumber(term.total)}}{${divisor}}=${texNumber(found.contribution)}`,
  ])
}

/** The policy term, by its family. */
function policyLines({ term, advantage, logprob, sequence }: TokenNumbers, settings: LossSettings): string[] {
  const a = factor(advantage)
  if (term.clip) {
    const { branch, ratio, unclipped, clipped } = term.clip
    const wins = (name: 'unclipped' | 'clipped', value: number) => (branch === name || branch === 'equal' ? `\\boxed{${texNumber(value)}}` : texNumber(value))
    const capped = settings.delta === null ? term.ratio : Math.min(term.ratio, settings.delta)
    return [
      `${capped === term.ratio ? '\\rho A' : '\\delta A'}&=${texNumber(capped)}\\cdot${a}=${wins('unclipped', unclipped)}`,
      `\\operatorname{clip}(\\rho)A&=${texNumber(ratio)}\\cdot${a}=${wins('clipped', clipped)}`,
    ]
  }
  const weight = texNumber(term.weight ?? 1)
  switch (TERM_OF[settings.loss_type]) {
    case 'cispo':
      return [`-\\min(\\rho,${texPlain(cispoCap(settings))})A\\log\\pi&=-${weight}\\cdot${a}\\cdot${factor(logprob)}`, `&=${texNumber(term.value)}`]
    case 'vespo':
      return [`-\\varphi A\\log\\pi&=-${texNumber(sequence.phi)}\\cdot${a}\\cdot${factor(logprob)}`, `&=${texNumber(term.value)}`]
    default:
      return [`-\\tfrac{4}{\\tau}\\sigma\\bigl(\\tau(\\rho-1)\\bigr)A&=-${weight}\\cdot${a}=${texNumber(term.value)}`]
  }
}

function boundsTex(settings: LossSettings): string {
  if (TERM_OF[settings.loss_type] !== 'clip') return ''
  const { low, high } = clipRange(settings)
  return `\\quad\\scriptsize(${texPlain(round(low))}\\le\\operatorname{clip}\\le${texPlain(round(high))})`
}

/** The means of a step in place of a token's numbers. */
export function meansTex(means: StepMeans, settings: LossSettings): string {
  return rows([
    `B&=${texCount(means.sequences)}\\qquad N=${texCount(means.tokens)}`,
    `\\overline{A}&=${texNumber(settled(means.advantage))}`,
    `\\overline{\\rho}&=${texNumber(means.ratio)}`,
    ...(isNoise(means.factor) || !hasFactor(settings) ? [] : [`\\overline{w}&=${texNumber(means.factor)}`]),
    ...(means.kl === null ? [] : [`\\beta\\overline{D}&=${texPlain(settings.beta)}\\cdot${texNumber(means.kl)}=${texNumber(settings.beta * means.kl)}`]),
    `${hasEntropyBonus(settings) ? '\\mathcal{L}+c\\overline{H}' : '\\mathcal{L}'}&=${texNumber(settled(means.loss))}`,
  ])
}

/** Advantages that cancel leave the rounding of their sum, which says nothing. */
const settled = (value: number) => (Math.abs(value) < 1e-12 ? 0 : value)

/** A count, all digits. */
const texCount = (value: number) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\\,')

/** 1 − 0.1 is not 0.9 in binary; nobody set more than four digits. */
const round = (value: number) => Math.round(value * 1e4) / 1e4

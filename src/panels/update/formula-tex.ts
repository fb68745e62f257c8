/** The loss as TeX: with its symbols, and with a token's or a step's numbers in their place. */

import type { LossType } from '../../core/config'
import { clipRange, FACTOR_TEX, LOSS_FORMULAS, TERM_TEX } from '../../rl'
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

/** The whole loss in symbols; without the KL term where beta is 0. */
export function lossTex(loss_type: LossType, withKl: boolean): string {
  const { average } = LOSS_FORMULAS[loss_type]
  const { unclipped, clipped, kl } = TERM_TEX
  return rows([
    `\\mathcal{L}=&\\;${average}\\ell_{i,t}`,
    `\\ell_{i,t}=&-\\min\\bigl(${unclipped},`,
    `&\\quad${clipped}\\bigr)${withKl ? '' : '\\vphantom{D}'}`,
    ...(withKl ? [`&+${kl}`] : []),
  ])
}

/** The token's numbers in place; the branch that the min took is boxed, both where they are equal. */
export function tokenTex(found: TokenNumbers, settings: LossSettings): string {
  const { term, advantage, dividedBy } = found
  const { low, high } = clipRange(settings)
  const wins = (branch: 'unclipped' | 'clipped', value: number) =>
    term.branch === branch || term.branch === 'equal' ? `\\boxed{${texNumber(value)}}` : texNumber(value)
  const denominator = dividedBy.map(({ factor: name }) => FACTOR_TEX[name]).join('\\,')
  const divisor = dividedBy.map(({ value }) => texCount(value)).join('{\\cdot}')
  return rows([
    `\\rho&=e^{${texNumber(found.logprob)}-${factor(found.oldLogprob)}}=${texNumber(term.ratio)}`,
    `\\rho A&=${texNumber(term.ratio)}\\cdot${factor(advantage)}=${wins('unclipped', term.unclipped)}`,
    `\\operatorname{clip}(\\rho)A&=${texNumber(term.clippedRatio)}\\cdot${factor(advantage)}=${wins('clipped', term.clipped)}`,
    ...(term.kl === null ? [] : [`\\beta D&=${texPlain(settings.beta)}\\cdot${texNumber(term.kl)}=${texNumber(settings.beta * term.kl)}`]),
    `\\ell&=${texNumber(term.value)}\\quad\\scriptsize(${texPlain(round(low))}\\le\\operatorname{clip}\\le${texPlain(round(high))})`,
    `\\frac{\\ell}{${denominator}}&=\\frac{${texNumber(term.value)}}{${divisor}}=${texNumber(found.contribution)}`,
  ])
}

/** The means of a step in place of a token's numbers. */
export function meansTex(means: StepMeans, settings: LossSettings): string {
  return rows([
    `B&=${texCount(means.sequences)}\\qquad N=${texCount(means.tokens)}`,
    `\\overline{A}&=${texNumber(settled(means.advantage))}`,
    `\\overline{\\rho}&=${texNumber(means.ratio)}`,
    ...(means.kl === null ? [] : [`\\beta\\overline{D}&=${texPlain(settings.beta)}\\cdot${texNumber(means.kl)}=${texNumber(settings.beta * means.kl)}`]),
    `\\mathcal{L}&=${texNumber(settled(means.loss))}`,
  ])
}

/** Advantages that cancel leave the rounding of their sum, which says nothing. */
const settled = (value: number) => (Math.abs(value) < 1e-12 ? 0 : value)

/** A count, all digits. */
const texCount = (value: number) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\\,')

/** 1 − 0.1 is not 0.9 in binary; nobody set more than four digits. */
const round = (value: number) => Math.round(value * 1e4) / 1e4

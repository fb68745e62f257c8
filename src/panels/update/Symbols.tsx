/** What each symbol of the loss means, in plain words: only the symbols that the formula in use has. */

import type { ReactNode } from 'react'
import { cispoCap, clipRange, type Factor, hasEntropyBonus, LOSS_FORMULAS, TERM_OF } from '../../rl'
import { plain } from '../../ui/format'
import { S } from '../../ui/strings'
import type { LossSettings } from './explain'
import { hasFactor } from './formula-tex'

const FACTOR_SYMBOLS: Record<Factor, ReactNode> = {
  sequences: <i>B</i>,
  tokens: <i>N</i>,
  sequenceTokens: (
    <>
      <i>T</i>
      <sub>i</sub>
    </>
  ),
  maxLength: (
    <>
      <i>L</i>
      <sub>max</sub>
    </>
  ),
}

export function Symbols({ settings }: { settings: LossSettings }) {
  const { symbol, factor } = S.formula
  const rows: [ReactNode, string][] = [
    [<i>ℓ</i>, symbol.term],
    [<i>ρ</i>, settings.importance_sampling_level === 'sequence' ? symbol.sequenceRatio : symbol.ratio],
    [<i>A</i>, symbol.advantage],
    ...termRows(settings),
    ...(settings.beta === 0 ? [] : ([[<i>βD</i>, symbol.kl(plain(settings.beta))]] satisfies [ReactNode, string][])),
    ...shown(settings).map((name): [ReactNode, string] => [FACTOR_SYMBOLS[name], factor[name]]),
  ]
  return (
    <details data-testid="formula-symbols">
      <summary>{S.formula.symbols}</summary>
      <dl className="symbols">
        {rows.map(([sign, words]) => (
          <div key={words}>
            <dt>{sign}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** The symbols of the policy term, by its family, and of what multiplies it. */
function termRows(settings: LossSettings): [ReactNode, string][] {
  const { symbol } = S.formula
  const { low, high } = clipRange(settings)
  const rows: Record<(typeof TERM_OF)[LossSettings['loss_type']], [ReactNode, string][]> = {
    clip: [[<i>ε</i>, symbol.clip(plain(round(low)), plain(round(high)))], ...(settings.delta === null ? [] : ([[<i>δ</i>, symbol.delta(plain(settings.delta))]] satisfies [ReactNode, string][]))],
    cispo: [[<i>ε</i>, symbol.cap(plain(cispoCap(settings)))]],
    sapo: [[<i>τ</i>, symbol.gate(plain(settings.sapo_temperature_pos), plain(settings.sapo_temperature_neg))]],
    vespo: [[<i>φ</i>, symbol.phi]],
  }
  const more: [ReactNode, string][] = [
    ...(hasFactor(settings) ? ([[<i>w</i>, symbol.factor]] satisfies [ReactNode, string][]) : []),
    ...(hasEntropyBonus(settings) ? ([[<i>cH</i>, symbol.entropy]] satisfies [ReactNode, string][]) : []),
  ]
  return [...rows[TERM_OF[settings.loss_type]], ...more]
}

/** B and T_i bound the sums of every loss. */
function shown({ loss_type }: LossSettings): Factor[] {
  return [...new Set<Factor>(['sequences', 'sequenceTokens', ...LOSS_FORMULAS[loss_type].dividedBy])]
}

const round = (value: number) => Math.round(value * 1e4) / 1e4

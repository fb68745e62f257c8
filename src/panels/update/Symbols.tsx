/** What each symbol of the loss means, in plain words: only the symbols that the formula in use has. */

import type { ReactNode } from 'react'
import { clipRange, type Factor, LOSS_FORMULAS } from '../../rl'
import { plain } from '../../ui/format'
import { S } from '../../ui/strings'
import type { LossSettings } from './explain'

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
  const { low, high } = clipRange(settings)
  const { symbol, factor } = S.formula
  const rows: [ReactNode, string][] = [
    [<i>ℓ</i>, symbol.term],
    [<i>ρ</i>, symbol.ratio],
    [<i>A</i>, symbol.advantage],
    [<i>ε</i>, symbol.clip(plain(round(low)), plain(round(high)))],
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

/** B and T_i bound the sums of every loss. */
function shown({ loss_type }: LossSettings): Factor[] {
  return [...new Set<Factor>(['sequences', 'sequenceTokens', ...LOSS_FORMULAS[loss_type].dividedBy])]
}

const round = (value: number) => Math.round(value * 1e4) / 1e4

/** All stages on one scale from 0 to 1, side by side: each one's own metric as a line, the policy on fixed scenarios as points. */

import { number } from '../../ui/format'
import { Help } from '../../ui/Help'
import { PLAN_STRINGS as W } from '../../ui/plan-strings'
import { type Mark, pathOf, type PlanPart } from './plan-view'

/** Where the scale is named, from above. */
const SCALE = [1, 0.5, 0]

export function Legend({ heldOut, episodes }: { heldOut: boolean; episodes: number }) {
  return (
    <div className="plan-legend" data-testid="plan-legend">
      <span className="titled">
        {W.legendName} <Help of={W.legendName} text={W.legendHelp} />
      </span>
      <span>
        <span className="plan-key lead" /> {W.legend.lead}
      </span>
      <span>
        <span className="plan-key success" /> {W.legend.success}
      </span>
      <span>
        <span className="plan-key valid" /> {W.legend.valid}
      </span>
      <span className="note">{W.legend.where(heldOut, episodes)}</span>
    </div>
  )
}

export function Band({ part }: { part: PlanPart }) {
  const { kind, steps, lead, metric, before, after, marks } = part
  const points = [before, ...marks, after].filter((mark): mark is Mark => mark !== null)
  const known = lead.filter((value): value is number => value !== null)
  return (
    <div className="plan-band">
      <div className="plan-scale" aria-hidden="true">
        {SCALE.map((value) => (
          <span key={value}>{value}</span>
        ))}
      </div>
      <div className="plan-plot" role="img" aria-label={W.bandSays(W.kinds[kind], metric, number(known[0]), number(known.at(-1)), lead.length)}>
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          <path className="plan-grid" d="M0 0H100M0 50H100M0 100H100" />
          <Joined points={points} of="valid" />
          <Joined points={points} of="success" />
          <path className="plan-lead" d={pathOf(lead, steps)} />
        </svg>
        {points.map((mark) => (
          <Points key={mark.at} mark={mark} />
        ))}
      </div>
      <p className="plan-metric">
        {metric} <span className="mono">{number(known.at(-1))}</span>
      </p>
    </div>
  )
}

function Joined({ points, of }: { points: readonly Mark[]; of: 'valid' | 'success' }) {
  if (points.length < 2) return null
  return <path className={`plan-joined ${of}`} d={points.map((mark, i) => `${i === 0 ? 'M' : 'L'}${100 * mark.at} ${100 - 100 * mark[of]}`).join('')} />
}

function Points({ mark }: { mark: Mark }) {
  const place = (of: 'valid' | 'success') => ({ insetInlineStart: `${100 * mark.at}%`, insetBlockEnd: `${100 * mark[of]}%` })
  return (
    <>
      <span className="plan-point valid" style={place('valid')} />
      <span className="plan-point success" style={place('success')} />
    </>
  )
}

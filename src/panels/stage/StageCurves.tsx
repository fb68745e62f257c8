/** TRL's metrics of the stage that is trained, or was last: a curve each. */

import { memo, useMemo } from 'react'
import type { StepSummary } from '../../core/run-record'
import type { StageKind } from '../../core/stage'
import { number } from '../../ui/format'
import { Help } from '../../ui/Help'
import { later } from '../../ui/later'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { PLOT } from '../curves/plot'
import { viewOf } from '../curves/series'
import { useStage } from './useStage'

const Chart = memo(later(async () => (await import('../curves/Chart')).default))

const DRAWN: Readonly<Record<StageKind, readonly string[]>> = {
  sft: ['loss', 'mean_token_accuracy', 'entropy', 'grad_norm'],
  dpo: ['loss', 'rewards/margins', 'rewards/accuracies', 'logps/chosen', 'logps/rejected', 'logits/chosen', 'logits/rejected', 'grad_norm'],
}
const OPTIONS = { axis: 'step', smoothing: 0, log: false, range: null } as const

export function StageCurves() {
  const progress = useStage((view) => view.progress)
  const history = useMemo(() => (progress?.metrics ?? []).map(summaryOf), [progress])
  if (!progress || history.length === 0) return null
  return (
    <section aria-label={W.curves} data-testid="stage-curves">
      <h3>{W.curves}</h3>
      <div className="stage-curves">
        {DRAWN[progress.kind].map((name) => (
          <StageCurve key={name} name={name} history={history} />
        ))}
      </div>
    </section>
  )
}

function StageCurve({ name, history }: { name: string; history: readonly StepSummary[] }) {
  const view = useMemo(() => {
    const run = { id: 'stage', name, short: name, color: 'var(--accent)', dash: '', history }
    return viewOf({ id: name, label: name, group: 'other', lines: [{ metric: name, label: name }] }, [run], 0, OPTIONS)
  }, [name, history])
  const text = (value: number | null | undefined) => number(value ?? null)
  const [first, last] = [text(history[0]?.metrics[name]), text(history.at(-1)?.metrics[name])]
  return (
    <figure className="curve" data-points={history.length}>
      <figcaption>
        <span className="curve-name">
          {name}
          <Help of={name} text={W.curveHelp[name] ?? ''} />
        </span>
        <span data-testid={`stage-now-${name}`}>{last}</span>
      </figcaption>
      <div className="plot" role="img" aria-label={W.curveSays(name, first, last, history.length)}>
        <Chart view={view} right={PLOT.right} />
      </div>
    </figure>
  )
}

/** A step of a stage in the shape of a GRPO step, as the chart draws it. */
function summaryOf(metrics: Readonly<Record<string, number | null>>, i: number): StepSummary {
  return { step: i + 1, metrics, rewardMin: null, rewardMax: null, groups: [], episodes: 0, unscorable: 0, seconds: { sampling: 0, training: 0 }, version: 0 }
}

/** Evaluations that a run made itself as one more line of a curve: points with their intervals, on places of their own. */

import { evaluationInterval, type RunEvaluation } from '../../core/evaluation'
import type { CurveAxis } from '../../store/display'
import type { CurveSpec } from '../../ui/curve-specs'
import { metricOf } from '../../ui/metrics'
import { S } from '../../ui/strings'
import { type CurveLine, type DrawnRun, placesOf } from './series'

/** What the page shows of a curve's metric where it was evaluated. */
export const evaluatedMetric = ({ lines }: Pick<CurveSpec, 'lines'>): string => `eval_${lines[0]?.metric ?? ''}`

/** The line of a run's evaluations for a curve; null where it has none. */
export function evaluationLine(spec: CurveSpec, { evaluations = [], history, short, color }: DrawnRun, run: number, axis: CurveAxis, several: boolean): CurveLine | null {
  const metric = evaluatedMetric(spec)
  const points = spec.stacked ? [] : measured(evaluations, metric)
  const [first] = points
  if (!first) return null
  const places = placesOf(history, axis)
  // Before the first step nothing has been played yet; a step whose numbers are gone has no place but its own number.
  const at = points.map(({ step }) => (axis === 'step' ? step : step === 0 ? 0 : (places[history.findIndex((each) => each.step === step)] ?? null)))
  const shown = points.filter((_, i) => at[i] !== null)
  const values = shown.map(({ value }) => value)
  const label = S.curves.evaluated[first.evaluation.split]
  return {
    label: several ? S.curves.evaluated.of(short) : label,
    run,
    metric,
    color: several ? color : 'var(--ink)',
    dash: '',
    places: at.filter((place) => place !== null),
    steps: shown.map(({ step }) => step),
    values,
    drawn: values,
    intervals: shown.map(({ evaluation, value }) => evaluationInterval(evaluation, metric) ?? [value, value]),
  }
}

/** A metric of the evaluation after a step; null where there is none. */
export function evaluatedAt(evaluations: readonly RunEvaluation[] | undefined, step: number, metric: string): number | null {
  const found = evaluations?.find((evaluation) => evaluation.step === step)
  return found ? metricOf(found, metric) : null
}

function measured(evaluations: readonly RunEvaluation[], metric: string) {
  return evaluations.flatMap((evaluation) => {
    const value = metricOf(evaluation, metric)
    return value === null ? [] : [{ step: evaluation.step, value, evaluation }]
  })
}

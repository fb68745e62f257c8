/** Compared runs in numbers: the last value of every drawn curve, how far it lies from this run's, and in what the settings differ. */

import type { RunConfig } from '../../core/config'
import type { StepSummary } from '../../core/run-record'
import { useRuns, useSetup, useShown } from '../../store/hooks'
import type { CurveSpec } from '../../ui/curve-specs'
import { metricOf, writeCurve, writeDifference } from '../../ui/metrics'
import { S } from '../../ui/strings'
import type { ComparedRun } from '../runs/useCompared'
import { configDifferences } from './config-differences'

const C = S.curves.compare

interface ComparisonProps {
  specs: readonly CurveSpec[]
  history: readonly StepSummary[]
  others: readonly ComparedRun[]
}

export function Comparison({ specs, history, others }: ComparisonProps) {
  const own = useOwnConfig()
  const runs = useRuns((view) => view.runs)
  const metrics = specs.flatMap(({ lines, stacked }) => (stacked ? [] : lines.slice(0, 1))).map(({ metric }) => metric)
  const configs = new Map(runs?.map(({ id, config }) => [id, config]))
  return (
    <details className="comparison" data-testid="comparison" open>
      <summary>{C.title}</summary>
      <div className="table-scroll" tabIndex={0} role="region" aria-label={C.last}>
        <table>
          <caption>{C.last}</caption>
          <thead>
            <tr>
              <th scope="col">{C.metric}</th>
              <th scope="col">{C.present}</th>
              {others.map(({ id, name, short }) => (
                <th key={id} scope="col">
                  {short !== name && `${short} · `}
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {metrics.map((metric) => {
              const mine = lastOf(history, metric)
              return (
                <tr key={metric}>
                  <th scope="row">{metric}</th>
                  <td>{writeCurve(metric, mine)}</td>
                  {others.map(({ id, history }) => {
                    const theirs = lastOf(history ?? [], metric)
                    return (
                      <td key={id}>
                        {writeCurve(metric, theirs)}
                        {mine !== null && theirs !== null && <span className="note"> ({writeDifference(metric, theirs - mine)})</span>}
                      </td>
                    )
                  })}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <h3>{C.settings}</h3>
      <ul className="config-differences" data-testid="config-differences">
        {others.map(({ id, name, short, color }) => (
          <li key={id}>
            <strong style={{ color }}>{short}</strong> {short !== name && name} <br />
            {sentenceOf(own, configs.get(id), name)}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Of what the page shows: a recording's as far as it tells, the loaded run's, or those that the next run will have. */
function useOwnConfig(): RunConfig | null {
  const recorded = useShown((view) => view.recorded)
  const recording = useShown((view) => view.recording)
  const loaded = useRuns((view) => view.runs?.find(({ id }) => id === view.current)?.config)
  const settings = useSetup((view) => view.config)
  if (recorded) return recorded.model === '' ? null : recorded
  return recording === null ? (loaded ?? settings) : null
}

function sentenceOf(own: RunConfig | null, other: RunConfig | undefined, name: string): string {
  if (!own || !other) return C.unknown(name)
  const differences = configDifferences(own, other)
  return differences.length === 0 ? C.same : differences.join(' · ')
}

/** The newest value that was measured. */
function lastOf(history: readonly StepSummary[], metric: string): number | null {
  const step = history.findLast((each) => metricOf(each, metric) !== null)
  return step ? metricOf(step, metric) : null
}

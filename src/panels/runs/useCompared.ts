/** The runs whose curves are drawn over the present ones, each with its steps and its line. */

import { useMemo } from 'react'
import { type RunEvaluation, runEvaluations } from '../../core/evaluation'
import type { StepSummary } from '../../core/run-record'
import { useRuns } from '../../store/hooks'
import { runLabels } from './run-labels'

export interface ComparedRun {
  id: string
  name: string
  /** At its line's end, where there is room for a word: the name, or a letter that the legend has, too. */
  short: string
  /** null while they are read. */
  history: readonly StepSummary[] | null
  /** Those that it made itself. */
  evaluations: readonly RunEvaluation[]
  color: string
  /** SVG's stroke-dasharray: lines can be told apart without colour. */
  dash: string
}

/** Longer names do not fit at a line's end. */
const LONGEST = 12
const DASHES = ['7 3', '2 3', '9 3 2 3', '4 2', '12 3 2 3 2 3']

/** In the order in which they were chosen; the run that is loaded is not among them. */
export function useCompared(): readonly ComparedRun[] {
  const compared = useRuns((view) => view.compared)
  const runs = useRuns((view) => view.runs)
  const current = useRuns((view) => view.current)
  const histories = useRuns((view) => view.histories)
  return useMemo(() => {
    const labels = runLabels(runs ?? [])
    return compared.flatMap((id, i) => {
      const run = runs?.find((r) => r.id === id)
      if (!run || id === current) return []
      const line = i % DASHES.length
      const name = labels.get(id) ?? run.name
      const short = name.length <= LONGEST ? name : String.fromCharCode(65 + line)
      return [{ id, name, short, history: histories[id]?.steps ?? null, evaluations: runEvaluations(run.evaluations), color: `var(--compare-${line})`, dash: DASHES[line] ?? '' }]
    })
  }, [compared, runs, current, histories])
}

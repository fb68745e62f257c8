/** Which comparison is looked at: of the recording while that is shown, else of the run that is loaded. */

import type { PolicyComparison } from '../../core/examination'
import { isSame, type WantedComparison } from '../../store/compare-store'
import { useCompare, useDisplay, useReplay, useShown, useShownGrpo } from '../../store/hooks'

export interface ComparisonView {
  wanted: WantedComparison
  /** null where this episode was not played. */
  comparison: PolicyComparison | null
  /** What the recording holds of the chosen way of playing; null while a run is shown. */
  recorded: { seeds: readonly number[]; steps: readonly number[] } | null
  /** The environment has scenarios that are held out. */
  hasSplits: boolean
}

const distinct = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b)

export function useComparison(): ComparisonView {
  const { split, seed, greedy } = useDisplay((d) => d.compare)
  const { temperature } = useShownGrpo()
  const hasSplits = useShown(({ environment }) => environment?.heldOut ?? environment?.spec.kind !== 'openenv')
  const comparisons = useReplay(({ state, comparisons }) => (state === 'on' ? comparisons : null))
  const finished = useReplay(({ position }) => Math.floor(position))
  const made = useCompare((view) => view.made)
  const wanted: WantedComparison = { seed, split: hasSplits ? split : 'train', temperature: greedy ? 0 : temperature }
  if (comparisons === null) return { wanted, comparison: made.find((one) => isSame(one, wanted)) ?? null, recorded: null, hasSplits }
  const alike = comparisons.filter((one) => one.temperature === wanted.temperature)
  return {
    wanted,
    comparison: alike.findLast((one) => isSame(one, wanted) && one.step <= finished) ?? null,
    recorded: { seeds: distinct(alike.map((one) => one.seed)), steps: distinct(alike.map((one) => one.step)) },
    hasSplits,
  }
}

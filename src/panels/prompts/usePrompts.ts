/** The store of the dataset that is being chosen, for the field's parts; and the columns of the one that is. */

import { useStore } from 'zustand'
import type { PromptSource } from '../../core/environment-spec'
import { datasetOf } from '../../core/environment-spec'
import { useSetup, useShown, useStores } from '../../store/hooks'
import { type Prompts, promptsOf, type PromptsView, sameDataset } from '../../store/prompts-store'

export function usePromptsActions(): Prompts {
  const { worker, setup } = useStores()
  return promptsOf(worker, setup.getState().config.environment)
}

export function usePrompts<T>(selector: (view: PromptsView) => T): T {
  return useStore(usePromptsActions().store, selector)
}

/** Columns that reward functions get of the chosen environment; none where it reads no dataset, null where that is not known yet. */
export function useColumns(): readonly string[] | null {
  const dataset = useSetup((s) => datasetOf(s.config.environment))
  const seen = usePrompts(({ look }) => (look && sameDataset(look.dataset, dataset) ? look.facts.columns : null))
  const connected = useShown(({ environment }) => (environment?.dataset && sameDataset(datasetOf(environment.spec), dataset) ? environment.dataset.columns : null))
  return dataset === null ? NONE : (seen ?? connected ?? columnsOfBuiltin(dataset))
}

const NONE: readonly string[] = []
const SOLUTION: readonly string[] = ['solution']

const columnsOfBuiltin = (dataset: PromptSource): readonly string[] | null => (dataset.kind === 'builtin' ? SOLUTION : null)

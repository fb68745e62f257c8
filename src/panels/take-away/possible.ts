/** What of a run can be made into a file, and how large it will be about. */

import { singleSpecs } from '../../core/environment-spec'
import type { RunRecord } from '../../core/run-record'
import { isHubModel } from '../../env/models'
import { shortName } from '../../store/model-settings'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import type { ExportKind } from '../../worker/protocol'

/** Top to bottom. */
export const EXPORT_KINDS: readonly ExportKind[] = ['everything', 'adapter', 'merged', 'trl', 'trajectories.parquet', 'trajectories.jsonl', 'metrics.csv', 'trackio']

const NEED_ADAPTER: readonly ExportKind[] = ['adapter', 'merged', 'trl', 'everything']

/** Why a file of this kind cannot be made; null where it can. */
export function whyNot(run: RunRecord, kind: ExportKind): string | null {
  const words = TAKE_AWAY_STRINGS.downloads
  if (!NEED_ADAPTER.includes(kind)) return null
  if (run.lora === null && kind !== 'merged' && kind !== 'everything') return words.noLora
  if (run.checkpoint === null) return words.noAdapter
  return kind === 'merged' && isHubModel(run.config.model) ? words.hubMerge(shortName(run.config.model)) : null
}

/** The LoRA alone, in bytes. */
export const loraBytes = ({ engine }: RunRecord): number => 4 * engine.trainable

/** Whether the adapter's folder has the model that it belongs to in it: nobody could download a model of this site by name. */
export const hasBase = ({ config }: RunRecord): boolean => !isHubModel(config.model)

/** Bytes, where they follow from the model; null where nobody knows before. */
export function expectedBytes(run: RunRecord, kind: ExportKind): number | null {
  const { engine } = run
  if (kind === 'adapter') return loraBytes(run) + (hasBase(run) ? 4 * engine.parameters : 0)
  return kind === 'merged' ? 4 * engine.parameters : null
}

/** What a person should know of a file of this kind before it is made, as sentences. */
export function notesOn({ config: { environment, rollout_func, grpo } }: RunRecord, kind: ExportKind): string[] {
  if (kind !== 'trl') return []
  const words = TAKE_AWAY_STRINGS.downloads.trlNotes
  const classes = singleSpecs(environment).flatMap((one) => (one.kind === 'custom' ? [one.called] : []))
  const functions = grpo.reward_funcs.flatMap((func) => (func.name === 'custom' ? [func.called] : []))
  const judgeAlone = environment.kind === 'prompts' || functions.length === grpo.reward_funcs.length
  return [
    ...(classes.length > 0 ? [words.classes(classes)] : []),
    ...(rollout_func ? [words.rollout(rollout_func.called)] : []),
    ...(functions.length > 0 ? [words.rewards(functions, judgeAlone)] : []),
  ]
}

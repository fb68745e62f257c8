/** What of a run can be made into a file, and how large it will be about. */

import { singleSpecs } from '../../core/environment-spec'
import { PlaygroundError } from '../../core/errors'
import type { RunRecord } from '../../core/run-record'
import { isHubModel } from '../../env/models'
import { membersOf } from '../../hub/trl/members'
import { shortName } from '../../store/model-settings'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import type { ExportKind } from '../../worker/protocol'

/** Top to bottom. */
export const EXPORT_KINDS: readonly ExportKind[] = ['everything', 'adapter', 'merged', 'trl', 'trajectories.parquet', 'trajectories.jsonl', 'metrics.csv', 'trackio']

const NEED_ADAPTER: readonly ExportKind[] = ['adapter', 'merged', 'trl', 'everything']

/** Why a file of this kind cannot be made; null where it can. */
export function whyNot(run: RunRecord, kind: ExportKind): string | null {
  const words = TAKE_AWAY_STRINGS.downloads
  if (kind.startsWith('trajectories') && run.step > 0 && run.droppedSteps >= run.step) return words.noEpisodes
  if (!NEED_ADAPTER.includes(kind)) return null
  if (run.lora === null && kind !== 'merged' && kind !== 'everything') return words.noLora
  if (run.checkpoint === null) return words.noAdapter
  if (kind === 'trl') return untold(run)
  return kind === 'merged' && isHubModel(run.config.model) ? words.hubMerge(shortName(run.config.model)) : null
}

/** What the run's record does not tell and its folder for TRL is written from; null where it tells all. */
function untold(run: RunRecord): string | null {
  try {
    const members = membersOf(run)
    const parts = members.length > 0 ? members.map((member) => member.run) : [run]
    const bare = parts.find(({ config, environment }) => config.environment.kind === 'openenv' && environment.tools.length === 0)
    return bare ? TAKE_AWAY_STRINGS.downloads.noTools(bare.environment.name) : null
  } catch (error) {
    if (error instanceof PlaygroundError) return `${error.message} ${error.advice}`
    throw error
  }
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

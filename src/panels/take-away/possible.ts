/** What of a run can be made into a file, and how large it will be about. */

import type { RunRecord } from '../../core/run-record'
import { isHubModel } from '../../env/models'
import { shortName } from '../../store/model-settings'
import { S } from '../../ui/strings'
import type { ExportKind } from '../../worker/protocol'

/** Top to bottom. */
export const EXPORT_KINDS: readonly ExportKind[] = ['everything', 'adapter', 'merged', 'trl', 'trajectories.parquet', 'trajectories.jsonl', 'metrics.csv', 'trackio']

const NEED_ADAPTER: readonly ExportKind[] = ['adapter', 'merged', 'trl', 'everything']

/** Why a file of this kind cannot be made; null where it can. */
export function whyNot(run: RunRecord, kind: ExportKind): string | null {
  const words = S.takeAway.downloads
  if (!NEED_ADAPTER.includes(kind)) return null
  if (run.lora === null) return words.noLora
  if (run.checkpoint === null) return words.noAdapter
  return kind === 'merged' && isHubModel(run.config.model) ? words.hubMerge(shortName(run.config.model)) : null
}

/** Bytes, where they follow from the model; null where nobody knows before. */
export function expectedBytes({ engine }: RunRecord, kind: ExportKind): number | null {
  if (kind === 'adapter') return 4 * engine.trainable
  return kind === 'merged' ? 4 * engine.parameters : null
}

/** Parts of train.py for a run without an environment: the dataset's rows, and TRL's own reward functions. */

import type { RunConfig } from '../../core/config'
import type { RunRecord } from '../../core/run-record'
import { py, pyString } from './python'
import type { TaskParts } from './task-parts'

/** Of a run on a dataset's prompts; null for others. */
export function promptParts({ config, environment }: RunRecord): TaskParts | null {
  if (config.environment.kind !== 'prompts') return null
  const { dataset } = config.environment
  const place = environment.dataset?.place
  const rows =
    dataset.kind === 'hub'
      ? `    # The commit that the page read.
    rows = load_dataset(${pyString(dataset.repo)}, ${py(place?.config === 'default' ? null : (place?.config ?? dataset.config))}, split=${pyString(place?.split ?? dataset.split ?? 'train')}, revision=${pyString(place?.sha ?? dataset.revision)}).to_list()[:20_000]`
      : `    rows = [json.loads(line) for line in (args.folder / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()]`
  return {
    imports: `    import json\n\n    from datasets import load_dataset\n    from prompts import split_rows\n`,
    dataset: `${rows}
    # As on the page: the system prompt before prompts that have none, and a tenth of 50 rows or more never trained on.
    dataset = Dataset.from_list(split_rows(rows, ${pyString(config.system_prompt)}, hold_out=${py(dataset.kind !== 'builtin')})["train"])`,
    processing: 'AutoTokenizer.from_pretrained(base, revision=REVISION, padding_side="left")',
    factory: '',
    after: '',
    evaluated: null,
  }
}

/** The settings without what no environment gives: train.py has no function for it. */
export function withoutEnvironmentReward(config: RunConfig): RunConfig {
  const { reward_funcs, reward_weights } = config.grpo
  const judges = reward_funcs.map(({ name }) => name !== 'environment')
  return { ...config, grpo: { ...config.grpo, reward_funcs: reward_funcs.filter((_, i) => judges[i]), reward_weights: reward_weights && reward_weights.filter((_, i) => judges[i]) } }
}

/** Parts of train.py for a run without an environment: the dataset's rows, and TRL's own reward functions. */

import type { RunConfig } from '../../core/config'
import { PlaygroundError } from '../../core/errors'
import type { ExportFile, RunRecord } from '../../core/run-record'
import { readRows } from '../../core/rows'
import { wellFormedJson } from '../../core/text'
import { py, pyString } from './python'

/** What differs between a run that plays and one that answers, as lines of main. */
export interface TaskParts {
  imports: string
  dataset: string
  processing: string
  factory: string
  after: string
}

/** Of a run on a dataset's prompts; null for others. */
export function promptParts({ config, environment }: RunRecord): TaskParts | null {
  if (config.environment.kind !== 'prompts') return null
  const { dataset } = config.environment
  const functions = config.grpo.reward_funcs.flatMap((func) => (func.name === 'custom' ? [func.called] : []))
  const refusal =
    functions.length === 0 ? '' : `    sys.exit(${pyString(`The page judged with ${functions.join(', ')}, which ${functions.length === 1 ? 'is' : 'are'} JavaScript: write ${functions.length === 1 ? 'it' : 'them'} in Python where train.py says STUB, then remove this line.`)})\n`
  const place = environment.dataset?.place
  const rows =
    dataset.kind === 'hub'
      ? `    # The commit that the page read.
    rows = load_dataset(${pyString(dataset.repo)}, ${py(place?.config === 'default' ? null : (place?.config ?? dataset.config))}, split=${pyString(place?.split ?? dataset.split ?? 'train')}, revision=${pyString(place?.sha ?? dataset.revision)}).to_list()[:20_000]`
      : `    rows = [json.loads(line) for line in (args.folder / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()]`
  return {
    imports: `    import json\n\n    from datasets import load_dataset\n    from prompts import split_rows\n${refusal}`,
    dataset: `${rows}
    # As on the page: the system prompt before prompts that have none, and a tenth of 50 rows or more never trained on.
    dataset = Dataset.from_list(split_rows(rows, ${pyString(config.system_prompt)}, hold_out=${py(dataset.kind !== 'builtin')})["train"])`,
    processing: 'AutoTokenizer.from_pretrained(base, revision=REVISION, padding_side="left")',
    factory: '',
    after: '',
  }
}

/** The settings without what no environment gives: train.py has no function for it. */
export function withoutEnvironmentReward(config: RunConfig): RunConfig {
  const { reward_funcs, reward_weights } = config.grpo
  const judges = reward_funcs.map(({ name }) => name !== 'environment')
  return { ...config, grpo: { ...config.grpo, reward_funcs: reward_funcs.filter((_, i) => judges[i]), reward_weights: reward_weights && reward_weights.filter((_, i) => judges[i]) } }
}

/** data/train.jsonl; none where the rows are on the Hub. `rows`: of those that the page makes itself. Throws PlaygroundError('config') where they are not given. */
export function rowFiles({ environment }: RunConfig, rows: readonly Record<string, unknown>[] | undefined): ExportFile[] {
  if (environment.kind !== 'prompts' || environment.dataset.kind === 'hub') return []
  const { dataset } = environment
  if (dataset.kind === 'text') return [{ path: 'data/train.jsonl', content: lines(readRows(dataset.text).rows.map(({ row }) => row)) }]
  if (!rows) throw new PlaygroundError('config', `The rows of ${dataset.name} were not given.`, 'Export once more.')
  return [{ path: 'data/train.jsonl', content: lines(rows) }]
}

const lines = (rows: readonly Record<string, unknown>[]): string => `${rows.map((row) => wellFormedJson(row)).join('\n')}\n`


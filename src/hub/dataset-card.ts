/** A run's trajectories as a dataset repository that `datasets` loads as it is: README.md and one Parquet file. */

import { singleSpecs, specName } from '../core/environment-spec'
import type { ExportFile, KeptEpisode, RunRecord } from '../core/run-record'
import { codeSection } from './card-sections'
import { frontMatter, markdownCode, markdownText } from './card-text'
import { isRepoId } from './model-reference'
import { withoutCredentials, withoutTokens } from './secrets'
import { columnsOf, trajectoriesParquet } from './trajectories'

const DATA = 'data/train-00000-of-00001.parquet'

/** What the card says beside the run itself. */
export interface DatasetFacts {
  steps: number
  episodes: number
  /** owner/name of the dataset, where it is known. */
  repo?: string | null
  /** owner/name of the adapter that the run trained, where it was published. */
  adapter?: string | null
}

/** The Hub's size_categories. */
function sizeOf(rows: number): string {
  const limits: [number, string][] = [[1e3, 'n<1K'], [1e4, '1K<n<10K'], [1e5, '10K<n<100K'], [1e6, '100K<n<1M']]
  return limits.find(([limit]) => rows < limit)?.[1] ?? '1M<n<10M'
}

const hubLink = (repo: string) => `[${markdownText(repo)}](https://huggingface.co/${encodeURI(repo)})`

/** README.md with the metadata that the Hub and `datasets` read. User text is quoted; nothing in the form of a Hub token is in it. */
export function datasetCard(run: RunRecord, facts: DatasetFacts): string {
  const { environment, config } = run
  const { grpo } = config
  const where = config.environment.kind === 'builtin' ? `built into GRPO Playground (${config.environment.name})` : singleSpecs(config.environment).map((one) => withoutCredentials(specName(one))).join(' + ')
  const code = codeSection(run)
  const metadata = frontMatter({
    pretty_name: run.name,
    task_categories: ['reinforcement-learning', 'text-generation'],
    size_categories: [sizeOf(facts.episodes)],
    tags: ['trl', 'trl-logs', 'completions', 'grpo', 'reinforcement-learning', 'lora', 'openenv', 'grpo-playground'],
    configs: [{ config_name: 'default', data_files: [{ split: 'train', path: 'data/train-*.parquet' }] }],
  })
  const onHub = isRepoId(config.model) && !config.model.startsWith('models/')
  const model = onHub ? hubLink(config.model) : markdownCode(config.model)
  const settings = { num_generations: grpo.num_generations, temperature: grpo.temperature, loss_type: grpo.loss_type, learning_rate: grpo.learning_rate, seed: grpo.seed }
  const card = `${metadata}
# Trajectories of “${markdownText(run.name)}”

Every episode of ${facts.steps === 1 ? 'one step' : `${facts.steps} steps`} of GRPO that ran in a browser: ${facts.episodes} rows, with the tokens, masks, log-probs, calls and rewards that the training used.${
    run.droppedSteps > 0 ? ` The episodes of the first ${run.droppedSteps} steps were not kept.` : ''
  }

* Base model: ${model}${run.modelSha ? ` at ${markdownCode(run.modelSha)}` : ''}, weights kept as ${config.precision}${facts.adapter ? `\n* Trained adapter: ${hubLink(facts.adapter)}` : ''}
* Environment: ${markdownText(environment.name)}, ${markdownCode(where)}
* Settings: ${Object.entries(settings).map(([name, value]) => `${markdownCode(name)} ${value}`).join(', ')}; all of them are in column \`run\`
* Made with GRPO Playground ${markdownText(run.version)}

## Load

\`\`\`python
from datasets import load_dataset

trajectories = load_dataset(${JSON.stringify(facts.repo ?? 'path/to/this/folder')}, split="train")
\`\`\`

Columns of JSON are text: \`json.loads(row["turns"][0]["calls"])\`. GRPO Playground opens the file in \`data/\` and shows it token by token.

## Columns

Those up to \`advantage\` are TRL's \`log_completions\`: one for each reward function.

| column | content |
|---|---|
${columnsOf(run).map(({ name, about }) => `| ${markdownCode(name)} | ${about} |`).join('\n')}
${code === null ? '' : `\n## Code of the run\n\n${code}\n`}`
  return withoutTokens(card)
}

/**
 * The dataset's files, ready to be put into a dataset repository.
 * @param steps as for trajectoriesParquet
 * @throws PlaygroundError('config') where there are no episodes
 */
export async function datasetFiles(run: RunRecord, steps: AsyncIterable<KeptEpisode[]>, facts: Pick<DatasetFacts, 'repo' | 'adapter'> = {}): Promise<ExportFile[]> {
  const counted = { steps: 0, episodes: 0 }
  async function* counting() {
    for await (const step of steps) {
      counted.steps += step.length > 0 ? 1 : 0
      counted.episodes += step.length
      yield step
    }
  }
  const content = await trajectoriesParquet(run, counting())
  return [
    { path: 'README.md', content: datasetCard(run, { ...facts, ...counted }) },
    { path: DATA, content },
  ]
}

/** The dataset's card. That `datasets` and huggingface_hub read it is tested with them, in e2e/reference. */

import { expect, it } from 'vitest'
import { datasetCard, datasetFiles } from './dataset-card'
import { oneByOne, sampleRun, sampleSteps } from './testing/episodes'
import { readTrajectories } from './trajectories'

const card = (changes = {}, facts = {}) => datasetCard(sampleRun(changes), { steps: 2, episodes: 4, ...facts })

it('says where the data lies, what it is, and how it was made', () => {
  const text = card({ droppedSteps: 3 }, { repo: 'me/runs', adapter: 'me/adapter' })
  expect(text.split('---')[1]?.trim().split('\n')).toEqual([
    'pretty_name: "Echo: \\"quotes\\", #1"',
    'task_categories: ["reinforcement-learning", "text-generation"]',
    'size_categories: ["n<1K"]',
    'tags: ["trl", "trl-logs", "completions", "grpo", "reinforcement-learning", "lora", "openenv", "grpo-playground"]',
    'configs: [{"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*.parquet"}]}]',
  ])
  expect(text).toContain('# Trajectories of “Echo: "quotes", \\#1”')
  expect(text).toContain('4 rows')
  expect(text).toContain('The episodes of the first 3 steps were not kept.')
  expect(text).toContain('[Qwen/Qwen3-0.6B](https://huggingface.co/Qwen/Qwen3-0.6B) at `c1899de289a04d12100db370d81485cdf75e47ca`')
  expect(text).toContain('[me/adapter](https://huggingface.co/me/adapter)')
  expect(text).toContain('load_dataset("me/runs", split="train")')
  expect(text).toContain('| `echo_env` | what the reward function')
})

it('lets no name become markup, and gives neither notes nor tokens away', () => {
  const config = { ...sampleRun().config, model: 'models/tiny-qwen3', environment: { kind: 'openenv' as const, url: `https://h/?t=hf_${'a'.repeat(34)}` } }
  const text = card({ name: 'a\n---\ntags: [evil] <script>', config })
  expect(text.match(/^---$/gm)).toHaveLength(2)
  expect(text).toContain('pretty_name: "a\\n---\\ntags: [evil] <script>"')
  expect(text).toContain('# Trajectories of “a --- tags: \\[evil\\] &lt;script&gt;”')
  expect(text).toContain('Base model: `models/tiny-qwen3`')
  expect(text).not.toMatch(/Nobody|hf_a/)
})

it('is a folder of a card and one Parquet file', async () => {
  const files = await datasetFiles(sampleRun(), oneByOne(sampleSteps()))
  expect(files.map(({ path }) => path)).toEqual(['README.md', 'data/train-00000-of-00001.parquet'])
  expect(files[0]?.content).toContain('Every episode of 2 steps of GRPO that ran in a browser: 4 rows')
  expect((await readTrajectories(files[1]?.content as Blob, 'x')).episodes).toEqual(sampleSteps())
})

/** The card of a model. That huggingface_hub reads its metadata and that its Python runs is tested with them, in e2e/reference. */

import { describe, expect, it } from 'vitest'
import { DEFAULT_STAGE } from '../core/stage'
import { latestEvaluations } from './card-sections'
import { modelCard, type ModelCardInput } from './model-card'
import { sampleHistory, sampleRun } from './testing/episodes'

const card = (more: Partial<ModelCardInput> = {}) => modelCard({ run: sampleRun(), history: sampleHistory(), kind: 'adapter', repo: 'me/lora', curve: 'reward.png', ...more })
const metadata = (text: string) => text.split('---\n')[1]?.trim().split('\n')
/** The sample run on the model that comes with the page. */
const tinyRun = (changes: Parameters<typeof sampleRun>[0] = {}) => {
  const run = sampleRun()
  return sampleRun({ config: { ...run.config, model: 'models/tiny-qwen3', precision: 'float32', environment: { kind: 'builtin', name: 'lane' } }, modelSha: null, engine: { ...run.engine, parameters: 492_640 }, ...changes })
}

describe('metadata', () => {
  it('names the base, the relation, the library and what was published', () => {
    expect(metadata(card({ dataset: 'me/data', license: 'apache-2.0' }))).toEqual([
      'base_model: "Qwen/Qwen3-0.6B"',
      'base_model_relation: "adapter"',
      'library_name: "peft"',
      'pipeline_tag: "text-generation"',
      'license: "apache-2.0"',
      'tags: ["base_model:adapter:Qwen/Qwen3-0.6B", "lora", "transformers", "grpo", "reinforcement-learning", "openenv", "grpo-playground"]',
      'datasets: ["me/data"]',
    ])
  })

  it('names no base that is not on the Hub, and no licence that nobody knows', () => {
    expect(metadata(card({ run: tinyRun(), kind: 'merged' }))).toEqual([
      'library_name: "transformers"',
      'pipeline_tag: "text-generation"',
      'tags: ["grpo", "reinforcement-learning", "grpo-playground"]',
    ])
  })

  it('of a merged model is a finetune', () => {
    expect(metadata(card({ kind: 'merged' }))).toEqual(expect.arrayContaining(['base_model_relation: "finetune"', 'library_name: "transformers"']))
  })
})

describe('how it is used', () => {
  it('pins the base to the commit that was trained on', () => {
    const text = card()
    expect(text).toContain('AutoModelForCausalLM.from_pretrained(base, revision="c1899de289a04d12100db370d81485cdf75e47ca", dtype="float32")')
    expect(text).toContain('PeftModel.from_pretrained(model, "me/lora")')
    expect(text).toContain('model.merge_and_unload()')
    expect(text).toContain('with `enable_thinking=False`')
  })

  it('says where the base of a model of this site is', () => {
    const text = card({ run: tinyRun(), baseFolder: 'base' })
    expect(text).toContain('is not on the Hub under that name: its files lie here in `base/`')
    expect(text).toContain('folder = snapshot_download("me/lora")\nbase = folder + "/base"')
    expect(card({ run: tinyRun(), baseFolder: 'base', repo: null })).toContain('folder = "path/to/this/folder"\nbase = folder + "/base"')
    expect(card({ run: tinyRun() })).toContain('copy that folder from there before you load this')
  })

  it('of a merged model needs no PEFT', () => {
    const text = card({ kind: 'merged' })
    expect(text).toContain('AutoModelForCausalLM.from_pretrained("me/lora", dtype="float32")')
    expect(text).not.toContain('import PeftModel')
  })
})

describe('what it says of the run', () => {
  it('names the stages that the adapter went through up to the step that is taken away', () => {
    const stage = (kind: 'sft' | 'dpo', afterStep: number) => ({ kind, dataset: 'rows_1.jsonl', rows: 9, steps: 6, settings: { ...DEFAULT_STAGE[kind], learning_rate: 0.001 }, afterStep, first: {}, last: {} })
    const run = sampleRun()
    const text = card({ run: sampleRun({ stages: [stage('sft', 0), stage('dpo', (run.checkpoint ?? run.step) + 1)] }) })
    expect(text).toMatch(/The adapter was trained in stages: SFT 6 steps → GRPO \d+ steps? \(SFT on 9 rows of `rows_1\.jsonl`, learning_rate 0\.001\)\. /)
    expect(card()).not.toContain('in stages')
  })

  it('says what the stages of the plan did to the policy, where that was measured', () => {
    const stage = (kind: 'sft' | 'dpo', more: object) => ({ kind, dataset: 'rows', rows: 9, steps: 6, settings: DEFAULT_STAGE[kind], afterStep: 0, first: {}, last: {}, ...more })
    const [low, high] = [{ episodes: 64, success: 0.09375, valid: 0.3125, reward: 0.1 }, { episodes: 64, success: 0.5, valid: 1, reward: 0.5 }]
    const text = card({ run: sampleRun({ stages: [stage('sft', { before: low, after: high }), stage('dpo', { steps: 1, before: high }), stage('dpo', { skipped: 'no pair', before: high })] }) })
    expect(text).toContain('| SFT 6 steps | 64 | 9.4% | 50% | 31.3% | 100% |\n| DPO one step | 64 | 50% | – | 100% | – |\n\nFixed scenarios')
    expect(card({ run: sampleRun({ stages: [stage('sft', {})] }) })).not.toContain('success before')
  })

  it('names a stage’s dataset of the Hub at its commit, in the text and in the metadata', () => {
    const source = { repo: 'you/talk', revision: 'main', sha: 'c'.repeat(40), config: 'default', split: 'train' }
    const stage = { kind: 'sft' as const, dataset: 'you/talk', source, rows: 9, steps: 6, settings: DEFAULT_STAGE.sft, afterStep: 0, first: {}, last: {} }
    const text = card({ run: sampleRun({ stages: [stage] }) })
    expect(text).toContain(`9 rows of [you/talk](https://huggingface.co/datasets/you/talk) at commit [cccccccc](https://huggingface.co/datasets/you/talk/tree/${'c'.repeat(40)}), \`default/train\``)
    expect(text.split('---')[1]).toMatch(/datasets: \["you\/talk"\]/)
  })

  it('has its rewards, settings, tools, prompts, versions', () => {
    const text = card({ log: 'metrics.csv' })
    for (const part of [
      '![Mean reward of every step, with the least and the most](reward.png)',
      '| 2 | 0.6667 | – | 0 … 1 | – | 2 of 2 |',
      '[metrics.csv](metrics.csv)',
      '| `learning_rate` | `0.00002` |',
      '| `lora_alpha` | `32` |',
      '`say`: Say it.',
      '```\nSay it.\n```',
      'onnxruntime-web 1.30.0, WebAssembly, 4 threads',
      'Seed 42\n',
      'PEFT 0.21.2',
    ]) {
      expect(text).toContain(part)
    }
    expect(text).not.toContain('Nobody else')
    expect(card({ run: tinyRun() })).toContain('Seed 42; with the same versions and number of threads the run repeats bit for bit')
  })

  it('shows a success rate with its interval, and for which base', () => {
    const text = card()
    expect(text).toContain('| int4 | held out | 2 | 7 of 8 | 87.5% | 52.9% – 97.8% | 0.9 |')
    expect(text).toContain('On the base as it is published its success was not measured')
    const [first] = sampleRun().evaluations
    const both = card({ run: sampleRun({ evaluations: [...sampleRun().evaluations, { ...(first as NonNullable<typeof first>), precision: 'float32', solved: 6 }] }) })
    expect(both).toContain('| float32 | held out | 2 | 6 of 8 |')
    expect(both).toContain('measured on the base in more than one precision')
    expect(card({ run: sampleRun({ evaluations: [] }) })).toContain('Success was not measured apart from training.')
  })

  it('shows the newest of several measurements of the same thing', () => {
    const one = { step: 2, split: 'train' as const, solved: 1, scorable: 2, reward: 0, precision: 'int4' as const }
    expect(latestEvaluations([one, { ...one, solved: 2 }, { ...one, step: 0 }]).map(({ step, solved }) => [step, solved])).toEqual([[0, 1], [2, 2]])
  })

  it('is of the adapter that is taken away, not of later steps', () => {
    const text = card({ run: sampleRun({ step: 9, checkpoint: 1 }) })
    expect(text).toContain('for one step in a browser')
    expect(text).not.toContain('| 2 | 0.6667')
  })

  it('shows some steps of a long run, with the first and the last', () => {
    const rows = card({ history: sampleHistory(500), run: sampleRun({ checkpoint: 500, step: 500 }) }).match(/^\| \d+ \| [\d.]+ \| – \|/gm) ?? []
    expect(rows.length).toBeLessThanOrEqual(13)
    expect([rows[0]?.slice(0, 4), rows.at(-1)?.slice(0, 6)]).toEqual(['| 1 ', '| 500 '])
  })

  it('admits its limits', () => {
    const text = card({ run: tinyRun(), history: sampleHistory().map((step) => ({ ...step, unscorable: 1 })) })
    expect(text).toContain('The base has 492,640 parameters. It is a toy')
    expect(text).toContain('2 episodes could not be scored')
    expect(card()).toContain('The base was quantised (int4')
  })
})

it('lets no text of a person become markup, and no secret of an address out', () => {
  const { config, environment } = sampleRun()
  const token = `hf_${'a'.repeat(34)}`
  const run = sampleRun({
    name: 'a\n---\nlicense: mit\n# <b>',
    config: { ...config, system_prompt: '```\n# not a heading\n```', environment: { kind: 'openenv', url: `wss://me:pass@host:8000/env?key=secret#x` } },
    environment: { ...environment, name: '[x](y)', tools: environment.tools.map((tool) => ({ ...tool, function: { ...tool.function, description: `| <i> ${token}` } })) },
  })
  const text = card({ run })
  expect(text.match(/^---$/gm)).toHaveLength(2)
  expect(text).toContain('# a --- license: mit \\# &lt;b&gt;\n')
  expect(text).toContain('````\n```\n# not a heading\n```\n````')
  expect(text).toContain('`wss://host:8000/env`')
  expect(text).not.toMatch(/pass@|secret|hf_a|\[x\]\(y\)|<i>/)
})

it('names every engine that a run was trained on, and promises no repetition then', () => {
  const run = sampleRun()
  const engine = { ...run.engine, backend: 'wasm' as const, threads: 2 }
  const config = { ...run.config, environment: { kind: 'builtin' as const, name: 'lane' as const } }
  const card = (more: object) => modelCard({ run: sampleRun({ engine, config, ...more }), history: sampleHistory(), kind: 'adapter', repo: 'me/lora', curve: null })
  expect(card({})).toMatch(/bit for bit/)
  const moved = card({ earlierEngines: [{ ...engine, backend: 'webgpu', device: 'ACME' }] })
  expect(moved).toContain('WebGPU (ACME), then WebAssembly, 2 threads')
  expect(moved).not.toMatch(/repeats bit for bit/)
})

it('has no empty block where a run had no prompts', () => {
  const run = sampleRun()
  const text = card({ run: sampleRun({ config: { ...run.config, system_prompt: '', user_prompt: '' }, environment: { ...run.environment, prompts: { system: '', user: '' } } }) })
  expect(text).toContain('The first user message is what the environment says at reset.')
  expect(text).not.toMatch(/```\w*\n\s*```/)
})

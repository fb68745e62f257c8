/**
 * SFT and DPO against TRL's SFTTrainer and DPOTrainer on the shipped model: of rows in every format the same tokens and targets, then three
 * optimizer steps: loss within 1e-5, the LoRA's gradient within 1e-3, the weights after AdamW, TRL's metrics.
 *
 * Where we differ on purpose:
 *
 * - The first token is no target: nothing predicts it. TRL labels it and its model's shift drops the label, which comes to the same.
 * - assistant_only_loss needs no template that TRL knows, and acts on pairs as well (TRL has no such setting there; it is off here).
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoraConfig, LrSchedulerType } from '../../src/core/config'
import type { OptimizerParams } from '../../src/core/engine'
import type { DpoOptions } from '../../src/rl'
import type { ChatFormat } from '../../src/rollout/chat'
import type { EngineInstance } from '../../src/runtime/create'
import { dpoExamples, sftExamples } from '../../src/train/datasets/examples'
import { type DpoRecord, trainDpo } from '../../src/train/dpo'
import { type SftRecord, trainSft } from '../../src/train/sft'
import { tinyChat } from '../integration/grpo-run'
import { referenceJson } from './reference'
import { begin, expectStep, initialAdapter, shippedEngine, type TrlRun, watched } from './trl-step-case'

type Row = Record<string, unknown>

interface StageRun extends TrlRun {
  rows: Row[]
  settings: Pick<OptimizerParams, 'learning_rate' | 'max_grad_norm'> & { lr_scheduler_type: LrSchedulerType; warmup_steps: number; max_length: number }
}

interface SftCase extends StageRun {
  settings: StageRun['settings'] & { assistant_only_loss: boolean }
  /** As TRL prepared them; −100 is no target. */
  batch: { ids: number[]; labels: number[] }[]
}

interface DpoCase extends StageRun {
  settings: StageRun['settings'] & DpoOptions
  /** 'fresh': B is 0; 'moved': it is not, and the reference is the base model; 'loaded': the reference is the LoRA itself. */
  adapter: 'fresh' | 'moved' | 'loaded'
  batch: { prompt: number[]; chosen: number[]; rejected: number[] }[]
}

interface StageCases {
  lora: LoraConfig
  adam: Pick<OptimizerParams, 'adam_beta1' | 'adam_beta2' | 'adam_epsilon' | 'weight_decay'>
  sft: SftCase[]
  dpo: DpoCase[]
}

const { lora, adam, sft, dpo } = referenceJson<StageCases>('trl-stage.json')

/** Rows as they lie in a JSONL file. */
const placed = (rows: readonly Row[]) => rows.map((row, i) => ({ place: `line ${i + 1}`, row: JSON.parse(JSON.stringify(row)) as Row }))

let engine: EngineInstance
let chat: ChatFormat
beforeAll(async () => {
  // As the template does it where nobody says otherwise.
  chat = (await tinyChat()).withThinking(true)
  engine = await shippedEngine(lora)
})
afterAll(() => engine?.dispose())

describe('SFT', () => {
  it.each(sft)('$name', async (example) => {
    const { settings, rows, batch } = example
    const { examples, problems } = sftExamples(placed(rows), chat, settings)
    expect(problems).toEqual([])
    expect(examples.map(({ ids }) => ids)).toEqual(batch.map(({ ids }) => ids))
    expect(examples.map(({ mask }) => mask)).toEqual(batch.map(({ labels }) => labels.map((label, t) => (t > 0 && label !== -100 ? 1 : 0))))

    await begin(engine)
    const { trainer, steps } = watched(engine)
    const records: SftRecord[] = []
    await trainSft({ ...settings, ...adam, engine: trainer, max_steps: example.losses.length, batch: () => examples, onStep: (record) => records.push(record) })
    const tokens = examples.reduce((sum, { ids }) => sum + ids.length, 0)
    for (const [at, { loss, mean_token_accuracy, entropy, grad_norm, learning_rate }] of records.entries()) {
      const metrics = { loss, mean_token_accuracy, entropy, grad_norm, learning_rate, num_tokens: tokens * (at + 1) }
      expectStep(example, at, steps, metrics, initialAdapter())
    }
    expect(records).toHaveLength(3)
  })
})

describe('DPO', () => {
  it.each(dpo)('$name', async (example) => {
    const { settings, rows, batch, adapter } = example
    const { examples, problems } = dpoExamples(placed(rows), chat, { ...settings, assistant_only_loss: false })
    expect(problems).toEqual([])
    for (const side of ['chosen', 'rejected'] as const) {
      const theirs = batch.map((pair) => ({ ids: [...pair.prompt, ...pair[side]], mask: [...pair.prompt.map(() => 0), ...pair[side].map(() => 1)] }))
      expect(examples.map((pair) => pair[side].ids)).toEqual(theirs.map(({ ids }) => ids.slice(0, settings.max_length)))
      expect(examples.map((pair) => pair[side].mask)).toEqual(theirs.map(({ mask }) => mask.slice(0, settings.max_length)))
    }

    const start = initialAdapter({ zero: adapter === 'fresh' })
    await begin(engine, { zero: adapter === 'fresh' })
    if (adapter === 'loaded') engine.freezeReference()
    const { trainer, steps } = watched(engine)
    const records: DpoRecord[] = []
    await trainDpo({ ...settings, ...adam, engine: trainer, max_steps: example.losses.length, batch: () => examples, onStep: (record) => records.push(record) })
    const tokens = examples.reduce((sum, { chosen, rejected }) => sum + chosen.ids.length + rejected.ids.length, 0)
    for (const [at, { metrics }] of records.entries()) {
      expect(Object.keys(example.logs[at] ?? {})).toContain('logits/rejected')
      expectStep(example, at, steps, { ...metrics, num_tokens: tokens * (at + 1) }, start)
    }
    expect(records).toHaveLength(3)
    if (adapter !== 'moved' && settings.loss_type === 'sigmoid') expect(records[0]?.metrics['loss']).toBeCloseTo(Math.LN2, 6)
  })
})

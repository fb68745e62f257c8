/** Stages on a real engine: of a LoRA and of every weight, what DPO's reference gives is what the policy was when the stage began. */
import { expect, it } from 'vitest'
import type { TrainSequence } from '../core/engine'
import { DEFAULT_STAGE } from '../core/stage'
import { smallBatch } from '../runtime/testing/random-model'
import { start } from '../runtime/testing/small-trainer'
import type { Example } from '../train/datasets'
import type { StageData } from './stage-data'
import { trainStage } from './stage-training'

const example = ({ ids, mask }: TrainSequence, i: number): Example =>
  ({ place: `line ${i + 1}`, ids: [...ids], mask: [...mask] as (0 | 1)[], authors: ids.map(() => 'model'), promptLength: mask.indexOf(1), cut: 0 })
const EXAMPLES = [...smallBatch(), ...smallBatch(64, 5)].map(example)
const rest = { problems: [], dropped: [], shortened: 0, mismatched: 0 }
const SFT: StageData = { kind: 'sft', prepared: { ...rest, examples: EXAMPLES }, hub: null }
const PAIRS = [0, 1, 2].map((i) => ({ place: `line ${i + 1}`, chosen: EXAMPLES[2 * i] as Example, rejected: EXAMPLES[2 * i + 1] as Example }))
const DPO: StageData = { kind: 'dpo', prepared: { ...rest, examples: PAIRS }, hub: null }

it.each([true, false])('imitates and prefers, with a LoRA: %s', async (peft) => {
  const engine = await start(peft ? {} : { lora: null })
  const train = async (data: StageData, learning_rate: number) => {
    const seen: Record<string, number | null>[] = []
    const scored: number[] = []
    await trainStage({
      engine,
      data,
      settings: { ...DEFAULT_STAGE[data.kind], learning_rate, lr_scheduler_type: 'constant', per_device_train_batch_size: 2, num_train_epochs: 3 },
      gate: () => Promise.resolve(),
      onStep: (_step, _steps, metrics) => void seen.push(metrics),
      onScored: (batches) => void scored.push(batches),
      signal: new AbortController().signal,
    })
    return { seen, scored }
  }
  const sft = await train(SFT, 5e-3)
  expect(sft.seen.at(-1)?.['loss']).toBeLessThan((sft.seen[0]?.['loss'] ?? 0) * 0.98)
  const { seen, scored } = await train(DPO, 2e-3)
  expect(seen[0]).toMatchObject({ loss: expect.closeTo(Math.LN2, 6), 'rewards/accuracies': expect.any(Number) })
  expect(Math.abs(seen[0]?.['rewards/margins'] ?? 1)).toBeLessThan(1e-6)
  expect(seen.at(-1)?.['rewards/margins']).toBeGreaterThan(1e-3)
  // Every weight: the pairs of an epoch were scored before the first step; a LoRA has its frozen copy.
  expect(scored).toEqual(peft ? [] : [0, 1])
  await engine.dispose()
})

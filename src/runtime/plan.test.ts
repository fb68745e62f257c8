import { describe, expect, it } from 'vitest'
import { SHAPES } from '../../e2e/models/shapes'
import { DEFAULT_LORA } from '../core/config'
import { parseModelConfig } from '../model/config'
import { createEngine } from './create'
import { workBytes, workLayout } from './kernels/training-work'
import { adapterBytes, kvCacheBytes, planMemory, weightBytes } from './plan'
import { CONFIG, LORA, randomModel } from './testing/random-model'

const GB = 1e9
const settings = { lora: DEFAULT_LORA, precision: 'int4', slots: 8, contextLength: 768, microBatchTokens: 512 } as const
const qwen3 = parseModelConfig(SHAPES['qwen3-0.6b'])
const qwen25 = parseModelConfig(SHAPES['qwen2.5-0.5b'])

describe('the plan', () => {
  it('of Qwen3-0.6B at 4 bits, 8 slots of 768 tokens and training rows of 512 stays under 3.0 GB, of Qwen2.5-0.5B under 1.8 GB', () => {
    const [larger, smaller] = [planMemory({ ...settings, config: qwen3 }), planMemory({ ...settings, config: qwen25 })]
    expect(larger.kvCache).toBeGreaterThan(1.4 * GB)
    expect(larger.peak).toBeLessThan(3.0 * GB)
    expect(larger.peak).toBeGreaterThan(larger.weights + larger.adapter + larger.kvCache)
    expect(smaller.peak).toBeLessThan(1.8 * GB)
  })

  it('counts the base as 4.5 bytes for eight 4-bit weights and their scale’s share', () => {
    const all = 596_049_920
    expect(weightBytes(qwen3, 'int4') / all).toBeCloseTo(0.5 + 4 / 32, 3)
    expect(weightBytes(qwen3, 'int8') / all).toBeCloseTo(1 + 4 / 32, 3)
    expect(weightBytes(qwen3, 'float32') / all).toBeCloseTo(4, 3)
  })

  it('gives training the KV cache’s memory', () => {
    const plan = planMemory({ ...settings, config: qwen3 })
    expect(plan.peak).toBeLessThan(plan.weights + plan.adapter + plan.kvCache + plan.training)
  })

  it('grows with slots, context, micro-batch and precision', () => {
    const peak = (more: object): number => planMemory({ ...settings, config: qwen25, ...more }).peak
    const base = peak({})
    expect(peak({ contextLength: 4096, slots: 32 })).toBeGreaterThan(base * 2)
    expect(peak({ microBatchTokens: 2048 })).toBeGreaterThan(base * 1.1)
    expect(peak({ microBatchTokens: 2048, largestBinding: 0 })).toBeGreaterThan(peak({ largestBinding: 0 }) * 1.5)
    expect(peak({ precision: 'float32' })).toBeGreaterThan(base + 1.5 * GB)
  })

  it('of our training kernels needs less than onnxruntime’s graphs, which train where the GPU binds no buffer of that size', () => {
    for (const config of [qwen3, qwen25]) {
      const training = (largestBinding?: number): number => planMemory({ ...settings, config, ...(largestBinding !== undefined && { largestBinding }) }).training
      expect(training()).toBeLessThan(0.6 * training(0))
      expect(training(64e6)).toBe(training(0))
    }
  })

  it('says the largest single buffer', () => {
    const table = (151_936 * 1024) / 2
    expect(planMemory({ ...settings, config: qwen3, contextLength: 512 }).largestBuffer).toBe(table)
    expect(planMemory({ ...settings, config: qwen3, largestBinding: 0 }).largestBuffer).toBe(table)
    // The work of a row as long as the context.
    expect(planMemory({ ...settings, config: qwen3 }).largestBuffer).toBe(workBytes(workLayout(qwen3, DEFAULT_LORA), 768, true).work)
    expect(planMemory({ ...settings, config: qwen3, precision: 'float32' }).largestBuffer).toBe(151_936 * 1024 * 4)
  })
})

it('is what the engine allocates: weights, LoRA and moments, to the byte but for alignment', async () => {
  const config = { ...CONFIG, hidden_size: 64, intermediate_size: 96, vocab_size: 333 }
  for (const precision of ['float32', 'int8', 'int4'] as const) {
    const engine = await createEngine({
      source: randomModel(config), lora: LORA, precision, backend: 'wasm', threads: 1, slots: 3, contextLength: 256, modelName: 'random', ownKernels: false,
    })
    const spec = { config: parseModelConfig(config), lora: LORA, precision }
    const rope = 2 * 256 * 8 * 4
    const planned = weightBytes(spec.config, precision) + adapterBytes(spec) + rope + 3 * 64 * 4
    expect(Math.abs(engine.allocatedBytes - rope - (planned - rope)) / planned).toBeLessThan(0.1)
    await engine.dispose()
  }
})

it('counts keys and values of every slot and of the row that prompts are read into', () => {
  expect(kvCacheBytes(qwen3, 8, 768)).toBe(2 * 28 * 9 * 8 * 768 * 128 * 4)
})

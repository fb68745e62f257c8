/** What an engine says of itself, that it keeps no memory from step to step, and how it ends. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { NamedTensor } from '../core/engine'
import { countParameters } from '../model/parameters'
import { parseModelConfig } from '../model/config'
import { createEngine, type EngineInstance, type EngineOptions } from './create'
import { slopes } from './gradient-probe'
import { Sessions } from './sessions'
import { CONFIG, LORA, randomModel, smallBatch } from './testing/random-model'

const engines: EngineInstance[] = []
async function start(change: Partial<EngineOptions> = {}): Promise<EngineInstance> {
  const engine = await createEngine({ source: randomModel(), lora: LORA, backend: 'wasm', threads: 1, slots: 4, contextLength: 160, modelName: 'random', ...change })
  engines.push(engine)
  return engine
}
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.dispose()
})
const ADAM = { learning_rate: 1e-3, adam_beta1: 0.9, adam_beta2: 0.99, adam_epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 }
const plain = { temperature: 1, top_k: 0, top_p: 1, min_p: null }

describe('an engine', () => {
  it('says what it runs', async () => {
    const engine = await start()
    const trainable = (await engine.exportParameters()).reduce((n, { data }: NamedTensor) => n + data.length, 0)
    expect(engine.info).toEqual({
      backend: 'wasm', device: '1 thread', threads: 1, model: 'random', parameters: countParameters(parseModelConfig(CONFIG)), trainable, vocabSize: 64, ortVersion: '1.30.0',
    })
    expect(engine).toMatchObject({ slots: 4, contextLength: 160, lora: LORA, version: 0 })
  })

  it('trains every parameter without a LoRA', async () => {
    const engine = await start({ lora: null })
    expect(engine.lora).toBeNull()
    expect(engine.info.trainable).toBe(engine.info.parameters)
    expect((await engine.exportParameters()).map(({ name }) => name)).toContain('model.embed_tokens.weight')
  })

  it('of our own kernels samples and trains without onnxruntime, which takes longest to load', async () => {
    const asked = vi.spyOn(Sessions.prototype, 'get')
    const engine = await start()
    await engine.prefill(0, [1, 2, 3])
    await engine.decode([{ slot: 0, id: (await engine.sample([{ slot: 0, uniform: 0.5 }], plain))[0]?.id ?? 0 }])
    await engine.accumulate(smallBatch(), { temperature: 1 }, slopes)
    await engine.optimizerStep(ADAM)
    await engine.exportState()
    expect(asked).not.toHaveBeenCalled()
    await start({ ownKernels: false })
    expect(asked).toHaveBeenCalled()
    asked.mockRestore()
  })

  it('has no longer a context than the model', async () => {
    expect((await start({ contextLength: 100_000 })).contextLength).toBe(256)
  })

  it('counts its versions', async () => {
    const engine = await start()
    await engine.optimizerStep(ADAM)
    await engine.optimizerStep(ADAM)
    expect(engine.version).toBe(2)
    await engine.importParameters(await engine.exportParameters())
    expect(engine.version).toBe(3)
  })

  it('refuses a model that it does not know, by the field', async () => {
    await expect(start({ source: randomModel({ ...CONFIG, model_type: 'qwen3' }), lora: LORA })).resolves.toBeDefined()
    const source = { ...randomModel(), config: async () => ({ ...CONFIG, model_type: 'llama' }) }
    await expect(start({ source })).rejects.toMatchObject({ kind: 'model', message: expect.stringContaining('model_type') })
  })
})

describe('memory', () => {
  it.each([['a LoRA', LORA], ['all parameters', null]])('is flat over ten train steps and ten rounds of decoding, with %s', async (_name, lora) => {
    const engine = await start({ lora, microBatchTokens: 16 })
    const batch = smallBatch()
    const train = async (): Promise<number> => {
      if (lora) await engine.score(batch, { temperature: 1, adapter: 'off' })
      await engine.score(batch, { temperature: 1 })
      await engine.accumulate(batch, { temperature: 1 }, slopes)
      await engine.optimizerStep(ADAM)
      if (lora) engine.freezeReference()
      await engine.exportParameters()
      return engine.allocatedBytes
    }
    const decode = async (): Promise<number> => {
      engine.reset(0)
      await engine.prefill(0, [1, 2, 3])
      await engine.copy(0, [1, 2])
      await engine.decode([{ slot: 0, id: 1 }, { slot: 2, id: 1 }])
      await engine.sample([{ slot: 0, uniform: 0.5 }], plain)
      await engine.sample([{ slot: 1, uniform: 0.5 }], { ...plain, top_k: 3 })
      return engine.allocatedBytes
    }
    await train()
    const flat = await decode()
    const seen: number[] = []
    for (let k = 0; k < 10; k++) seen.push(await train(), await decode())
    expect(seen).toEqual(seen.map(() => flat))
  })

  it('is the same after a refused call as before it', async () => {
    const engine = await start()
    await engine.prefill(0, [1])
    await engine.score(smallBatch(), { temperature: 1 })
    const before = engine.allocatedBytes
    await expect(engine.prefill(0, new Array<number>(200).fill(1))).rejects.toThrow()
    await expect(engine.accumulate(smallBatch(), { temperature: 1 }, () => { throw new Error('the loss failed') })).rejects.toThrow('the loss failed')
    expect(engine.allocatedBytes).toBe(before)
    // And the engine goes on.
    await engine.accumulate(smallBatch(), { temperature: 1 }, slopes)
    expect((await engine.optimizerStep(ADAM)).grad_norm).toBeGreaterThan(0)
  })

  it('is all given back at the end, after what was under way', async () => {
    const engine = await start()
    const [last] = [engine.score(smallBatch(), { temperature: 1 })]
    await engine.dispose()
    expect((await last)[0]?.logprobs[12]).toBeLessThan(0)
    expect(engine.allocatedBytes).toBe(0)
    engines.splice(0)
  })
})

it('two engines live side by side', async () => {
  const [one, two] = [await start({ seed: 1 }), await start({ seed: 2, lora: { ...LORA, target_modules: ['q_proj'] } })]
  await Promise.all([
    one.prefill(0, [1, 2, 3]).then(() => one.decode([{ slot: 0, id: 4 }])),
    two.prefill(0, [1, 2, 3]).then(() => two.decode([{ slot: 0, id: 4 }])),
  ])
  const [a, b] = await Promise.all([one, two].map((engine) => engine.sample([{ slot: 0, uniform: 0.5 }], plain)))
  // Both adapters are fresh, so both are the base model.
  expect(a?.[0]?.id).toBe(b?.[0]?.id)
  expect(a?.[0]?.logprob).toBeCloseTo(b?.[0]?.logprob as number, 5)
})

describe('a cache that holds numbers that are not finite', () => {
  it('is forgotten when the adapter is reset', async () => {
    const engine = await start()
    const huge = (await engine.exportParameters()).map((tensor) => ({ ...tensor, data: tensor.data.map(() => 1e30) }))
    await engine.importParameters(huge)
    await engine.prefill(0, Array.from({ length: 40 }, (_, i) => i + 1))
    await expect(engine.sample([{ slot: 0, uniform: 0.5 }], plain)).rejects.toMatchObject({ kind: 'non-finite' })
    engine.resetAdapter(1)
    await engine.prefill(0, [1, 2, 3])
    await engine.decode([{ slot: 0, id: 4 }])
    expect((await engine.sample([{ slot: 0, uniform: 0.5 }], plain))[0]?.logprob).toBeLessThanOrEqual(0)
  })
})

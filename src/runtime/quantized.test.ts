/** A base of codes against the same values as float32: every score, sample and gradient must agree, whatever the head is divided into. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Precision } from '../core/config'
import type { Engine, NamedTensor, TrainSequence } from '../core/engine'
import { readTensor, type WeightSource } from '../core/weights'
import { memorySource } from '../hub/memory-source'
import { isMatrix } from '../model/parameters'
import { dequantizeRows, quantize } from '../model/quantize'
import { createEngine, type EngineOptions } from './create'
import { readGradients, slopes } from './gradient-probe'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter, randomModel, smallBatch } from './testing/random-model'

const SHAPE = { hidden_size: 64, intermediate_size: 96, vocab_size: 333 }
const MODELS = { qwen3: { ...CONFIG, ...SHAPE }, qwen2: { ...QWEN2_CONFIG, ...SHAPE } }

/** The values that the codes stand for, as a float32 model. */
async function dequantized(source: WeightSource, bits: 4 | 8): Promise<WeightSource> {
  const tensors: NamedTensor[] = []
  for (const name of (await source.tensors()).keys()) {
    const tensor = await readTensor(source, name)
    tensors.push({ name, ...tensor, data: isMatrix(name) ? dequantizeRows(quantize(tensor.data, bits, name), bits) : tensor.data })
  }
  return memorySource(await source.config(), tensors)
}

async function make(source: WeightSource, precision: Precision, more: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = await createEngine({
    source, precision, lora: LORA, backend: 'wasm', threads: 1, slots: 3, contextLength: 64, modelName: 'random', seed: 1, ...more,
  })
  await engine.importParameters(randomAdapter(await engine.exportParameters()))
  return engine
}

/** The gradient of a weighted sum of log-probs and entropies; the parameters are as before. */
async function gradient(engine: Engine, batch: readonly TrainSequence[]): Promise<NamedTensor[]> {
  const before = await engine.exportParameters()
  await engine.accumulate(batch, { temperature: 0.7 }, slopes)
  const { gradients } = await readGradients(engine)
  await engine.importParameters(before)
  return gradients
}

function relative(a: readonly NamedTensor[], b: readonly NamedTensor[]): number {
  let [difference, size] = [0, 0]
  a.forEach(({ data }, i) => data.forEach((x, k) => {
    difference += (x - (b[i]?.data[k] as number)) ** 2
    size += x * x
  }))
  expect(size).toBeGreaterThan(0)
  return Math.sqrt(difference / size)
}

const spread = (a: ArrayLike<number>, b: ArrayLike<number>): number => Math.max(...Array.from(a, (x, i) => Math.abs(x - (b[i] as number))))

describe.each(Object.entries(MODELS))('%s', (_, config) => {
  describe.each([['int4', 4] as const, ['int8', 8] as const])('%s', (precision, bits) => {
    let quantised: Engine
    let divided: Engine
    let plain: Engine
    const batch = smallBatch(SHAPE.vocab_size)

    beforeAll(async () => {
      const source = randomModel(config)
      quantised = await make(source, precision)
      divided = await make(source, precision, { headLimits: { logits: 700, table: 64 * 100, rows: 4 } })
      plain = await make(await dequantized(source, bits), 'float32', { ownKernels: false })
    })
    afterAll(() => Promise.all([quantised.dispose(), divided.dispose(), plain.dispose()]))

    it.each([1, 0.7])('scores as float32 does at temperature %s', async (temperature) => {
      const expected = await plain.score(batch, { temperature })
      for (const engine of [quantised, divided]) {
        const found = await engine.score(batch, { temperature })
        found.forEach(({ logprobs, entropies, argmax, meanLogits }, i) => {
          expect(spread(logprobs, expected[i]?.logprobs ?? [])).toBeLessThan(2e-5)
          expect(spread(entropies, expected[i]?.entropies ?? [])).toBeLessThan(2e-5)
          expect(meanLogits?.some((mean) => mean !== 0)).toBe(true)
          expect(spread(meanLogits ?? [], expected[i]?.meanLogits ?? [])).toBeLessThan(2e-5)
          expect([...argmax]).toEqual([...(expected[i]?.argmax ?? [])])
        })
      }
    })

    it('has the gradient of float32', async () => {
      const expected = await gradient(plain, batch)
      for (const engine of [quantised, divided]) expect(relative(expected, await gradient(engine, batch))).toBeLessThan(2e-5)
    })

    it('samples what float32 samples, with the log-prob that scoring gives', async () => {
      const params = { temperature: 1, top_k: 0, top_p: 1, min_p: null }
      const run = async (engine: Engine): Promise<{ ids: number[]; logprobs: number[] }> => {
        const ids = [...(batch[0]?.ids.slice(0, 5) ?? [])]
        const logprobs: number[] = []
        engine.reset(1)
        await engine.prefill(1, ids)
        for (const uniform of [0.1, 0.5, 0.9, 0.3]) {
          const [token] = await engine.sample([{ slot: 1, uniform }], params)
          ids.push(token?.id as number)
          logprobs.push(token?.logprob as number)
          await engine.decode([{ slot: 1, id: token?.id as number }])
        }
        return { ids, logprobs }
      }
      const [found, expected] = [await run(quantised), await run(plain)]
      expect(found.ids).toEqual(expected.ids)
      const [scores] = await quantised.score([{ ids: found.ids, mask: found.ids.map((_, t) => (t >= 5 ? 1 : 0)) }], { temperature: 1 })
      expect(spread(found.logprobs, scores?.logprobs.slice(5) ?? [])).toBeLessThan(2e-5)
    })
  })
})

it('refuses full-parameter training of codes', async () => {
  await expect(make(randomModel(MODELS.qwen3), 'int4', { lora: null })).rejects.toThrow('Full-parameter training cannot have precision int4')
})

/** The sampler's distributions (KV cache, ragged slots, copies) against transformers on the whole sequence. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_LORA, type LoraConfig } from '../../src/core/config'
import type { Engine, SampledToken, SamplingParams } from '../../src/core/engine'
import { modelCases, models, referenceEngine } from './engine-case'
import { referenceTensors } from './reference'

const unfiltered = (temperature: number): SamplingParams => ({ temperature, top_p: 1, top_k: 0, min_p: null })

function entropy(logs: Float32Array): number {
  return -logs.reduce((sum, log) => sum + Math.exp(log) * log, 0)
}

/** Token ids by falling log-probability. */
function ranking(logs: Float32Array): number[] {
  return [...logs.keys()].sort((a, b) => (logs[b] as number) - (logs[a] as number))
}

function expectSample(sampled: SampledToken | undefined, logs: Float32Array): void {
  if (!sampled) throw new Error('no token was sampled')
  expect(Math.abs(sampled.logprob - (logs[sampled.id] as number))).toBeLessThan(1e-4)
  expect(Math.abs(sampled.entropy - entropy(logs))).toBeLessThan(1e-4)
  const best = ranking(logs).slice(0, 5)
  expect(sampled.top.map(({ id }) => id)).toEqual(best)
  sampled.top.forEach(({ prob }, i) => expect(Math.abs(prob - Math.exp(logs[best[i] as number] as number))).toBeLessThan(1e-4))
}

describe.each(models)('%s', (model) => {
  const { ids, file } = modelCases(model).sampler
  const tensors = new Map(referenceTensors(file).map((tensor) => [tensor.name, tensor]))

  /** Next-token log-probs after ids[0 … length). */
  function next(length: number, temperature: number): Float32Array {
    const tensor = tensors.get(`temperature-${temperature.toFixed(1)}`)
    const vocab = tensor?.dims[1] ?? 0
    return tensor?.data.subarray((length - 1) * vocab, length * vocab) ?? new Float32Array(0)
  }

  // A fresh LoRA's B is 0, so the engine samples from the base model, through another graph.
  describe.each<[string, LoraConfig | null]>([
    ['full parameters', null],
    ['a fresh LoRA', DEFAULT_LORA],
  ])('%s', (_, lora) => {
    let engine: Engine
    beforeAll(async () => {
      engine = await referenceEngine(model, lora)
    })
    afterAll(() => engine?.dispose())

    it('prefill in parts, copies and decoding in ragged batches', async () => {
      await engine.prefill(0, ids.slice(0, 5))
      await engine.prefill(0, ids.slice(5, 9))
      await engine.prefill(1, ids.slice(0, 1))
      await engine.copy(0, [2, 3])
      await engine.prefill(3, ids.slice(9, 14))
      const lengths = [9, 1, 9, 14]
      for (;;) {
        const open = lengths.flatMap((length, slot) => (length < ids.length ? [slot] : []))
        for (const temperature of [1, 0.7]) {
          const sampled = await engine.sample(
            lengths.map((_length, slot) => ({ slot, uniform: (slot + 0.5) / 4 })),
            unfiltered(temperature),
          )
          lengths.forEach((length, slot) => expectSample(sampled[slot], next(length, temperature)))
        }
        expect(lengths.map((_length, slot) => engine.length(slot))).toEqual(lengths)
        if (open.length === 0) break
        await engine.decode(open.map((slot) => ({ slot, id: ids[lengths[slot] as number] as number })))
        for (const slot of open) lengths[slot] = (lengths[slot] as number) + 1
      }
    })

    it('greedy is the likeliest token with its log-prob at temperature 1', async () => {
      engine.reset(0)
      await engine.prefill(0, ids)
      const [sampled] = await engine.sample([{ slot: 0, uniform: 0.99 }], unfiltered(0))
      const logs = next(ids.length, 1)
      expect(sampled?.id).toBe(ranking(logs)[0])
      expectSample(sampled, logs)
    })

    it('evenly spread uniforms give every token its share, and filters only what they let through', async () => {
      const logs = next(ids.length, 1)
      const draws = 400
      const shares = async (params: SamplingParams) => {
        const counts = new Float64Array(logs.length)
        for (let k = 0; k < draws; k += 4) {
          const requests = [0, 1, 2, 3].map((slot) => ({ slot, uniform: (k + slot + 0.5) / draws }))
          for (const { id, logprob } of await engine.sample(requests, params)) {
            counts[id] = (counts[id] as number) + 1
            expect(Math.abs(logprob - (logs[id] as number))).toBeLessThan(1e-4)
          }
        }
        return counts
      }
      engine.reset(0)
      await engine.prefill(0, ids)
      await engine.copy(0, [1, 2, 3])
      const plain = await shares(unfiltered(1))
      plain.forEach((count, id) => expect(Math.abs(count - draws * Math.exp(logs[id] as number))).toBeLessThan(1.01))

      const kept = ranking(logs).slice(0, 3)
      const mass = kept.reduce((sum, id) => sum + Math.exp(logs[id] as number), 0)
      const filtered = await shares({ ...unfiltered(1), top_k: 3 })
      filtered.forEach((count, id) => {
        const expected = kept.includes(id) ? (draws * Math.exp(logs[id] as number)) / mass : 0
        expect(Math.abs(count - expected)).toBeLessThan(1.01)
      })
    })
  })
})

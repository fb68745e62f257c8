/** Two engines' numbers become a self-check, seconds become rates, figures become rows. */

import { describe, expect, it } from 'vitest'
import type { RunResult } from '../browser/modules/engine-run'
import type { GpuFigures, GpuRequest } from '../models/gpu-run'
import { adapterRows, agrees, compareEngines, modelRows, rateRow, selfCheckRows } from './_gpu-rows'

const draw = (id: number) => ({ id, logprob: -1, entropy: 1, top: [] })
const result = (more: Partial<RunResult> = {}): RunResult => ({
  info: { backend: 'wasm', device: '1 thread', threads: 1, model: 'random', parameters: 1, trainable: 1, vocabSize: 64, ortVersion: '1' },
  isolated: true,
  logprobs: [[0, -1.5], [-2]],
  entropies: [],
  argmax: [],
  gradients: { a: [3, 4], b: [1, 0] },
  grad_norm: 1,
  stepped: {},
  sampled: [[draw(1), draw(2)], [draw(3)]],
  kernelDecodes: 0,
  kernelBatches: 0,
  bytes: [],
  seconds: {},
  ...more,
})

describe('the self-check', () => {
  it('finds the largest difference of a log-prob, the worst gradient and other draws', () => {
    const gpu = result({ logprobs: [[0, -1.25], [-2.125]], gradients: { a: [3, 4.5], b: [1, 0] }, sampled: [[draw(1), draw(9)], [draw(3)]] })
    const check = compareEngines(gpu, result())
    expect(check).toEqual({ logprob: 0.25, gradient: 0.1, otherDraws: 1, draws: 3 })
    expect(agrees(check)).toBe(false)
    expect(selfCheckRows('int4', check).map(({ row, value }) => [row, value])).toEqual([
      ['self-check/int4/log-prob against WASM', 0.25],
      ['self-check/int4/gradient against WASM', 0.1],
      ['self-check/int4/other draws of 3', 1],
    ])
  })

  it('passes equal numbers, and no number that is none or missing', () => {
    expect(agrees(compareEngines(result(), result()))).toBe(true)
    const all: Partial<RunResult>[] = [
      { logprobs: [[0, NaN], [-2]] }, { logprobs: [[0, -1.5]] }, { gradients: { a: [3, 4] } }, { gradients: { a: [3, NaN], b: [1, 0] } }, { sampled: [] },
    ]
    for (const broken of all) {
      expect(agrees(compareEngines(result(broken), result())), JSON.stringify(broken)).toBe(false)
    }
  })
})

describe('rates', () => {
  it('are medians with the range', () => {
    expect(rateRow('m/decode', 10, [2, 4, 1])).toEqual({ bench: 'gpu', row: 'm/decode', value: 5, unit: 'tokens/s', spread: [2.5, 10] })
    expect(rateRow('m/decode', 10, [1, 2])).toMatchObject({ value: 7.5, spread: [5, 10] })
    expect(() => rateRow('m/decode', 10, [])).toThrow('m/decode was not measured')
  })

  it('of several slots count the tokens of all', () => {
    const several: GpuRequest = {
      model: 'qwen3-0.6b', precision: 'int4', slots: 8, contextLength: 768, microBatchTokens: 512, prompt: 256, decode: 64, repeats: 1, train: { sequences: 8, tokens: 512 },
      longestContext: 4096,
    }
    const one: GpuRequest = { ...several, slots: 1, train: null, longestContext: 0 }
    const figures: GpuFigures = { load: 9, prefill: [2], decode: [4], train: [8], peak: 2.2e9, maxContext: 2048 }
    const rows = modelRows({ request: one, figures: { ...figures, train: [], maxContext: null } }, { request: several, figures }, 2e9)
    expect(Object.fromEntries(rows.map(({ row, value }) => [row, value]))).toEqual({
      'qwen3-0.6b/load': 9,
      'qwen3-0.6b/prefill of 256': 128,
      'qwen3-0.6b/decode, 1 slot': 16,
      'qwen3-0.6b/decode, 8 slots': 128,
      'qwen3-0.6b/training on 8 x 512': 512,
      'qwen3-0.6b/memory': 2.2,
      'qwen3-0.6b/longest context of 8 slots': 2048,
    })
    expect(rows.find(({ row }) => row === 'qwen3-0.6b/memory')).toMatchObject({ unit: 'GB', peer: 'planMemory', peerValue: 2, ratio: 1.1 })
  })
})

it('an adapter is named in its rows', () => {
  const rows = adapterRows({ name: 'Some GPU', software: false, maxBufferSize: 4e9, maxStorageBufferBindingSize: 2e9, features: [] })
  expect(rows.map(({ row, value, unit }) => [row, value, unit])).toEqual([['Some GPU/largest buffer', 4, 'GB'], ['Some GPU/largest binding', 2, 'GB']])
})

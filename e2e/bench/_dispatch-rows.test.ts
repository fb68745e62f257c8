/** Counts of two small models become figures per layer and of the real depth. */

import { describe, expect, it } from 'vitest'
import type { ArtifactName } from '../../src/artifacts/spec'
import type { DispatchCounts } from '../models/dispatch-run'
import { blockRows, headRows, modelRows, summarize, summarizeHead } from './_dispatch-rows'

const counts = (dispatches: { [name in ArtifactName]?: number }): DispatchCounts =>
  Object.fromEntries(Object.entries(dispatches).map(([name, n = 0]) => [name, { dispatches: n, runs: 1 }]))

const common = { embed: 1, block_forward_1: 40, block_backward_1: 160, accumulate: 2, grad_norm: 3, adamw: 14 }
const few = { layers: 1, counts: counts({ ...common, decode: 37, prefill: 39 }) }
const many = { layers: 3, counts: counts({ decode: 105, prefill: 109 }) }
const head = summarizeHead(
  counts({ head_sample: 86, head_sample_filtered: 213, head_forward_part: 13, head_backward_start: 5, head_backward_part: 12, head_backward_end: 9 }),
)
const values = (rows: readonly { row: string; value?: number }[]) => Object.fromEntries(rows.map(({ row, value }) => [row, value]))

describe('dispatches', () => {
  it('of a layer are what two layers more take, halved', () => {
    expect(values(blockRows('qwen3/int4', summarize(few, many)))).toEqual({
      'qwen3/int4/decode per layer': 34,
      'qwen3/int4/decode besides layers': 4,
      'qwen3/int4/prefill per layer': 35,
      'qwen3/int4/training per layer': 200,
      'qwen3/int4/block_forward': 40,
      'qwen3/int4/block_backward': 160,
    })
  })

  it('of the head in training are those of all its parts', () => {
    expect(values(headRows('int4', head, 20))).toEqual({
      'head/int4/sample': 86,
      'head/int4/sample filtered': 213,
      'head/int4/forward, 20 parts': 260,
      'head/int4/backward, 20 parts': 254,
    })
  })

  it('of a model are those of its layers, embedding and head', () => {
    const rows = modelRows('qwen3-0.6b', 28, summarize(few, many), head, 20)
    expect(values(rows)).toEqual({
      'qwen3-0.6b/decoded token of all slots': 1 + 3 + 28 * 34 + 86,
      'qwen3-0.6b/training micro-batch': 1 + 28 * 200 + 20 * 25 + 14 + 2,
      'qwen3-0.6b/optimizer step': 17,
    })
    expect(rows.every(({ bench, unit }) => bench === 'dispatches' && unit === 'dispatches')).toBe(true)
  })

  it('are not made up: an artifact that did not run, or layers that differ, end it', () => {
    expect(() => summarize(few, { layers: 3, counts: counts({ decode: 105 }) })).toThrow('prefill did not run')
    expect(() => summarize(few, { layers: 3, counts: counts({ decode: 104, prefill: 109 }) })).toThrow('decode took 33.5 dispatches a layer')
    expect(() => summarizeHead(counts({ head_sample: 86 }))).toThrow('head_sample_filtered did not run')
  })
})

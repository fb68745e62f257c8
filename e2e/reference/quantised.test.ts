/** Weights as 4- and 8-bit blocks against numpy's, code by code, and the engine on them against torch on the same dequantised weights. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTensor } from '../../src/core/weights'
import { dequantizeRows, quantize } from '../../src/model/quantize'
import type { Hub } from '../hub/server'
import { openRepo, precisionCase, repoCases, repoEngine, repos, serveRepos } from './hub-case'
import { testRepo } from './hub-suite'
import { referenceTensors } from './reference'

const PRECISIONS = [['int8', 8] as const, ['int4', 4] as const]

/** The first place at which values differ at all (0 and −0 do not), as text; null when none does. */
function firstDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): string | null {
  if (ours.length !== theirs.length) return `${ours.length} values, not ${theirs.length}`
  for (let i = 0; i < ours.length; i++) if (ours[i] !== theirs[i]) return `at ${i}: ${ours[i]}, not ${theirs[i]}`
  return null
}

/** One code an element; of 4 bits the first of two stands in the low half. */
function unpack(codes: Uint8Array, bits: 4 | 8): Uint8Array {
  return bits === 8 ? codes : Uint8Array.from({ length: codes.length * 2 }, (_, i) => ((codes[i >> 1] as number) >> (4 * (i & 1))) & 15)
}

let hub: Hub
beforeAll(async () => {
  hub = await serveRepos()
})
afterAll(() => hub?.stop())

describe.each(PRECISIONS)('%s', (precision, bits) => {
  it('codes, scales and values of ties, halves, zeros and extremes are numpy’s to the bit', () => {
    const tensors = new Map(referenceTensors('quantised/edges.safetensors').map(({ name, data }) => [name, data]))
    const theirs = (name: string): Float32Array => tensors.get(name) ?? new Float32Array(0)
    const rows = quantize(theirs('weight'), bits, 'weight')
    expect(rows.codes.length).toBeGreaterThan(0)
    expect(firstDifference(rows.scales, theirs(`${precision}.scales`))).toBe(null)
    expect(firstDifference(unpack(rows.codes, bits), theirs(`${precision}.codes`))).toBe(null)
    expect(firstDifference(dequantizeRows(rows, bits), theirs(`${precision}.weight`))).toBe(null)
  })

  describe.each(repos)('%s', (repo) => {
    it('dequantises every matrix of the file to numpy’s bits', async () => {
      const source = await openRepo(hub, repo)
      const config = (await source.config()) as { num_hidden_layers: number; tie_word_embeddings: boolean }
      const theirs = referenceTensors(`${precisionCase(repo, precision).folder}/weights.safetensors`)
      expect(theirs.length).toBe(7 * config.num_hidden_layers + (config.tie_word_embeddings ? 1 : 2))
      for (const { name, data } of theirs) {
        const saved = await readTensor(source, name)
        expect(firstDifference(dequantizeRows(quantize(saved.data, bits, name), bits), data), name).toBe(null)
      }
    })

    // The demand is 1e-3; float32's own noise is below 1e-4, and activations rounded to 8 bits would be far above.
    testRepo(repo, precision, 2e-4, async () => repoEngine(await openRepo(hub, repo), repo, repoCases(repo).lora, precision))
  })
})

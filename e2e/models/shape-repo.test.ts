/** The generated safetensors file is one that our own reader takes, and its bytes do not depend on how they are asked for. */

import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { readSafetensorsHeader } from '../../src/hub/safetensors'
import { CONFIG, QWEN2_CONFIG } from '../../src/runtime/testing/random-model'
import { SHAPES } from './shapes'
import { shapeSafetensors } from './shape-repo'

it('is a safetensors file of bf16 with the tied head twice, the same in any pieces', async () => {
  const file = shapeSafetensors(CONFIG)
  const whole = await file.read(0, file.size)
  expect(createHash('sha256').update(whole).digest('hex')).toBe(file.sha256)
  for (const step of [1, 999, 4096]) {
    const parts: Uint8Array[] = []
    for (let at = 0; at < Math.min(file.size, 50_000); at += step) parts.push(await file.read(at, Math.min(file.size, at + step)))
    const joined = Buffer.concat(parts)
    expect(joined.equals(whole.subarray(0, joined.length)), `in pieces of ${step}`).toBe(true)
  }
  const { entries, dataStart } = readSafetensorsHeader(whole, file.size)
  expect(entries.get('lm_head.weight')).toMatchObject({ dtype: 'BF16', dims: [64, 32], begin: 0 })
  expect(entries.get('model.embed_tokens.weight')?.dims).toEqual([64, 32])
  const valueAt = (at: number): number => new Float32Array(Uint32Array.of(new DataView(whole.buffer).getUint16(at, true) << 16).buffer)[0] as number
  const { begin, end } = entries.get('model.norm.weight') as { begin: number; end: number }
  for (let at = dataStart + begin; at < dataStart + end; at += 2) expect(valueAt(at)).toBe(1)
  const { begin: from } = entries.get('model.layers.1.mlp.up_proj.weight') as { begin: number }
  const values = Array.from({ length: 1000 }, (_, i) => valueAt(dataStart + from + 2 * i))
  expect(Math.sqrt(values.reduce((sum, x) => sum + x * x, 0) / 1000)).toBeCloseTo(0.02, 2)
  expect(new Set(values).size).toBeGreaterThan(400)
})

it('has an untied head once', async () => {
  const file = shapeSafetensors(QWEN2_CONFIG)
  const { entries } = readSafetensorsHeader(await file.read(0, file.size), file.size)
  expect([...entries.keys()].filter((name) => name === 'lm_head.weight')).toHaveLength(1)
})

it('has the size of the real Qwen3-0.6B', () => {
  expect(shapeSafetensors(SHAPES['qwen3-0.6b']).size).toBeCloseTo(1_503_300_328, -5)
}, 60_000)

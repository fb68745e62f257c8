/** A decoder layer: causal as its bias says, and its backward graph is the slope of its forward graph for every trained tensor. */

import { describe, expect, it } from 'vitest'
import { blockBackward, blockForward, trainedBlockTensors } from '../artifacts/blocks'
import type { ArtifactSpec } from '../artifacts/spec'
import type { LoraConfig } from '../core/config'
import { RandomStream } from '../core/random'
import { type Numbers, runnable } from '../runtime/testing/run-graph'
import { parseModelConfig } from './config'
import { blockParameters, elements, loraParameters } from './parameters'
import { QWEN25_05B, QWEN3_06B } from './testing/configs'

const sizes = { hidden_size: 32, num_hidden_layers: 1, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16, intermediate_size: 24, vocab_size: 40 }
const all: LoraConfig = { r: 3, lora_alpha: 6, use_rslora: false, target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] }
const [BATCH, TOKENS] = [2, 5]
const specs: [string, ArtifactSpec][] = [
  ['Qwen3 with a LoRA', { config: parseModelConfig({ ...QWEN3_06B, ...sizes }), lora: all, precision: 'float32' }],
  ['Qwen3, all parameters', { config: parseModelConfig({ ...QWEN3_06B, ...sizes }), lora: null, precision: 'float32' }],
  ['Qwen2 with rsLoRA on k and down', { config: parseModelConfig({ ...QWEN25_05B, ...sizes }), lora: { ...all, use_rslora: true, target_modules: ['k_proj', 'down_proj'] }, precision: 'float32' }],
  ['Qwen2, all parameters', { config: parseModelConfig({ ...QWEN25_05B, ...sizes }), lora: null, precision: 'float32' }],
]

function feedsOf({ config, lora }: ArtifactSpec): { feeds: Record<string, Numbers>; dims: Record<string, number[]> } {
  const random = new RandomStream(5)
  const normal = (n: number, size: number, mean = 0): Float32Array => Float32Array.from({ length: n }, () => mean + size * random.normal())
  const feeds: Record<string, Numbers> = { x: normal(BATCH * TOKENS * 32, 1), dy: normal(BATCH * TOKENS * 32, 1) }
  for (const { name, dims } of [...blockParameters(config), ...(lora ? loraParameters(config, lora) : [])]) {
    const norm = /norm/.test(name)
    feeds[name] = normal(elements(dims), norm ? 0.2 : 0.25, norm ? 1 : 0)
  }
  const angles = Array.from({ length: TOKENS * 8 }, (_, i) => Math.floor(i / 8) / 10 ** ((i % 8) / 4))
  feeds.cos = Float32Array.from(angles, Math.cos)
  feeds.sin = Float32Array.from(angles, Math.sin)
  // Row 0 is plain; in row 1 token 3 is a second branch behind tokens 0 and 1.
  feeds.positions = BigInt64Array.from([0, 1, 2, 3, 4, 0, 1, 2, 2, 3], BigInt)
  const branches = [[0, 0, 0, 0, 0], [0, 0, 1, 2, 2]]
  feeds.bias = Float32Array.from(branches.flatMap((row) => row.flatMap((own, i) => row.map((other, j) => (j <= i && (other === 0 || other === own) ? 0 : -1e9)))))
  const rows = [BATCH * TOKENS, 32]
  return { feeds, dims: { x: rows, dy: rows, positions: [BATCH, TOKENS], bias: [BATCH, 1, TOKENS, TOKENS], cos: [TOKENS, 8], sin: [TOKENS, 8] } }
}

const without = (feeds: Record<string, Numbers>, name: string): Record<string, Numbers> => Object.fromEntries(Object.entries(feeds).filter(([key]) => key !== name))

describe.each(specs)('%s', (_name, spec) => {
  it('lets a token see what the bias allows, and nothing else', async () => {
    const session = await runnable(blockForward(spec, BATCH))
    const { feeds, dims } = feedsOf(spec)
    const { dy: _dy, ...inputs } = feeds
    const { dy: _rows, ...shapes } = dims
    const run = async (): Promise<Float32Array> => (await session.run(inputs, shapes)).y?.data as Float32Array
    const before = await run()
    /** Tokens (over both rows) whose output moves when one token's input does. */
    const moved = async (token: number): Promise<number[]> => {
      const x = feeds.x as Float32Array
      const held = x.slice()
      for (let k = 0; k < 32; k++) x[token * 32 + k] = -(x[token * 32 + k] as number)
      const after = await run()
      x.set(held)
      return Array.from({ length: BATCH * TOKENS }, (_, t) => t).filter((t) => before.subarray(t * 32, (t + 1) * 32).some((value, k) => value !== after[t * 32 + k]))
    }
    expect(await moved(0)).toEqual([0, 1, 2, 3, 4])
    expect(await moved(3)).toEqual([3, 4])
    expect(await moved(6)).toEqual([6, 7, 8, 9])
    expect(await moved(7)).toEqual([7])
    expect(await moved(8)).toEqual([8, 9])
    await session.release()
  })

  it('has the slopes that differences show', async () => {
    const [forward, backward] = [await runnable(blockForward(spec, BATCH)), await runnable(blockBackward(spec, BATCH))]
    const { feeds, dims } = feedsOf(spec)
    const gradients = await backward.run(feeds, dims)
    const inputs = without(feeds, 'dy')
    const shapes = Object.fromEntries(Object.entries(dims).filter(([name]) => name !== 'dy'))
    const loss = async (): Promise<number> => ((await forward.run(inputs, shapes)).y?.data as Float32Array).reduce((sum, y, i) => sum + y * (feeds.dy?.[i] as number), 0)
    const trained = ['x', ...trainedBlockTensors(spec).map(({ name }) => name)]
    expect(Object.keys(gradients)).toEqual(trained.map((name) => (name === 'x' ? 'dx' : `d.${name}`)))
    for (const name of trained) {
      const [values, gradient] = [feeds[name] as Float32Array, gradients[name === 'x' ? 'dx' : `d.${name}`]?.data as Float32Array]
      expect(gradient).toHaveLength(values.length)
      const length = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0))
      expect(length, name).toBeGreaterThan(1e-2)
      const held = values.slice()
      // Along the gradient, where the slope is largest, and along a direction in which every number counts alike.
      const random = new RandomStream(9, values.length)
      const signs = gradient.map(() => (random.next() < 0.5 ? -1 : 1) / Math.sqrt(values.length))
      for (const direction of [gradient.map((g) => g / length), signs]) {
        const at = async (step: number): Promise<number> => {
          held.forEach((value, i) => (values[i] = value + step * (direction[i] as number)))
          const value = await loss()
          values.set(held)
          return value
        }
        const h = 0.02
        const slope = (8 * ((await at(h)) - (await at(-h))) - ((await at(2 * h)) - (await at(-2 * h)))) / (12 * h)
        const expected = gradient.reduce((sum, g, i) => sum + g * (direction[i] as number), 0)
        expect(Math.abs(slope - expected) / length, name).toBeLessThan(1e-3)
      }
    }
    await forward.release()
    await backward.release()
  })
})

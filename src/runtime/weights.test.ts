import { describe, expect, it } from 'vitest'
import type { WeightSource } from '../core/weights'
import { parseModelConfig } from '../model/config'
import { countParameters, elements } from '../model/parameters'
import { CONFIG, QWEN2_CONFIG, randomModel } from './testing/random-model'
import { baseTensors, frozenWeights, readWeights, ropeTables } from './weights'

const config = parseModelConfig(CONFIG)

describe('readWeights', () => {
  it('reads every tensor of the model and no other', async () => {
    const weights = await readWeights(randomModel(), config)
    expect([...weights.keys()]).toEqual(baseTensors(config).map(({ name }) => name))
    expect([...weights.values()].reduce((n, data) => n + data.length, 0)).toBe(countParameters(config))
  })

  it('says which tensor has another shape, and both shapes', async () => {
    const good = randomModel()
    const bad: WeightSource = {
      ...good,
      tensors: async () => new Map([...(await good.tensors())].map(([name, dims]) => [name, name.endsWith('layers.1.mlp.up_proj.weight') ? [...dims].reverse() : dims])),
    }
    await expect(readWeights(bad, config)).rejects.toMatchObject({
      kind: 'model',
      message: expect.stringMatching(/model\.layers\.1\.mlp\.up_proj\.weight.*\[32, 48\].*\[48, 32\]/),
    })
  })

  it('passes on the source’s error for a missing tensor', async () => {
    await expect(readWeights(randomModel(), parseModelConfig(QWEN2_CONFIG))).rejects.toThrow('lm_head.weight')
  })
})

it('bakes the embedding as head of a tied model, and the head of an untied one', async () => {
  const tied = frozenWeights(await readWeights(randomModel(), config), config)
  expect(tied.head).toBe(tied.table)
  const qwen2 = parseModelConfig(QWEN2_CONFIG)
  const untied = frozenWeights(await readWeights(randomModel(QWEN2_CONFIG), qwen2), qwen2)
  expect(untied.head).not.toBe(untied.table)
  expect(untied.block(1, 'self_attn.q_proj.bias')).toHaveLength(64)
})

it('rotates by position · theta^(−2i / head_dim)', () => {
  const { cos, sin, dims } = ropeTables(config, 5)
  expect(dims).toEqual([5, 8])
  expect(cos).toHaveLength(elements(dims))
  for (const [position, i] of [[0, 0], [1, 0], [3, 2], [4, 7]] as const) {
    const angle = position * 10_000 ** ((-2 * i) / 16)
    expect(cos[position * 8 + i]).toBeCloseTo(Math.cos(angle), 6)
    expect(sin[position * 8 + i]).toBeCloseTo(Math.sin(angle), 6)
  }
})

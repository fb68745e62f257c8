import { describe, expect, it } from 'vitest'
import type { Precision } from '../core/config'
import { readTensor, type WeightSource } from '../core/weights'
import { type ModelConfig, parseModelConfig } from '../model/config'
import { countParameters, elements } from '../model/parameters'
import { quantize } from '../model/quantize'
import type { DeviceTensor } from './device'
import { loadOrt } from './ort'
import { CONFIG, QWEN2_CONFIG, randomModel } from './testing/random-model'
import { WasmDevice } from './wasm-device'
import { baseTensors, frozenWeights, loadWeights, ropeTables } from './weights'

const config = parseModelConfig(CONFIG)

/** A device that only keeps what is written. */
async function load(source: WeightSource, of: ModelConfig, precision: Precision = 'float32') {
  const device = new WasmDevice(() => loadOrt('wasm', 1), 1)
  const loading = loadWeights(source, of, precision, device)
  return { device, weights: await loading.catch((error: unknown) => { expect(device.allocatedBytes).toBe(0); throw error }) }
}

describe('loadWeights', () => {
  it('reads every tensor of the model and no other', async () => {
    const { weights, device } = await load(randomModel(), config)
    expect([...weights.byName.keys()]).toEqual(baseTensors(config).map(({ name }) => name))
    expect(weights.bytes).toBe(4 * countParameters(config))
    expect(device.allocatedBytes).toBe(weights.bytes)
  })

  it.each([['int4', 4] as const, ['int8', 8] as const])('keeps matrices as %s and the rest as float32', async (precision, bits) => {
    const source = randomModel({ ...CONFIG, intermediate_size: 64 })
    const { weights } = await load(source, parseModelConfig(await source.config()), precision)
    const up = (await readTensor(source, 'model.layers.1.mlp.up_proj.weight')).data
    const { codes, scales } = quantize(up, bits, 'up')
    const block = weights.blocks[1] as Record<string, DeviceTensor>
    expect(block['mlp.up_proj.weight']?.tensor.data).toEqual(codes)
    expect(block['mlp.up_proj.weight.codes']?.tensor.data).toEqual(codes)
    expect(block['mlp.up_proj.weight.scales']?.tensor.data).toEqual(scales)
    expect(block['input_layernorm.weight']?.tensor.type).toBe('float32')
    expect(weights.head).toEqual(weights.table)
    expect(weights.table['table.bytes']?.dims).toEqual([64, (32 * bits) / 8])
  })

  it('says which tensor has another shape, and both shapes', async () => {
    const good = randomModel()
    const bad: WeightSource = {
      ...good,
      tensors: async () => new Map([...(await good.tensors())].map(([name, dims]) => [name, name.endsWith('layers.1.mlp.up_proj.weight') ? [...dims].reverse() : dims])),
    }
    await expect(load(bad, config)).rejects.toMatchObject({
      kind: 'model',
      message: expect.stringMatching(/model\.layers\.1\.mlp\.up_proj\.weight.*\[32, 48\].*\[48, 32\]/),
    })
  })

  it('passes on the source’s error for a missing tensor, with nothing left behind', async () => {
    await expect(load(randomModel(), parseModelConfig(QWEN2_CONFIG))).rejects.toThrow('lm_head.weight')
  })

  it('refuses codes for rows that are no whole blocks', async () => {
    await expect(load(randomModel(), config, 'int4')).rejects.toThrow('down_proj.weight has 48 columns')
  })

  it('refuses a weight that is not a finite number, by name', async () => {
    const source = randomModel({ ...CONFIG, intermediate_size: 64 })
    const broken: WeightSource = {
      ...source,
      async *pieces(wanted) {
        for await (const piece of source.pieces(wanted)) {
          yield piece.name.endsWith('layers.0.self_attn.k_proj.weight') ? { ...piece, data: piece.data.map((x, i) => (i === 3 ? NaN : x)) } : piece
        }
      },
    }
    await expect(load(broken, parseModelConfig(await source.config()), 'int4')).rejects.toThrow(/layers\.0\.self_attn\.k_proj\.weight holds a value/)
  })
})

it('bakes the embedding as head of a tied model, the head of an untied one, and no codes', async () => {
  const baked = async (source: WeightSource, precision: Precision) => {
    const of = parseModelConfig(await source.config())
    return frozenWeights((await load(source, of, precision)).weights, of, precision)
  }
  const tied = await baked(randomModel(), 'float32')
  expect(tied?.head).toBe(tied?.table)
  const untied = await baked(randomModel(QWEN2_CONFIG), 'float32')
  expect(untied?.head).not.toBe(untied?.table)
  expect(untied?.block(1, 'self_attn.q_proj.bias')).toHaveLength(64)
  expect(await baked(randomModel({ ...CONFIG, intermediate_size: 64 }), 'int4')).toBeNull()
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

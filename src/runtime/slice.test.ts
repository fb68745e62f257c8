/** The slice that is kept while a model streams by: which rows, how it is kept, what it costs, and that the stream is left alone. */

import { describe, expect, it } from 'vitest'
import { shapeSource, SHAPES } from '../../e2e/models/shapes'
import type { Precision } from '../core/config'
import { readTensor, type WeightPiece, type WeightSource } from '../core/weights'
import { parseModelConfig } from '../model/config'
import { bitsOf } from '../model/linear-weight'
import { elements, isMatrix } from '../model/parameters'
import { dequantizeRows, quantize } from '../model/quantize'
import { chooseCut, sliceSource } from './slice'
import { CONFIG, QWEN2_CONFIG, randomModel } from './testing/random-model'
import { baseTensors } from './weights'

/** Three layers and more words than a slice takes. */
const LARGE = { num_hidden_layers: 3, vocab_size: 5000, layer_types: ['full_attention', 'full_attention', 'full_attention'], eos_token_id: 2400 }
const namesOf = (config: unknown): string[] => baseTensors(parseModelConfig(config)).map(({ name }) => name)
const drain = async (source: WeightSource, names: readonly string[]): Promise<WeightPiece[]> => {
  const pieces: WeightPiece[] = []
  for await (const { name, offset, data } of source.pieces(names)) pieces.push({ name, offset, data: data.slice() })
  return pieces
}

/** vitest's own comparison takes seconds for an array of this length. */
const bits = (data: Float32Array): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength)
const same = (a: Float32Array, b: Float32Array): boolean => bits(a).equals(bits(b))
function expectPieces(ours: readonly WeightPiece[], theirs: readonly WeightPiece[]): void {
  expect(ours.map(({ name, offset, data }) => [name, offset, data.length])).toEqual(theirs.map(({ name, offset, data }) => [name, offset, data.length]))
  expect(ours.filter(({ data }, i) => !same(data, (theirs[i] as WeightPiece).data)).map(({ name }) => name)).toEqual([])
}

/** The same model in pieces of `rows` rows, last tensor first, all of them through one buffer that the next piece overwrites. */
function cutInto(source: WeightSource, rows: number): WeightSource {
  return {
    ...source,
    async *pieces(wanted) {
      const shapes = await source.tensors()
      for (const name of [...wanted].reverse()) {
        const { data } = await readTensor(source, name)
        const step = rows * (shapes.get(name)?.at(-1) as number)
        const buffer = new Float32Array(Math.min(step, data.length))
        for (let offset = 0; offset < data.length; offset += step) {
          const part = data.subarray(offset, offset + step)
          buffer.set(part)
          yield { name, offset, data: buffer.subarray(0, part.length) }
        }
        buffer.fill(NaN)
      }
    },
  }
}

describe.each([
  ['Qwen3, tied', { ...CONFIG, ...LARGE }],
  ['Qwen2, untied', { ...QWEN2_CONFIG, ...LARGE }],
])('%s', (_, config) => {
  it.each([1, 7, 4096, 100_000])('keeps the first rows and layers as they are, from pieces of %d rows', async (rows) => {
    const model = randomModel(config)
    const { source, slice } = sliceSource(cutInto(model, rows), { precision: 'float32' })
    await drain(source, namesOf(config))
    const kept = await slice()
    const json = await kept.config()
    expect(json).toEqual({ ...config, num_hidden_layers: 2, vocab_size: 4096, layer_types: ['full_attention', 'full_attention'] })
    const names = namesOf(json)
    expect(new Map(await kept.tensors())).toEqual(new Map(baseTensors(parseModelConfig(json)).map(({ name, dims }) => [name, dims])))
    expect(names.includes('lm_head.weight')).toBe(!config.tie_word_embeddings)
    for (const name of names) {
      const whole = await readTensor(model, name)
      const part = await readTensor(kept, name)
      expect(same(part.data, whole.data.subarray(0, elements(part.dims))), name).toBe(true)
      expect(part.dims[0]).toBe(/embed|lm_head/.test(name) ? 4096 : whole.dims[0])
    }
  })

  it('passes everything through unchanged', async () => {
    const given = cutInto(randomModel(config), 100)
    const { source } = sliceSource(given, { precision: 'int4' })
    const names = namesOf(config).filter((name) => !name.includes('norm'))
    expect(await source.config()).toEqual(await given.config())
    expect(await source.tensors()).toEqual(await given.tensors())
    expectPieces(await drain(source, names), await drain(given, names))
  })
})

it.each(['int4', 'int8'] as const)('keeps the codes that the engine makes at %s, and the engine makes them again', async (precision) => {
  const config = { ...CONFIG, hidden_size: 64, intermediate_size: 96 }
  const model = randomModel(config)
  const { source, slice } = sliceSource(cutInto(model, 5), { precision })
  await drain(source, namesOf(config))
  const kept = await slice()
  const width = bitsOf(precision) as 4 | 8
  for (const name of namesOf(config)) {
    const { data: whole } = await readTensor(model, name)
    const { data: part } = await readTensor(kept, name)
    expect(same(part, isMatrix(name) ? dequantizeRows(quantize(whole, width, name), width) : whole), name).toBe(true)
    if (isMatrix(name)) expect(Buffer.from(quantize(part, width, name).codes).equals(quantize(whole, width, name).codes), name).toBe(true)
  }
})

it('has the whole of a model that is smaller than a slice', async () => {
  const config = { ...CONFIG, num_hidden_layers: 1 }
  const model = randomModel(config)
  const { source, slice } = sliceSource(model, { precision: 'float32' })
  await drain(source, namesOf(config))
  const kept = await slice()
  expect(await kept.config()).toEqual(config)
  expectPieces(await drain(kept, namesOf(config)), await drain(model, namesOf(config)))
})

describe('a load that was begun again', () => {
  it('replaces what the first one kept, and is no slice until it has come as a whole', async () => {
    const [first, second] = [randomModel(CONFIG, 1), randomModel(CONFIG, 2)]
    let loads = 0
    const { source, slice } = sliceSource({ ...first, pieces: (names) => (++loads === 1 ? first : second).pieces(names) }, { precision: 'float32' })
    const names = namesOf(CONFIG)
    await expect(slice()).rejects.toThrow('had come as a whole')
    for await (const piece of source.pieces(names)) if (piece.name.includes('layers.0.mlp')) break
    await expect(slice()).rejects.toThrow('had come as a whole')
    await drain(source, names)
    expectPieces(await drain(await slice(), names), await drain(second, names))
  })
})

describe('what a slice costs', () => {
  const [small, large] = [SHAPES['qwen3-0.6b'], { ...SHAPES['qwen3-0.6b'], hidden_size: 2048, intermediate_size: 6144 }]
  const cut = (config: unknown, precision: Precision) => {
    const { layers, words, keep, bytes } = chooseCut(parseModelConfig(config), precision)
    return { layers, words, keep, MB: Math.round(bytes / 1e6) }
  }

  it('is two layers where they fit into 100 MB, one where not, and 8 bits where one does not', () => {
    expect(cut(small, 'int4')).toEqual({ layers: 2, words: 4096, keep: 'int4', MB: 22 })
    expect(cut(small, 'float32')).toEqual({ layers: 1, words: 4096, keep: 'float32', MB: 80 })
    expect(cut(large, 'int4')).toEqual({ layers: 2, words: 4096, keep: 'int4', MB: 68 })
    expect(cut(large, 'int8')).toEqual({ layers: 1, words: 4096, keep: 'int8', MB: 66 })
    expect(cut(large, 'float32')).toEqual({ layers: 1, words: 4096, keep: 'int8', MB: 66 })
  })

  it('is one layer as it is where 8 bits are impossible or one layer is too much anyhow', () => {
    expect(cut({ ...large, intermediate_size: 6150 }, 'float32')).toMatchObject({ layers: 1, keep: 'float32' })
    expect(cut({ ...large, intermediate_size: 60_000 }, 'int4')).toMatchObject({ layers: 1, keep: 'int4' })
  })

  it('is floats again where a float32 layer is kept at 8 bits', async () => {
    const config = { ...small, intermediate_size: 8192, num_hidden_layers: 1, vocab_size: 512 }
    const name = 'model.layers.0.self_attn.k_proj.weight'
    const { source, slice } = sliceSource(shapeSource(config), { precision: 'float32' })
    let whole = new Float32Array(0)
    for await (const piece of source.pieces(namesOf(config))) if (piece.name === name) whole = piece.data.slice()
    const { data, dims } = await readTensor(await slice(), name)
    expect(dims).toEqual([1024, 1024])
    expect(same(data, dequantizeRows(quantize(whole, 8, name), 8))).toBe(true)
  })
})

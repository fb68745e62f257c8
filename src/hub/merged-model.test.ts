import { describe, expect, it } from 'vitest'
import { LORA_TARGETS, type LoraConfig } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { ExportFile } from '../core/run-record'
import { readTensor, type WeightSource } from '../core/weights'
import { parseModelConfig } from '../model/config'
import { layoutOf } from '../runtime/parameters'
import { CONFIG, QWEN2_CONFIG, randomAdapter, randomModel } from '../runtime/testing/random-model'
import { mergedModelFiles, mergeInPython } from './merged-model'
import { memorySource } from './memory-source'
import { readSafetensors, type SafetensorsTensor } from './safetensors'

const FILES: ExportFile[] = [
  { path: 'config.json', content: '{"model_type":"qwen3"}' },
  { path: 'tokenizer.json', content: '{}' },
]
const ALL: LoraConfig = { r: 4, lora_alpha: 6, use_rslora: false, target_modules: [...LORA_TARGETS] }

function adapterFor(config: Readonly<Record<string, unknown>>, lora: LoraConfig): NamedTensor[] {
  const layout = layoutOf({ config: parseModelConfig(config), lora, precision: 'float32' })
  return randomAdapter(layout.map(({ name, dims, size }) => ({ name, dims, data: new Float32Array(size) })))
}

async function merge(source: WeightSource, lora: LoraConfig | null, tensors: readonly NamedTensor[]): Promise<Map<string, SafetensorsTensor>> {
  const files = await mergedModelFiles({ source, lora, tensors, files: FILES, baseModel: 'acme/random' })
  expect(files.slice(0, -1)).toEqual(FILES)
  const { path, content } = files.at(-1) as ExportFile
  expect(path).toBe('model.safetensors')
  if (!(content instanceof Uint8Array)) throw new Error('not bytes')
  const { metadata, tensors: merged } = readSafetensors(content)
  expect(metadata).toEqual({ format: 'pt' })
  return merged
}

async function refusal(run: Promise<unknown>): Promise<PlaygroundError> {
  const error = await run.then(() => null, (e: unknown) => e)
  expect(error).toBeInstanceOf(PlaygroundError)
  return error as PlaygroundError
}

/** W x + scale·B(A x) for one x, as PEFT computes an adapter that is not merged. */
function applied(w: { dims: number[]; data: Float32Array }, a: NamedTensor, b: NamedTensor, scale: number, x: readonly number[]): number[] {
  const times = ({ dims: [rows = 0, columns = 0], data }: { dims: number[]; data: Float32Array }, v: readonly number[]) =>
    Array.from({ length: rows }, (_, i) => v.reduce((sum, value, j) => sum + (data[i * columns + j] as number) * value, 0))
  const low = times(b, times(a, x))
  return times(w, x).map((value, i) => value + scale * (low[i] as number))
}

describe('mergedModelFiles', () => {
  it('of a model whose every weight was trained holds those weights, and refuses others', async () => {
    const source = randomModel(CONFIG)
    const layout = layoutOf({ config: parseModelConfig(CONFIG), lora: null, precision: 'float32' })
    const trained = layout.map(({ name, dims, size }, i): NamedTensor => ({ name, dims, data: new Float32Array(size).fill(i + 1) }))
    const merged = await merge(source, null, trained)
    expect([...merged.keys()].sort()).toEqual([...(await source.tensors()).keys()].sort())
    for (const { name, data } of trained) expect(merged.get(name)?.data[0], name).toBe(data[0])
    const wrong = { name: 'model.norm.weight', dims: [3], data: new Float32Array(3) }
    expect((await refusal(merge(source, null, [wrong]))).message).toContain("no 'model.norm.weight' of the shape [3]")
  })

  it.each<[string, Readonly<Record<string, unknown>>, LoraConfig, number]>([
    ['a tied Qwen3, all targets', CONFIG, ALL, 6 / 4],
    ['an untied Qwen2, rsLoRA on a part', QWEN2_CONFIG, { r: 4, lora_alpha: 6, use_rslora: true, target_modules: ['v_proj', 'o_proj', 'up_proj'] }, 6 / 2],
  ])('computes what base and adapter compute: %s', async (_, config, lora, scale) => {
    const source = randomModel(config)
    const adapter = adapterFor(config, lora)
    const merged = await merge(source, lora, adapter)
    expect([...merged.keys()].sort()).toEqual([...(await source.tensors()).keys()].sort())
    const sides = new Map(adapter.map((tensor) => [tensor.name, tensor]))
    let touched = 0
    for (const [name, { dtype, dims, data }] of merged) {
      const before = await readTensor(source, name)
      expect([dtype, dims]).toEqual(['F32', before.dims])
      const path = `base_model.model.${name.replace('.weight', '')}`
      const [a, b] = [sides.get(`${path}.lora_A.weight`), sides.get(`${path}.lora_B.weight`)]
      if (!a || !b) {
        expect(data, name).toEqual(before.data)
        continue
      }
      touched++
      const x = Array.from({ length: dims[1] ?? 0 }, (_unused, i) => Math.sin(i + 1))
      const far = (factor: number): number => {
        const expected = applied(before, a, b, factor, x)
        const found = applied({ dims, data }, { ...a, data: new Float32Array(a.data.length) }, b, 0, x)
        return Math.max(...expected.map((value, i) => Math.abs(value - (found[i] as number))))
      }
      expect(far(scale), name).toBeLessThan(1e-5)
      // The comparison can tell: another scale, a forgotten one.
      expect(far(scale / 2), name).toBeGreaterThan(0.01)
      expect(far(0), name).toBeGreaterThan(0.01)
    }
    expect(touched).toBe(2 * lora.target_modules.length)
  })

  it('notices a transposed side, also where both are the same to the eye', async () => {
    const lora: LoraConfig = { ...ALL, r: 32, target_modules: ['k_proj'] }
    const tensors = adapterFor(CONFIG, lora)
    const straight = await merge(randomModel(), lora, tensors)
    const name = 'model.layers.0.self_attn.k_proj.weight'
    const turned = tensors.map((tensor, i) => (i === 0 ? { ...tensor, data: tensor.data.map((_, at) => tensor.data[(at % 32) * 32 + Math.floor(at / 32)] as number) } : tensor))
    expect((await merge(randomModel(), lora, turned)).get(name)?.data).not.toEqual(straight.get(name)?.data)
    const oblong = adapterFor(CONFIG, ALL).map((tensor, i) => (i === 0 ? { ...tensor, dims: [...tensor.dims].reverse() } : tensor))
    const { message } = await refusal(merge(randomModel(), ALL, oblong))
    expect(message).toContain("The LoRA of 'model.layers.0.self_attn.q_proj.weight' has the shapes [32, 4] and [64, 4], but r 4 and the model ask for [4, 32] and [64, 4].")
  })

  it('leaves the source’s own memory alone, and merges tensors that come in pieces', async () => {
    const config = { ...CONFIG, num_hidden_layers: 1 }
    const names = [...(await randomModel(config).tensors()).keys()]
    const tensors = await Promise.all(names.map(async (name) => ({ name, ...(await readTensor(randomModel(config), name)) })))
    const before = tensors.map(({ data }) => data.slice())
    const source = memorySource(config, tensors)
    const rowByRow: WeightSource = {
      ...source,
      async *pieces(wanted) {
        for await (const { name, offset, data } of source.pieces(wanted)) {
          const width = tensors.find((tensor) => tensor.name === name)?.dims.at(-1) ?? 1
          for (let at = 0; at < data.length; at += width) yield { name, offset: offset + at, data: data.subarray(at, at + width) }
        }
      },
    }
    const adapter = adapterFor(config, ALL)
    expect(await merge(rowByRow, ALL, adapter)).toEqual(await merge(source, ALL, adapter))
    expect(tensors.map(({ data }) => data)).toEqual(before)
  })

  it('leaves the second copy of a tied head out, and keeps a head of its own', async () => {
    const head = { name: 'lm_head.weight', dims: [64, 32], data: new Float32Array(64 * 32).fill(1) }
    const withHead = async (config: Record<string, unknown>): Promise<WeightSource> => {
      const names = [...(await randomModel({ ...config, tie_word_embeddings: true }).tensors()).keys()]
      const tensors = await Promise.all(names.map(async (name) => ({ name, ...(await readTensor(randomModel(config), name)) })))
      return memorySource(config, [...tensors, head])
    }
    expect((await merge(await withHead(CONFIG), ALL, adapterFor(CONFIG, ALL))).has('lm_head.weight')).toBe(false)
    expect((await merge(await withHead(QWEN2_CONFIG), ALL, adapterFor(QWEN2_CONFIG, ALL))).get('lm_head.weight')?.data).toEqual(head.data)
  })

  it('refuses a model that is too large with the two lines that merge it, before reading a weight', async () => {
    const source: WeightSource = {
      config: async () => CONFIG,
      tensors: async () => new Map([['model.embed_tokens.weight', [151_936, 1024]]]),
      pieces: () => {
        throw new Error('read')
      },
    }
    const error = await refusal(mergedModelFiles({ source, lora: ALL, tensors: [], files: FILES, baseModel: 'Qwen/Qwen3-0.6B' }))
    expect(error.message).toBe('Qwen/Qwen3-0.6B has 156 million parameters, and this page merges models of up to 64 million.')
    expect(error.advice).toBe(`Export the adapter instead, and merge it in Python: ${mergeInPython('Qwen/Qwen3-0.6B', 'adapter')}`)
    expect(error.advice.split('\n')).toHaveLength(2)
  })

  it.each<[string, LoraConfig, (tensors: NamedTensor[]) => NamedTensor[], string]>([
    ['layers that the model does not have', ALL, () => adapterFor({ ...CONFIG, num_hidden_layers: 3 }, ALL), "acme/random has no 'model.layers.2.self_attn.q_proj.weight'"],
    ['fewer layers than the model', ALL, () => adapterFor({ ...CONFIG, num_hidden_layers: 1 }, ALL), "The LoRA sits on 1 layers, but acme/random has more: 'model.layers.1."],
    ['a missing side', ALL, (tensors) => tensors.slice(0, -1), "adapter_model.safetensors has no 'base_model.model.model.layers.1.mlp.down_proj.lora_B.weight'"],
    ['another width', ALL, () => adapterFor({ ...CONFIG, hidden_size: 64 }, ALL), 'but r 4 and the model ask for [4, 32] and [64, 4]'],
    ['another rank', { ...ALL, r: 2 }, (tensors) => tensors, 'but r 2 and the model ask for [2, 32]'],
  ])('refuses a LoRA with %s', async (_, lora, change, message) => {
    const error = await refusal(merge(randomModel(), lora, change(adapterFor(CONFIG, ALL))))
    expect(error.message).toContain(message)
    expect(error.advice).not.toBe('')
  })

  it('does not write a folder that cannot be loaded', async () => {
    const error = await refusal(mergedModelFiles({ source: randomModel(), lora: ALL, tensors: adapterFor(CONFIG, ALL), files: [], baseModel: 'acme/random' }))
    expect(error.message).toBe('The files of acme/random lack config.json.')
  })
})

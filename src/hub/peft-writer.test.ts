import { describe, expect, it } from 'vitest'
import { LORA_TARGETS, type LoraConfig } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { parseModelConfig } from '../model/config'
import { layoutOf } from '../runtime/parameters'
import { CONFIG, QWEN2_CONFIG, randomAdapter } from '../runtime/testing/random-model'
import { readPeftAdapter } from './peft-adapter'
import { checkAdapterFiles, peftAdapterFiles, type PeftAdapterExport } from './peft-writer'
import { readSafetensors, writeSafetensors } from './safetensors'

const LORA: LoraConfig = { r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj', 'down_proj'] }
const BASE = parseModelConfig(CONFIG)

function adapterOf(lora: LoraConfig, config: Readonly<Record<string, unknown>> = CONFIG): PeftAdapterExport {
  const base = parseModelConfig(config)
  const layout = layoutOf({ config: base, lora, precision: 'float32' })
  const tensors = randomAdapter(layout.map(({ name, dims, size }) => ({ name, dims, data: new Float32Array(size) })))
  return { lora, tensors, base, baseModel: 'Qwen/Qwen3-0.6B', revision: 'c1899de289a04d12100db370d81485cdf75e47ca' }
}

/** The two files as a reader gets them. */
function written(adapter: PeftAdapterExport): { config: string; weights: Uint8Array } {
  const files = peftAdapterFiles(adapter)
  expect(files.map(({ path }) => path)).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
  const [config, weights] = files.map(({ content }) => content)
  if (typeof config !== 'string' || !(weights instanceof Uint8Array)) throw new Error('not a text and bytes')
  return { config, weights }
}

const complaint = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof PlaygroundError) return `${error.message} ${error.advice}`
    throw error
  }
  return 'accepted'
}

/** The adapter with one tensor changed. */
function changed(adapter: PeftAdapterExport, index: number, change: (tensor: NamedTensor) => Partial<NamedTensor>): PeftAdapterExport {
  return { ...adapter, tensors: adapter.tensors.map((tensor, i) => (i === index ? { ...tensor, ...change(tensor) } : tensor)) }
}

function transposed({ name, dims: [rows = 0, columns = 0], data }: NamedTensor): NamedTensor {
  return { name, dims: [columns, rows], data: Float32Array.from(data, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)] as number) }
}

describe('peftAdapterFiles', () => {
  it.each<[string, LoraConfig, typeof CONFIG]>([
    ['three targets of a Qwen3', LORA, CONFIG],
    ['all targets of a Qwen2', { ...LORA, target_modules: [...LORA_TARGETS] }, QWEN2_CONFIG],
    ['rank 1 with a fraction for alpha', { ...LORA, r: 1, lora_alpha: 0.5 }, CONFIG],
    ['rsLoRA, targets in a person’s order', { r: 8, lora_alpha: 3, use_rslora: true, target_modules: ['up_proj', 'k_proj'] }, CONFIG],
  ])('comes back through the reader as it went in: %s', (_, lora, config) => {
    const adapter = adapterOf(lora, config)
    const { config: json, weights } = written(adapter)
    const read = readPeftAdapter(JSON.parse(json), weights, adapter.base)
    expect(read.lora).toEqual({ ...lora, target_modules: LORA_TARGETS.filter((target) => lora.target_modules.includes(target)) })
    expect(read.baseModel).toBe('Qwen/Qwen3-0.6B')
    expect(read.tensors).toEqual(adapter.tensors)
  })

  it('writes the settings under PEFT’s names, none that old versions lack, and the commit', () => {
    expect(JSON.parse(written(adapterOf(LORA)).config)).toEqual({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: 'Qwen/Qwen3-0.6B',
      revision: 'c1899de289a04d12100db370d81485cdf75e47ca',
      inference_mode: true,
      r: 4,
      lora_alpha: 8,
      lora_dropout: 0,
      use_rslora: false,
      target_modules: ['q_proj', 'v_proj', 'down_proj'],
      modules_to_save: null,
      bias: 'none',
      fan_in_fan_out: false,
      init_lora_weights: true,
    })
  })

  it('writes float32 with the metadata that PEFT looks for, the same bytes each time', () => {
    const adapter = adapterOf(LORA)
    const { weights } = written(adapter)
    const { metadata, tensors } = readSafetensors(weights)
    expect(metadata).toEqual({ format: 'pt' })
    expect(new Set([...tensors.values()].map(({ dtype }) => dtype))).toEqual(new Set(['F32']))
    expect(written(adapter).weights).toEqual(weights)
  })

  it('writes float16 where that is asked for, rounded to the nearest', () => {
    const adapter = { ...adapterOf(LORA), dtype: 'float16' as const }
    const { weights } = written(adapter)
    expect(weights.length).toBeLessThan(written(adapterOf(LORA)).weights.length * 0.75)
    const { tensors } = readSafetensors(weights)
    for (const { name, data } of adapter.tensors) {
      const found = tensors.get(name)
      expect(found?.dtype).toBe('F16')
      // Half a step of 2⁻¹⁰, relative; below 2⁻¹⁴ half a step of 2⁻²⁴.
      const far = data.findIndex((value, i) => !(Math.abs((found?.data[i] as number) - value) <= Math.max(Math.abs(value) * 2 ** -11, 2 ** -25)))
      expect(far).toBe(-1)
    }
    const huge = changed(adapter, 2, ({ data }) => ({ data: data.map((value, i) => (i === 3 ? 7e4 : value)) }))
    expect(complaint(() => peftAdapterFiles(huge))).toMatch(/lora_A\.weight' holds 70000, which float16 cannot hold\. Export the adapter as float32\.$/)
    expect(complaint(() => peftAdapterFiles({ ...huge, dtype: 'float32' }))).toBe('accepted')
  })

  it.each<[string, (adapter: PeftAdapterExport) => PeftAdapterExport, RegExp]>([
    ['a transposed A', (a) => changed(a, 0, transposed), /'.*q_proj\.lora_A\.weight' has the shape \[32, 4\], but r 4 and the model ask for \[4, 32\]/],
    ['a transposed B, with no base to compare with', (a) => ({ ...changed(a, 1, transposed), base: null }), /has the shape \[4, 64\], but r 4 and the first layer ask for/],
    ['another rank', (a) => ({ ...a, lora: { ...LORA, r: 2 } }), /has the shape \[4, 32\], but r 2 and the model ask for \[2, 32\]/],
    ['a target too many', (a) => ({ ...a, lora: { ...LORA, target_modules: [...LORA.target_modules, 'o_proj'] } }), /names o_proj, but adapter_model\.safetensors has no tensors of it/],
    ['a tensor too few', (a) => ({ ...a, tensors: a.tensors.slice(0, -1) }), /has no '.*down_proj\.lora_B\.weight'/],
    ['NaN', (a) => changed(a, 3, ({ data }) => ({ data: data.map((v, i) => (i === 5 ? NaN : v)) })), /holds NaN or infinity/],
    ['full-parameter names', (a) => changed(a, 0, () => ({ name: 'model.layers.0.self_attn.q_proj.weight' })), /does not start with base_model\.model\.model\.layers\./],
  ])('refuses %s', (_, change, sentence) => {
    expect(complaint(() => peftAdapterFiles(change(adapterOf(LORA))))).toMatch(sentence)
  })
})

describe('checkAdapterFiles', () => {
  const adapter = { ...adapterOf({ ...LORA, r: 32, target_modules: ['k_proj'] }), base: BASE }
  const { config, weights } = written(adapter)
  const json = (change: Record<string, unknown>): string => JSON.stringify({ ...(JSON.parse(config) as object), ...change })
  const rewritten = (index: number, change: (tensor: NamedTensor) => Partial<NamedTensor>): Uint8Array => writeSafetensors(changed(adapter, index, change).tensors)

  it('takes what was written', () => {
    expect(complaint(() => checkAdapterFiles(config, weights, adapter))).toBe('accepted')
  })

  it.each<[string, string, Uint8Array, RegExp]>([
    ['another scale', json({ lora_alpha: 16 }), weights, /says .*"lora_alpha":16.* instead of .*"lora_alpha":8/],
    ['the other rule for the scale', json({ use_rslora: true }), weights, /says .*"use_rslora":true/],
    ['another base', json({ base_model_name_or_path: 'Qwen/Qwen3-1.7B' }), weights, /names the base Qwen\/Qwen3-1\.7B instead of Qwen\/Qwen3-0\.6B/],
    // Both are [32, 32] here: no shape tells.
    ['a transposed square A', config, rewritten(0, transposed), /value 1 of '.*k_proj\.lora_A\.weight' is .* instead of/],
    ['the scale in B', config, rewritten(1, ({ data }) => ({ data: data.map((v) => v * 0.25) })), /value 0 of '.*k_proj\.lora_B\.weight' is/],
    ['the last bit of a value', config, rewritten(3, ({ data }) => ({ data: lastBit(data, 77) })), /value 77 of '.*layers\.1.*lora_B\.weight' is/],
    ['a layer too many', config, writeSafetensors([...adapter.tensors, ...adapter.tensors.slice(0, 2).map((t) => ({ ...t, name: t.name.replace('.0.', '.2.') }))]), /is of layer 2, but the model has 2 layers/],
  ])('notices %s', (_, text, bytes, sentence) => {
    const said = complaint(() => checkAdapterFiles(text, bytes, adapter))
    expect(said).toMatch(sentence)
  })

  it('says what happened and what to do', () => {
    const said = complaint(() => checkAdapterFiles(config, rewritten(0, transposed), adapter))
    expect(said).toMatch(/^The adapter that was written is not the one that was trained: .*\. Nothing was exported/)
  })
})

function lastBit(data: Float32Array, index: number): Float32Array {
  const copy = data.slice()
  const bits = new Uint32Array(copy.buffer)
  bits[index] = (bits[index] as number) ^ 1
  return copy
}

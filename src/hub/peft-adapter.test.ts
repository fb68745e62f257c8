import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHub, type Hub } from '../../e2e/hub/server'
import { LORA_TARGETS } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { HubClient } from './client'
import type { ModelShape } from '../core/linear-layers'
import { loadHubAdapter, readPeftAdapter } from './peft-adapter'
import { writeSafetensors } from './safetensors'

const shape: ModelShape = { hidden_size: 32, intermediate_size: 48, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 }
const LINEAR: Record<string, [string, number, number]> = {
  q_proj: ['self_attn', 64, 32],
  k_proj: ['self_attn', 32, 32],
  v_proj: ['self_attn', 32, 32],
  o_proj: ['self_attn', 32, 64],
  gate_proj: ['mlp', 48, 32],
  up_proj: ['mlp', 48, 32],
  down_proj: ['mlp', 32, 48],
}

/** What PEFT 0.21 writes for LoraConfig(r=4, lora_alpha=8). */
const config = (more: Record<string, unknown> = {}, targets: unknown = ['v_proj', 'q_proj']) => ({
  alora_invocation_tokens: null, alpha_pattern: {}, arrow_config: null, auto_mapping: null, base_model_name_or_path: 'Qwen/Qwen3-0.6B', bias: 'none',
  corda_config: null, ensure_weight_tying: false, eva_config: null, exclude_modules: null, fan_in_fan_out: false, inference_mode: true,
  init_lora_weights: true, kasa_config: null, layer_replication: null, layers_pattern: null, layers_to_transform: null, loftq_config: {}, lora_alpha: 8,
  lora_bias: false, lora_dropout: 0.05, lora_ga_config: null, megatron_config: null, megatron_core: 'megatron.core', modules_to_save: null,
  monteclora_config: null, peft_type: 'LORA', peft_version: '0.21.0', qalora_group_size: 16, r: 4, rank_pattern: {}, revision: null,
  target_modules: targets, target_parameters: null, task_type: 'CAUSAL_LM', trainable_token_indices: null, use_bdlora: null, use_dora: false,
  use_qalora: false, use_rslora: false, velora_config: null,
  ...more,
})

let fill = 0
function tensor(name: string, dims: number[]): NamedTensor {
  const data = Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => Math.fround(Math.sin(++fill)))
  return { name, dims, data }
}

/** Both sides of each module in each layer. */
function lora(targets: readonly string[] = ['q_proj', 'v_proj'], { r = 4, layers = 2, prefix = 'base_model.model.model.', suffix = '' } = {}): NamedTensor[] {
  return Array.from({ length: layers }, (_, layer) =>
    targets.flatMap((target) => {
      const [block, out, input] = LINEAR[target] as [string, number, number]
      const path = `${prefix}layers.${layer}.${block}.${target}`
      return [tensor(`${path}.lora_A${suffix}.weight`, [r, input]), tensor(`${path}.lora_B${suffix}.weight`, [out, r])]
    }),
  ).flat()
}
const read = (json: unknown, tensors: readonly NamedTensor[], base: ModelShape | null = shape) => readPeftAdapter(json, writeSafetensors(tensors), base)
const catchError = (run: () => unknown): PlaygroundError => {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(PlaygroundError)
    return error as PlaygroundError
  }
  throw new Error('it was accepted')
}

describe('readPeftAdapter', () => {
  it('reads what PEFT writes, layer by layer, A before B, with the same values', () => {
    const tensors = lora()
    const adapter = read(config(), tensors)
    expect(adapter.lora).toEqual({ r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj'] })
    expect(adapter.baseModel).toBe('Qwen/Qwen3-0.6B')
    expect(adapter.tensors).toEqual(tensors)
  })

  it('reads all seven modules, rslora, and the few fields that PEFT needs', () => {
    const json = { peft_type: 'LORA', r: 2, lora_alpha: 3, use_rslora: true, target_modules: [...LORA_TARGETS].reverse() }
    const adapter = read(json, lora(LORA_TARGETS, { r: 2 }))
    expect(adapter.lora).toEqual({ r: 2, lora_alpha: 3, use_rslora: true, target_modules: [...LORA_TARGETS] })
    expect([adapter.baseModel, adapter.tensors.length]).toEqual([null, 28])
    expect(read({ ...json, target_modules: 'all-linear' }, lora(LORA_TARGETS, { r: 2 })).lora.target_modules).toEqual([...LORA_TARGETS])
  })

  it('takes the modules from the tensors where the config has a regular expression or nothing', () => {
    for (const targets of ['.*\\.(q|v)_proj', undefined, null]) expect(read(config({}, targets), lora()).lora.target_modules).toEqual(['q_proj', 'v_proj'])
    expect(read(config({}, ['self_attn.q_proj', 'v_proj']), lora()).lora.target_modules).toEqual(['q_proj', 'v_proj'])
  })

  it("takes whole paths, which PEFT 0.21 writes for 'all-linear' on a model of one or two layers", () => {
    const paths = lora(LORA_TARGETS).flatMap(({ name }) => /^base_model\.model\.(.*)\.lora_A\.weight$/.exec(name)?.[1] ?? [])
    expect(paths).toContain('model.layers.1.mlp.down_proj')
    expect(read(config({}, paths), lora(LORA_TARGETS)).lora.target_modules).toEqual([...LORA_TARGETS])
    const part = paths.filter((path) => path.includes('.0.'))
    expect(catchError(() => read(config({}, part), lora(LORA_TARGETS, { layers: 1 }))).message).toContain('the same modules of all 2 layers')
  })

  it("gives PEFT's names to tensors that still carry the adapter's", () => {
    const adapter = read(config(), lora(undefined, { suffix: '.default' }))
    expect(adapter.tensors.map(({ name }) => name)).toEqual(lora().map(({ name }) => name))
  })

  it('checks an adapter against itself where no model is given', () => {
    expect(read(config(), lora(undefined, { layers: 3 }), null).tensors).toHaveLength(12)
    const odd = lora()
    odd[6] = tensor(odd[6]?.name as string, [4, 33])
    expect(catchError(() => read(config(), odd, null)).message).toContain('[4, 33], but r 4 and the first layer ask for [4, 32]')
  })

  it('accepts start values that leave the base as it is', () => {
    for (const init of [true, false, 'gaussian', 'orthogonal', 'eva']) expect(read(config({ init_lora_weights: init }), lora()).lora.r).toBe(4)
  })

  it.each<[string, unknown]>([
    ['peft_type', 'IA3'],
    ['task_type', 'SEQ_CLS'],
    ['bias', 'lora_only'],
    ['use_dora', true],
    ['modules_to_save', ['lm_head']],
    ['rank_pattern', { q_proj: 8 }],
    ['alpha_pattern', { q_proj: 8 }],
    ['layers_to_transform', [0]],
    ['layers_to_transform', 0],
    ['layer_replication', [[0, 1]]],
    ['fan_in_fan_out', true],
    ['trainable_token_indices', [5]],
    ['target_parameters', ['mlp.experts']],
    ['lora_bias', true],
    ['use_qalora', true],
    ['alora_invocation_tokens', [1, 2]],
    ['arrow_config', { top_k: 2 }],
    ['a_field_of_next_year', 'on'],
    ['init_lora_weights', 'pissa'],
    ['init_lora_weights', 'pissa_niter_4'],
    ['init_lora_weights', 'olora'],
    ['init_lora_weights', 'loftq'],
  ])('refuses %s = %j by its name', (field, value) => {
    const error = catchError(() => read(config({ [field]: value }), lora()))
    expect(error.kind).toBe('model')
    expect(error.message).toContain(`adapter_config.json: ${field} is ${JSON.stringify(value)}, `)
    expect(error.advice).toContain('plain LoRA')
  })

  it.each<[string, unknown, string]>([
    ['no object', 'x', 'adapter_config.json: the file: '],
    ['no rank', config({ r: undefined }), 'adapter_config.json: r: '],
    ['rank 0', config({ r: 0 }), 'adapter_config.json: r: '],
    ['rank as text', config({ r: '4' }), 'adapter_config.json: r: '],
    ['alpha below 0', config({ lora_alpha: -1 }), 'adapter_config.json: lora_alpha: '],
    ['no type', config({ peft_type: undefined }), 'adapter_config.json: peft_type: '],
    ['another module', config({}, ['q_proj', 'embed_tokens']), "target_modules names 'embed_tokens', and only q_proj, k_proj"],
    ['a module without tensors', config({}, ['q_proj', 'v_proj', 'o_proj']), 'names o_proj, but adapter_model.safetensors has no tensors of it'],
    ['all-linear with less', config({}, 'all-linear'), 'names k_proj, but'],
    ['tensors without a module', config({}, ['q_proj']), 'has tensors of v_proj, which target_modules in adapter_config.json does not name'],
  ])('refuses a config with %s', (_, json, message) => {
    expect(catchError(() => read(json, lora())).message).toContain(message)
  })

  const replaced = (index: number, change: (t: NamedTensor) => NamedTensor) => lora().map((t, i) => (i === index ? change(t) : t))
  it.each<[string, () => NamedTensor[], string]>([
    ["a prefix without 'model.'", () => lora(undefined, { prefix: 'base_model.model.' }), "'base_model.model.layers.0.self_attn.q_proj.lora_A.weight' does not start with base_model.model.model.layers."],
    ['the prefix of a vision model', () => lora(undefined, { prefix: 'base_model.model.model.language_model.' }), 'does not start with base_model.model.model.layers.'],
    ['no prefix', () => lora(undefined, { prefix: 'model.' }), 'does not start with'],
    ['a magnitude of DoRA', () => [...lora(), tensor('base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector', [64])], 'lora_magnitude_vector'],
    ['a module in the wrong place', () => [...lora(), tensor('base_model.model.model.layers.0.mlp.k_proj.lora_A.weight', [4, 32])], 'mlp.k_proj.lora_A.weight'],
    ['another adapter name', () => lora(undefined, { suffix: '.other' }), "lora_A.other.weight' is not a LoRA tensor"],
    ['a tensor twice', () => [...lora(), ...lora(undefined, { suffix: '.default' })], 'is there twice'],
    ['no tensors', () => [], 'has no tensors'],
    ['a missing side', () => lora().slice(0, -1), "has no 'base_model.model.model.layers.1.self_attn.v_proj.lora_B.weight'"],
    ['a missing layer', () => lora(undefined, { layers: 1 }), 'the same modules of all 2 layers'],
    ['a layer too many', () => lora(undefined, { layers: 3 }), 'is of layer 2, but the model has 2 layers'],
    ['another rank', () => lora(undefined, { r: 8 }), 'has the shape [8, 32], but r 4 and the model ask for [4, 32]'],
    ['another width', () => replaced(1, (t) => tensor(t.name, [63, 4])), 'has the shape [63, 4], but r 4 and the model ask for [64, 4]'],
    ['a vector', () => replaced(0, (t) => tensor(t.name, [128])), 'has the shape [128] instead of two dimensions'],
    ['NaN', () => replaced(2, (t) => ({ ...t, data: t.data.map((v, i) => (i === 7 ? NaN : v)) })), 'holds NaN or infinity'],
  ])('refuses weights with %s', (_, tensors, message) => {
    const error = catchError(() => read(config(), tensors()))
    expect(error.message).toContain(message)
    expect(error.advice).not.toBe('')
  })

  it.each<[string, Record<string, unknown>, number, number, string]>([
    ['a scale that is infinite', { lora_alpha: 1e308 }, 1, 0, 'adapter_config.json: lora_alpha is 1e+308, which no float32 holds'],
    ['products that are', { lora_alpha: 1e30 }, 1e5, 1e5, "The LoRA of 'base_model.model.model.layers.0.self_attn.q_proj', lora_alpha 1e+30 and r 4 give weights that overflow float32"],
    ['huge weights', {}, 3e38, 0, "lora_A of 'base_model.model.model.layers.0.self_attn.q_proj' holds numbers up to 3e+38: its products overflow float32"],
    ['huge weights of both sides', {}, 1e20, 1e20, 'give weights that overflow float32'],
  ])('refuses %s', (_, fields, a, b, message) => {
    const tensors = lora().map((t) => ({ ...t, data: t.data.map(() => (t.name.includes('lora_A') ? a : b)) }))
    expect(catchError(() => read(config(fields), tensors)).message).toContain(message)
  })

  it('takes large numbers that float32 can still compute with', () => {
    const tensors = lora().map((t) => ({ ...t, data: t.data.map(() => 1e15) }))
    expect(read(config({ lora_alpha: 1000 }), tensors).tensors).toHaveLength(8)
  })

  it('refuses bytes that are no safetensors', () => {
    expect(catchError(() => readPeftAdapter(config(), new TextEncoder().encode('version https://git-lfs.github.com/spec/v1'))).message).toContain('safetensors file cannot be used')
  })
})

describe('loadHubAdapter', () => {
  const tensors = lora()
  const weights = writeSafetensors(tensors)
  let hub: Hub
  let client: HubClient
  beforeAll(async () => {
    const json = JSON.stringify(config())
    hub = await startHub({
      repos: {
        'me/lora': { files: { 'adapter_config.json': json, 'adapter_model.safetensors': weights }, revisions: { 'step-10': { 'adapter_config.json': json.replace('"r":4', '"r":0') , 'adapter_model.safetensors': weights } } },
        'me/model': { files: { 'config.json': '{}', 'model.safetensors': weights } },
        'me/pickle': { files: { 'adapter_config.json': json, 'adapter_model.bin': weights } },
        'me/half': { files: { 'adapter_config.json': json } },
        'me/empty': { files: { 'README.md': 'x' } },
      },
    })
    client = new HubClient({ endpoint: hub.endpoint, sleep: async () => undefined })
  })
  afterAll(() => hub.stop())

  it('reads an adapter at its commit, over broken connections, with progress', async () => {
    hub.fault({ kind: 'drop', afterBytes: 1500 })
    let reported = 0
    const adapter = await loadHubAdapter(client, 'me/lora', 'main', { base: shape, onProgress: (bytes) => void (reported += bytes) })
    expect(adapter).toEqual({ lora: { r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj'] }, baseModel: 'Qwen/Qwen3-0.6B', tensors, sha: hub.sha('me/lora') })
    expect(reported).toBe(weights.length)
  })

  it.each([
    ['me/model', 'main', 'me/model is a model, not a LoRA: it has no adapter_config.json'],
    ['me/empty', 'main', 'me/empty holds no LoRA'],
    ['me/pickle', 'main', 'me/pickle keeps its LoRA as adapter_model.bin'],
    ['me/half', 'main', "me/half has no file 'adapter_model.safetensors'"],
    ['me/lora', 'step-10', 'adapter_config.json: r: '],
    ['me/nolora', 'main', 'The Hub shows no adapter me/nolora'],
    ['me/lora', 'v9', "me/lora has no revision 'v9'"],
  ])('says what is wrong with %s at %s', async (repo, revision, message) => {
    const error = await loadHubAdapter(client, repo, revision).then(() => null, (e: unknown) => e as PlaygroundError)
    expect(error).toBeInstanceOf(PlaygroundError)
    expect(error?.message).toContain(message)
    expect(error?.advice).not.toBe('')
  })
})

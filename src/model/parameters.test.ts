import { describe, expect, it } from 'vitest'
import { DEFAULT_LORA, LORA_TARGETS, type LoraTarget } from '../core/config'
import { parseModelConfig } from './config'
import { blockParameters, countParameters, elements, loraParameters, outerParameters } from './parameters'
import { QWEN25_05B, QWEN3_06B, QWEN3_17B_V5 } from './testing/configs'

const qwen3 = parseModelConfig(QWEN3_06B)
const qwen25 = parseModelConfig(QWEN25_05B)
const qwen17 = parseModelConfig(QWEN3_17B_V5)

it('counts what the models’ cards count', () => {
  expect(countParameters(qwen3)).toBe(596_049_920)
  expect(countParameters(qwen25)).toBe(494_032_768)
  expect(countParameters({ ...qwen3, tie_word_embeddings: false })).toBe(596_049_920 + 151_936 * 1024)
})

describe('a LoRA', () => {
  const count = (config: typeof qwen3, r: number, target_modules: LoraTarget[]): number =>
    config.num_hidden_layers * loraParameters(config, { ...DEFAULT_LORA, r, target_modules }).reduce((n, { dims }) => n + elements(dims), 0)

  it.each([
    ['Qwen2.5-0.5B', qwen25, 549_888],
    ['Qwen3-0.6B', qwen3, 630_784],
    ['Qwen3-1.7B', qwen17, 1_089_536],
  ] as const)('on all linear layers of %s has %i·r numbers', (_name, config, perRank) => {
    for (const r of [1, 8, 16, 32]) expect(count(config, r, [...LORA_TARGETS])).toBe(perRank * r)
  })

  it('on q and v alone is what PEFT’s default makes', () => {
    expect(count(qwen3, 8, ['q_proj', 'v_proj'])).toBe(1_146_880)
    expect(count(qwen25, 8, ['q_proj', 'v_proj'])).toBe(540_672)
    expect(count(qwen17, 8, ['q_proj', 'v_proj'])).toBe(1_605_632)
  })

  it('has PEFT’s orientation, in the order of the layers whatever the order of the targets', () => {
    expect(loraParameters(qwen3, { ...DEFAULT_LORA, r: 4, target_modules: ['down_proj', 'q_proj'] })).toEqual([
      { name: 'self_attn.q_proj.lora_A', dims: [4, 1024] },
      { name: 'self_attn.q_proj.lora_B', dims: [2048, 4] },
      { name: 'mlp.down_proj.lora_A', dims: [4, 3072] },
      { name: 'mlp.down_proj.lora_B', dims: [1024, 4] },
    ])
  })
})

describe('a layer', () => {
  const names = (config: typeof qwen3): string[] => blockParameters(config).map(({ name }) => name)

  it('of Qwen3 has norms on the heads and no bias', () => {
    expect(names(qwen3)).toEqual([
      'input_layernorm.weight',
      'self_attn.q_proj.weight',
      'self_attn.q_norm.weight',
      'self_attn.k_proj.weight',
      'self_attn.k_norm.weight',
      'self_attn.v_proj.weight',
      'self_attn.o_proj.weight',
      'post_attention_layernorm.weight',
      'mlp.gate_proj.weight',
      'mlp.up_proj.weight',
      'mlp.down_proj.weight',
    ])
  })

  it('of Qwen2 has biases on q, k and v alone', () => {
    expect(names(qwen25).filter((name) => /bias|q_norm|k_norm/.test(name))).toEqual(['self_attn.q_proj.bias', 'self_attn.k_proj.bias', 'self_attn.v_proj.bias'])
    expect(blockParameters(qwen25).find(({ name }) => name === 'self_attn.k_proj.bias')?.dims).toEqual([128])
  })
})

it('a tied head is not a tensor of its own', () => {
  expect(outerParameters(qwen3).map(({ name }) => name)).toEqual(['model.embed_tokens.weight', 'model.norm.weight'])
  expect(outerParameters({ ...qwen3, tie_word_embeddings: false }).map(({ name }) => name)).toContain('lm_head.weight')
})

import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { parseModelConfig } from './config'
import { QWEN25_05B, QWEN3_06B, QWEN3_17B_V5 } from './testing/configs'

function refusal(json: unknown): PlaygroundError {
  try {
    parseModelConfig(json)
  } catch (error) {
    if (error instanceof PlaygroundError) return error
    throw error
  }
  throw new Error('the config was accepted')
}

describe('reads', () => {
  it('Qwen3-0.6B', () => {
    expect(parseModelConfig(QWEN3_06B)).toEqual({
      architecture: 'qwen3',
      hidden_size: 1024,
      num_hidden_layers: 28,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      intermediate_size: 3072,
      vocab_size: 151936,
      rms_norm_eps: 1e-6,
      rope_theta: 1_000_000,
      max_position_embeddings: 40960,
      tie_word_embeddings: true,
      qkv_bias: false,
      qk_norm: true,
      eos_token_ids: [151645],
    })
  })

  it('Qwen2.5-0.5B-Instruct, whose head size follows from the hidden size', () => {
    expect(parseModelConfig(QWEN25_05B)).toMatchObject({ architecture: 'qwen2', head_dim: 64, num_key_value_heads: 2, qkv_bias: true, qk_norm: false })
  })

  it('what transformers 5 writes: rope_parameters, several ends, no tie', () => {
    expect(parseModelConfig(QWEN3_17B_V5)).toMatchObject({ rope_theta: 1_000_000, tie_word_embeddings: true, eos_token_ids: [151645, 151643] })
    expect(parseModelConfig({ ...QWEN3_17B_V5, tie_word_embeddings: undefined }).tie_word_embeddings).toBe(false)
  })

  it('transformers’ defaults for what is left out', () => {
    const { num_key_value_heads: _kv, head_dim: _dim, eos_token_id: _eos, ...rest } = QWEN3_06B
    expect(parseModelConfig(rest)).toMatchObject({ num_key_value_heads: 16, head_dim: 128, eos_token_ids: [] })
  })

  it('a sliding window that is switched off', () => {
    expect(parseModelConfig({ ...QWEN25_05B, sliding_window: 32768, use_sliding_window: false }).architecture).toBe('qwen2')
  })
})

describe('refuses', () => {
  it.each<[string, Record<string, unknown>, string, RegExp?]>([
    ['mixture of experts', { model_type: 'qwen3_moe' }, 'model_type', /qwen3_moe/],
    ['another architecture', { model_type: 'llama' }, 'model_type', /llama/],
    ['experts', { num_experts: 128 }, 'num_experts', /128/],
    ['a sliding window', { use_sliding_window: true }, 'use_sliding_window'],
    ['layers with a sliding window', { layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types', /sliding_attention/],
    ['yarn', { rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 32768 } }, 'rope_scaling', /yarn/],
    ['yarn, the old way', { rope_scaling: { type: 'yarn', factor: 4 } }, 'rope_scaling', /yarn/],
    ['yarn in rope_parameters', { rope_parameters: { rope_type: 'yarn', rope_theta: 1e6, factor: 4 } }, 'rope_parameters.rope_type', /yarn/],
    ['a head size that the kernel lacks', { head_dim: 72 }, 'head_dim', /72.*16/],
    ['a head size that is no whole number', { model_type: 'qwen2', head_dim: undefined, hidden_size: 1000 }, 'head_dim', /62\.5/],
    ['uneven groups', { num_key_value_heads: 5 }, 'num_key_value_heads', /5.*16/],
    ['attention bias', { attention_bias: true }, 'attention_bias'],
    ['another activation', { hidden_act: 'gelu' }, 'hidden_act', /gelu/],
    ['no rope base', { rope_theta: undefined }, 'rope_theta'],
    ['text for a number', { hidden_size: '1024' }, 'hidden_size'],
    ['zero layers', { num_hidden_layers: 0 }, 'num_hidden_layers'],
    ['half a layer', { num_hidden_layers: 2.5 }, 'num_hidden_layers'],
  ])('%s', (_name, change, field, detail = /./) => {
    const error = refusal({ ...QWEN3_06B, ...change })
    expect(error.kind).toBe('model')
    expect(error.message).toMatch(new RegExp(`^config\\.json: ${field.replace('.', '\\.')}\\b`))
    expect(error.message).toMatch(detail)
    expect(error.advice).toMatch(/\.$/)
  })

  it.each(['model_type', 'hidden_size', 'num_hidden_layers', 'num_attention_heads', 'intermediate_size', 'vocab_size', 'rms_norm_eps', 'max_position_embeddings', 'hidden_act'])(
    'a missing %s',
    (field) => {
      const { [field]: _, ...rest } = QWEN3_06B as Record<string, unknown>
      expect(refusal(rest).message).toMatch(new RegExp(`^config\\.json: ${field}: `))
    },
  )

  it.each([null, 'text', [], 7])('%j instead of a config', (json) => {
    expect(refusal(json).kind).toBe('model')
  })
})

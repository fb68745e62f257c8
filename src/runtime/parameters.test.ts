import { describe, expect, it } from 'vitest'
import type { ArtifactSpec } from '../artifacts/spec'
import { parseModelConfig } from '../model/config'
import { freshLora, layoutOf } from './parameters'
import { CONFIG, LORA, QWEN2_CONFIG } from './testing/random-model'

const spec: ArtifactSpec = { config: parseModelConfig(CONFIG), lora: LORA, precision: 'float32' }

describe('the flat vector', () => {
  it('holds PEFT’s tensors one behind the other, layer by layer', () => {
    const layout = layoutOf(spec)
    expect(layout).toHaveLength(2 * 7 * 2)
    expect(layout.slice(0, 3).map(({ name, dims, offset, size }) => ({ name, dims, offset, size }))).toEqual([
      { name: 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight', dims: [4, 32], offset: 0, size: 128 },
      { name: 'base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight', dims: [64, 4], offset: 128, size: 256 },
      { name: 'base_model.model.model.layers.0.self_attn.k_proj.lora_A.weight', dims: [4, 32], offset: 384, size: 128 },
    ])
    expect(layout[layout.length - 1]?.name).toBe('base_model.model.model.layers.1.mlp.down_proj.lora_B.weight')
    layout.forEach((entry, i) => expect(entry.offset).toBe(i === 0 ? 0 : (layout[i - 1]?.offset ?? 0) + (layout[i - 1]?.size ?? 0)))
  })

  it('holds the base tensors by their safetensors names in full training, the outer ones first', () => {
    const names = layoutOf({ ...spec, lora: null }).map(({ name }) => name)
    expect(names.slice(0, 3)).toEqual(['model.embed_tokens.weight', 'model.norm.weight', 'model.layers.0.input_layernorm.weight'])
    const untied = layoutOf({ ...spec, config: parseModelConfig(QWEN2_CONFIG), lora: null }).map(({ name }) => name)
    expect(untied).toContain('lm_head.weight')
    expect(untied).toContain('model.layers.1.self_attn.v_proj.bias')
  })
})

describe('a fresh LoRA', () => {
  const layout = layoutOf(spec)
  const flat = freshLora(layout, 3)
  const part = (entry: (typeof layout)[number]): Float32Array => flat.subarray(entry.offset, entry.offset + entry.size)

  it('has B zero and A uniform in ±1/√in', () => {
    for (const entry of layout) {
      const values = part(entry)
      if (entry.key.endsWith('lora_B')) {
        expect(values.every((v) => v === 0)).toBe(true)
        continue
      }
      const bound = 1 / Math.sqrt(entry.dims[1] as number)
      const largest = Math.max(...values.map(Math.abs))
      expect(largest).toBeLessThanOrEqual(bound)
      expect(largest).toBeGreaterThan(0.9 * bound)
      const deviation = Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / values.length)
      expect(deviation / (bound / Math.sqrt(3))).toBeGreaterThan(0.8)
      expect(deviation / (bound / Math.sqrt(3))).toBeLessThan(1.2)
    }
  })

  it('is a function of the seed, other in every tensor', () => {
    expect(freshLora(layout, 3)).toEqual(flat)
    expect(freshLora(layout, 4)).not.toEqual(flat)
    const [q, k] = [part(layout[0] as never), part(layout[2] as never)]
    expect(q).not.toEqual(k)
  })
})

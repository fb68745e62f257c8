import { expect, it } from 'vitest'
import { parseModelConfig } from '../model/config'
import { QWEN3_06B } from '../model/testing/configs'
import { LORA_TARGETS } from './config'
import { layerTensor, linearDims, modulePath, peftTensor } from './linear-layers'

it('names tensors as safetensors and PEFT do', () => {
  expect(layerTensor(3, 'mlp.up_proj.weight')).toBe('model.layers.3.mlp.up_proj.weight')
  expect(peftTensor(3, 'self_attn.q_proj.lora_A')).toBe('base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight')
})

it('has linear layers as [out, in]', () => {
  expect(LORA_TARGETS.map((target) => linearDims(parseModelConfig(QWEN3_06B), target))).toEqual([
    [2048, 1024], [1024, 1024], [1024, 1024], [1024, 2048], [3072, 1024], [3072, 1024], [1024, 3072],
  ])
})

it('has four layers in the attention and three in the MLP', () => {
  expect(LORA_TARGETS.map(modulePath)).toEqual([
    'self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj', 'self_attn.o_proj', 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj',
  ])
})

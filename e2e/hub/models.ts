/** Repositories for the local Hub, made in TypeScript: the shipped model in several forms, random models, LoRAs, and what must be refused. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { layoutOf } from '../../src/runtime/parameters'
import { randomAdapter, randomModel } from '../../src/runtime/testing/random-model'
import type { LoraConfig } from '../../src/core/config'
import type { NamedTensor } from '../../src/core/engine'
import { readTensor, type WeightSource } from '../../src/core/weights'
import { readSafetensors, writeSafetensors } from '../../src/hub/safetensors'
import { safetensorsFile } from '../../src/hub/testing/counted-bytes'
import { parseModelConfig } from '../../src/model/config'
import type { RepoFiles, RepoInput, TokenInput } from './server'

const TINY = resolve(import.meta.dirname, '../../public/models/tiny-qwen3')
const TOKENIZER = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']

/** As many words as the shipped tokenizer has; heads of 16, rows in whole blocks of 32. */
const RANDOM = {
  model_type: 'qwen3',
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 96,
  vocab_size: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  max_position_embeddings: 2048,
  tie_word_embeddings: false,
  hidden_act: 'silu',
  eos_token_id: 1017,
}

/** May read the private repository. */
export const READER = 'hf_reader'
/** Of an account that has accepted the gated repository's conditions. */
export const ACCEPTED = 'hf_accepted'
/** Good, but of nobody who may read anything. */
export const STRANGER = 'hf_stranger'
export const TOKENS: Record<string, TokenInput> = { [READER]: { reads: ['acme/secret'] }, [ACCEPTED]: { accepted: ['acme/gated'] }, [STRANGER]: {} }

export const ADAPTER_LORA: LoraConfig = { r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj', 'down_proj'] }

/** All of them, by owner/name. Each is small: two megabytes at most. */
export async function hubRepos(): Promise<Record<string, RepoInput>> {
  const read = async (path: string): Promise<Uint8Array> => new Uint8Array(await readFile(resolve(TINY, path)))
  const tokenizer: RepoFiles = Object.fromEntries(await Promise.all(TOKENIZER.map(async (path) => [path, await read(path)] as const)))
  const config = await read('config.json')
  const weights = await read('model.safetensors')
  const tiny: RepoFiles = { ...tokenizer, 'config.json': config, 'model.safetensors': weights }
  const small = { ...tokenizer, 'config.json': config }
  const random = async (change: Record<string, unknown>): Promise<RepoFiles> => {
    const json = { ...RANDOM, ...change }
    return { ...tokenizer, 'config.json': JSON.stringify(json), 'model.safetensors': await weightsOf(randomModel(json)) }
  }
  const shape: unknown = JSON.parse(new TextDecoder().decode(config))
  return {
    'acme/tiny': { files: tiny, revisions: { v2: { ...tiny, 'README.md': 'The second.' } } },
    'acme/tiny-bf16': { files: { ...small, ...shardedBf16(weights) } },
    'acme/random-qwen3': { files: await random({}) },
    'acme/random-qwen2': { files: await random({ model_type: 'qwen2', head_dim: undefined, tie_word_embeddings: true }) },
    'acme/odd': { files: await random({ hidden_size: 80, num_attention_heads: 5, num_key_value_heads: 5 }) },
    'acme/secret': { files: tiny, private: true },
    'acme/gated': { files: tiny, gated: 'manual' },
    'acme/mistral': { files: { ...tiny, 'config.json': JSON.stringify({ ...RANDOM, model_type: 'mistral' }) } },
    'acme/gguf': { files: { 'README.md': '# A model', 'config.json': config, 'tiny-Q4_K_M.gguf': new Uint8Array(1000) } },
    'acme/truncated': { files: { ...small, 'model.safetensors': weights.subarray(0, weights.length / 2) } },
    'acme/lora': { files: adapterFiles(shape) },
    'acme/lora-other': { files: adapterFiles({ ...RANDOM }) },
  }
}

async function weightsOf(source: WeightSource): Promise<Uint8Array> {
  const tensors: NamedTensor[] = []
  for (const name of (await source.tensors()).keys()) tensors.push({ name, ...(await readTensor(source, name)) })
  return writeSafetensors(tensors)
}

/** The same model cut to bfloat16, in two shards with their index. */
function shardedBf16(weights: Uint8Array): RepoFiles {
  const all = [...readSafetensors(weights).tensors].map(([name, { dims, data }]) => {
    const bits = Uint16Array.from(new Uint32Array(data.slice().buffer), (word) => (word + 0x7fff + ((word >>> 16) & 1)) >>> 16)
    return { name, dtype: 'BF16', dims: [...dims], bytes: new Uint8Array(bits.buffer) }
  })
  const shards = [all.slice(0, all.length / 2), all.slice(all.length / 2)].map((tensors, i) => ({ path: `model-0000${i + 1}-of-00002.safetensors`, tensors }))
  const map = shards.flatMap(({ path, tensors }) => tensors.map(({ name }) => [name, path]))
  return {
    ...Object.fromEntries(shards.map(({ path, tensors }) => [path, safetensorsFile(tensors)])),
    'model.safetensors.index.json': JSON.stringify({ metadata: { total_size: weights.length / 2 }, weight_map: Object.fromEntries(map) as unknown }),
  }
}

/** A random LoRA in PEFT's format for a model of this config.json. */
export function adapterFiles(config: unknown, lora: LoraConfig = ADAPTER_LORA): { 'adapter_config.json': string; 'adapter_model.safetensors': Uint8Array } {
  const layout = layoutOf({ config: parseModelConfig(config), lora, precision: 'float32' })
  const tensors = randomAdapter(layout.map(({ name, dims, size }) => ({ name, dims, data: new Float32Array(size) })))
  const json = { peft_type: 'LORA', task_type: 'CAUSAL_LM', base_model_name_or_path: 'acme/tiny', bias: 'none', ...lora }
  return { 'adapter_config.json': JSON.stringify(json), 'adapter_model.safetensors': writeSafetensors(tensors) }
}

/** config.json of the shipped model, parsed. */
export async function tinyConfig(): Promise<unknown> {
  return JSON.parse(await readFile(resolve(TINY, 'config.json'), 'utf8'))
}


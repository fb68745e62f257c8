/** Writes a LoRA in PEFT's format, and reads its own files back before it hands them out. */

import type { LoraConfig } from '../core/config'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { ModelShape } from '../core/linear-layers'
import type { ExportFile } from '../core/run-record'
import { MOST_HALF, toHalf } from './narrow'
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS, readPeftAdapter } from './peft-adapter'
import { writeSafetensors } from './safetensors'
import { widen } from './widen'

export interface PeftAdapterExport {
  lora: LoraConfig
  /** As Trainer.exportParameters gives them: lora_A [r, in] and lora_B [out, r] of every target in every layer. */
  tensors: readonly NamedTensor[]
  /**
   * base_model_name_or_path: RunConfig.model. The shipped model's 'models/NAME' is no repository of the Hub, where nobody can be called
   * models; it loads by that name only where the folder lies at that path, which the card must say.
   */
  baseModel: string
  /** The Hub's commit of the base that was trained on; null for a model of this site. */
  revision: string | null
  /** The base's shape, where it is known: the tensors are checked against it. */
  base?: ModelShape | null
  /** 'float16' halves a large file and rounds the weights; PEFT casts them back to float32. Default 'float32', which loses nothing. */
  dtype?: 'float32' | 'float16'
}

/**
 * adapter_config.json as an object. Only keys that PEFT has known for years, so that no version warns of an unknown one; what is left out
 * (DoRA, patterns, its own version) has PEFT's default, which is off.
 */
export function peftConfig({ lora, baseModel, revision }: Pick<PeftAdapterExport, 'lora' | 'baseModel' | 'revision'>): Record<string, unknown> {
  return {
    base_model_name_or_path: baseModel,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    lora_alpha: lora.lora_alpha,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: 'LORA',
    r: lora.r,
    revision,
    target_modules: lora.target_modules,
    task_type: 'CAUSAL_LM',
    use_rslora: lora.use_rslora,
  }
}

/**
 * adapter_config.json and adapter_model.safetensors.
 * @throws PlaygroundError('model') when the tensors are not those of this LoRA (and base), hold NaN or infinity, or do not fit float16
 */
export function peftAdapterFiles(adapter: PeftAdapterExport): ExportFile[] {
  const { tensors, dtype = 'float32' } = adapter
  if (dtype === 'float16') checkRange(tensors)
  const config = `${JSON.stringify(peftConfig(adapter), null, 2)}\n`
  const weights = writeSafetensors(tensors, { format: 'pt' }, dtype === 'float16' ? 'F16' : 'F32')
  checkAdapterFiles(config, weights, adapter)
  return [
    { path: ADAPTER_CONFIG, content: config },
    { path: ADAPTER_WEIGHTS, content: weights },
  ]
}

/**
 * Reads adapter files as a stranger would and compares them with what they were made from: settings, names, shapes, every bit.
 * @throws PlaygroundError('model') with the first difference, or with why they cannot be read
 */
export function checkAdapterFiles(config: string, weights: Uint8Array, adapter: PeftAdapterExport): void {
  const read = readPeftAdapter(JSON.parse(config), weights, adapter.base ?? null)
  const settings = [read.lora, adapter.lora].map(({ r, lora_alpha, use_rslora, target_modules }) =>
    JSON.stringify({ r, lora_alpha, use_rslora, target_modules: [...target_modules].sort() }),
  )
  if (settings[0] !== settings[1]) differs(`${ADAPTER_CONFIG} says ${settings[0]} instead of ${settings[1]}`)
  if (read.baseModel !== adapter.baseModel) differs(`${ADAPTER_CONFIG} names the base ${read.baseModel} instead of ${adapter.baseModel}`)
  if (read.tensors.length !== adapter.tensors.length) differs(`${ADAPTER_WEIGHTS} holds ${read.tensors.length} of ${adapter.tensors.length} tensors`)
  const found = new Map(read.tensors.map((tensor) => [tensor.name, tensor]))
  for (const { name, dims, data } of adapter.tensors) {
    const tensor = found.get(name)
    if (!tensor) differs(`${ADAPTER_WEIGHTS} has no '${name}'`)
    if (tensor.dims.join() !== dims.join()) differs(`'${name}' has the shape [${tensor.dims.join(', ')}] instead of [${dims.join(', ')}]`)
    const stored = adapter.dtype === 'float16' ? widen(new Uint8Array(toHalf(data).buffer), 'F16') : data
    const at = firstDifference(tensor.data, stored)
    if (at !== -1) differs(`value ${at} of '${name}' is ${tensor.data[at]} instead of ${stored[at]}`)
  }
}

function differs(what: string): never {
  const message = `The adapter that was written is not the one that was trained: ${what}.`
  throw new PlaygroundError('model', message, 'Nothing was exported and the run is as it was; try again, and report it if it comes back.')
}

/** Where the bits first differ (0 and −0 do); −1 when nowhere. */
function firstDifference(a: Float32Array, b: Float32Array): number {
  const [x, y] = [a, b].map(({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length)) as [Uint32Array, Uint32Array]
  return x.findIndex((bits, i) => bits !== y[i])
}

/** float16 ends where no sensible LoRA reaches; one that does must not become infinite without a word. */
function checkRange(tensors: readonly NamedTensor[]): void {
  for (const { name, data } of tensors) {
    const beyond = data.find((value) => Math.abs(value) > MOST_HALF)
    if (beyond !== undefined) throw new PlaygroundError('model', `'${name}' holds ${beyond}, which float16 cannot hold.`, 'Export the adapter as float32.')
  }
}

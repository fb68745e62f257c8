/** Mistakes that a writer of PEFT's files could make, made on purpose: a comparison that does not notice them shows nothing. */

import type { NamedTensor } from '../../src/core/engine'
import type { ExportFile } from '../../src/core/run-record'
import { readSafetensors, writeSafetensors } from '../../src/hub/safetensors'

export interface Mistake {
  name: string
  /** Changed keys of adapter_config.json. */
  config?: (config: { lora_alpha: number; use_rslora: boolean }) => Record<string, unknown>
  tensor?: (tensor: NamedTensor) => NamedTensor
  /** What PEFT must say; without it PEFT is content, and the scores must be far from ours. */
  complaint?: RegExp
}

/** The values of the transposed matrix, under the old dims. */
function turned({ dims: [rows = 0, columns = 0], data }: NamedTensor): Float32Array {
  return data.map((_, i) => data[(i % rows) * columns + Math.floor(i / rows)] as number)
}

const ofSide = (side: 'lora_A' | 'lora_B', change: (tensor: NamedTensor) => Partial<NamedTensor>) => (tensor: NamedTensor): NamedTensor =>
  tensor.name.includes(side) ? { ...tensor, ...change(tensor) } : tensor

export const MISTAKES: Mistake[] = [
  { name: 'twice the scale', config: ({ lora_alpha }) => ({ lora_alpha: 2 * lora_alpha }) },
  { name: 'the other rule for the scale', config: ({ use_rslora }) => ({ use_rslora: !use_rslora }) },
  { name: 'the scale in B as well', tensor: ofSide('lora_B', ({ data }) => ({ data: data.map((x) => x * 2) })) },
  { name: 'A transposed in place', tensor: ofSide('lora_A', (tensor) => ({ data: turned(tensor) })) },
  { name: 'B transposed in place', tensor: ofSide('lora_B', (tensor) => ({ data: turned(tensor) })) },
  {
    name: 'A transposed with its shape',
    tensor: ofSide('lora_A', (tensor) => ({ data: turned(tensor), dims: [...tensor.dims].reverse() })),
    complaint: /size mismatch/,
  },
  {
    name: 'a prefix without one model.',
    tensor: (tensor) => ({ ...tensor, name: tensor.name.replace('model.model.', 'model.') }),
    complaint: /^UserWarning: Found missing adapter keys/,
  },
  {
    name: 'a key that PEFT does not know',
    config: () => ({ trained_by: 'us' }),
    complaint: /^UserWarning: Unexpected keyword arguments \['trained_by'\]/,
  },
]

/** An adapter's two files with the mistake in them. */
export function withMistake({ config, tensor }: Mistake, configJson: string, weights: Uint8Array): ExportFile[] {
  const json = JSON.parse(configJson) as { lora_alpha: number; use_rslora: boolean }
  const tensors = [...readSafetensors(weights).tensors].map(([name, { dims, data }]) => ({ name, dims, data }))
  return [
    { path: 'adapter_config.json', content: JSON.stringify({ ...json, ...config?.(json) }) },
    { path: 'adapter_model.safetensors', content: writeSafetensors(tensor ? tensors.map(tensor) : tensors) },
  ]
}

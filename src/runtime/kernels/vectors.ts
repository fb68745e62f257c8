/** Norms and biases of all layers in one buffer: they are frozen, and a shader binds few buffers. */

import type { ModelConfig } from '../../model/config'
import { blockParameters, elements, isMatrix } from '../../model/parameters'
import type { Copy, Device, DeviceTensor } from '../device'
import type { DeviceWeights } from '../weights'

export interface VectorLayout {
  /** Where each of a layer's vectors begins in the layer's part. */
  offsets: ReadonlyMap<string, number>
  /** Numbers of a layer. */
  size: number
}

export function vectorLayout(config: ModelConfig): VectorLayout {
  const offsets = new Map<string, number>()
  let size = 0
  for (const { name, dims } of blockParameters(config)) {
    if (isMatrix(name)) continue
    offsets.set(name, size)
    size += elements(dims)
  }
  return { offsets, size }
}

/** A copy of them on the device, layer after layer. The caller frees it. */
export function gatherVectors(device: Device, weights: DeviceWeights, config: ModelConfig): DeviceTensor {
  const { offsets, size } = vectorLayout(config)
  const out = device.zeros([config.num_hidden_layers * size])
  const copies = weights.blocks.flatMap((block, layer): Copy[] =>
    [...offsets].map(([name, offset]) => {
      const vector = block[name] as DeviceTensor
      return { from: vector, fromOffset: 0, to: out, toOffset: layer * size + offset, count: elements(vector.dims) }
    }),
  )
  device.copy(copies)
  return out
}

/** Random weights to begin with. */

import type { NamedTensor } from '../../src/core/engine'
import { RandomStream } from '../../src/core/random'
import type { ModelConfig } from '../../src/model/config'
import { layerTensor } from '../../src/core/linear-layers'
import { blockParameters, elements, outerParameters, type ParameterSpec } from '../../src/model/parameters'

const EMBEDDING_STD = 0.02

/**
 * Standard deviation of a tensor's normal draw, null for a norm (all ones). Linear layers keep the size of what passes through them
 * (1/√fan_in); the two that write into the residual stream are smaller by √(2·layers), so that the stream's size does not grow with depth.
 */
function standardDeviation({ name, dims }: ParameterSpec, layers: number): number | null {
  if (name.endsWith('norm.weight')) return null
  if (name === 'model.embed_tokens.weight') return EMBEDDING_STD
  const residual = name.includes('o_proj') || name.includes('down_proj')
  return 1 / Math.sqrt(dims[1] ?? 1) / (residual ? Math.sqrt(2 * layers) : 1)
}

/** Every tensor of the model under its safetensors name, float32 row-major; the same for the same seed. */
export function initialWeights(config: ModelConfig, seed: number): NamedTensor[] {
  const layers = config.num_hidden_layers
  const specs: ParameterSpec[] = [
    ...outerParameters(config),
    ...Array.from({ length: layers }, (_, layer) =>
      blockParameters(config).map(({ name, dims }) => ({ name: layerTensor(layer, name), dims })),
    ).flat(),
  ]
  return specs.map((spec, tensor) => {
    const std = standardDeviation(spec, layers)
    const random = new RandomStream(seed, tensor)
    const data = Float32Array.from({ length: elements(spec.dims) }, () => (std === null ? 1 : std * random.normal()))
    return { ...spec, data }
  })
}

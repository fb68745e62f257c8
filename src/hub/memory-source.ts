/** A model that is already in memory as a WeightSource, for tests and for files that a person dropped. */

import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { WeightSource, WeightTensor } from '../core/weights'

/** The error of every source for a name that it does not have. */
export function missingTensor(name: string, where: string): PlaygroundError {
  return new PlaygroundError(
    'model',
    `${where} has no tensor '${name}'.`,
    'Check that config.json and model.safetensors belong to the same Qwen2, Qwen2.5 or Qwen3 model.',
  )
}

/**
 * Serves the given tensors; `read` hands out the same arrays, not copies.
 * @param config what config() gives back: the parsed config.json
 */
export function memorySource(config: unknown, tensors: readonly NamedTensor[]): WeightSource {
  const byName = new Map<string, WeightTensor>(tensors.map(({ name, dims, data }) => [name, { dims, data }]))
  return {
    config: async () => config,
    names: async () => [...byName.keys()],
    read: async (name) => {
      const tensor = byName.get(name)
      if (!tensor) throw missingTensor(name, 'The model in memory')
      return tensor
    },
  }
}

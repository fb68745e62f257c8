/** A model that is already in memory as a WeightSource, for tests and for files that a person dropped. */

import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { cutTensor, type WeightPiece, type WeightSource } from '../core/weights'
import type { ByteSource } from './bytes'

/** The error of every source for a name that it does not have. */
export function missingTensor(name: string, where: string): PlaygroundError {
  return new PlaygroundError(
    'model',
    `${where} has no tensor '${name}'.`,
    'Check that config.json and model.safetensors belong to the same Qwen2, Qwen2.5 or Qwen3 model.',
  )
}

/** The shapes and pieces of tensors in memory; the pieces are views, not copies. `where` names the model in errors. */
export function tensorPieces(tensors: readonly NamedTensor[], where: string): Pick<WeightSource, 'tensors' | 'pieces'> {
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]))
  return {
    tensors: () => Promise.resolve(new Map(tensors.map(({ name, dims }) => [name, dims]))),
    async *pieces(wanted): AsyncGenerator<WeightPiece> {
      for (const name of wanted) if (!byName.has(name)) throw missingTensor(name, where)
      for (const name of wanted) {
        const { dims, data } = byName.get(name) as NamedTensor
        yield* cutTensor(name, dims, data)
      }
    },
  }
}

/** @param config what config() gives back: the parsed config.json */
export function memorySource(config: unknown, tensors: readonly NamedTensor[]): WeightSource {
  return { config: () => Promise.resolve(config), ...tensorPieces(tensors, 'The model in memory') }
}

/** A file that is in memory as a whole. Its chunks are views, not copies. */
export function memoryBytes(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    size: bytes.length,
    async *read(begin, end) {
      yield bytes.subarray(begin, end)
    },
  }
}

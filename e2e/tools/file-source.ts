/** A model folder on this machine's disk (config.json and model.safetensors) as a WeightSource, for tests in Node. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PlaygroundError } from '../../src/core/errors'
import type { WeightSource } from '../../src/core/weights'
import { tensorPieces } from '../../src/hub/memory-source'
import { readSafetensors } from '../../src/hub/safetensors'

/** Reads the folder's files once, when first needed. Throws PlaygroundError('model') for files that are missing or damaged. */
export function fileSource(dir: string): WeightSource {
  let file: Promise<Pick<WeightSource, 'tensors' | 'pieces'>> | null = null
  const weights = () =>
    (file ??= read(join(dir, 'model.safetensors')).then(bytes => {
      const { tensors } = readSafetensors(bytes)
      return tensorPieces([...tensors].map(([name, { dims, data }]) => ({ name, dims, data })), dir)
    }))
  return {
    config: async () => JSON.parse(new TextDecoder().decode(await read(join(dir, 'config.json')))) as unknown,
    tensors: async () => (await weights()).tensors(),
    async *pieces(wanted) {
      yield* (await weights()).pieces(wanted)
    },
  }
}

function read(path: string): Promise<Uint8Array> {
  return readFile(path).catch((cause: unknown) => {
    throw new PlaygroundError('model', `${path} cannot be read.`, 'Make the model first.', { cause })
  })
}

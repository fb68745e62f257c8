/** A model folder on this machine's disk (config.json and model.safetensors) as a WeightSource, for tests in Node. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PlaygroundError } from '../../src/core/errors'
import type { WeightSource } from '../../src/core/weights'
import { missingTensor } from '../../src/hub/memory-source'
import { readSafetensors, type SafetensorsFile } from '../../src/hub/safetensors'

/** Reads the folder's files once, when first needed. Throws PlaygroundError('model') for files that are missing or damaged. */
export function fileSource(dir: string): WeightSource {
  let file: Promise<SafetensorsFile> | null = null
  const weights = () => (file ??= read(join(dir, 'model.safetensors')).then(readSafetensors))
  return {
    config: async () => JSON.parse(new TextDecoder().decode(await read(join(dir, 'config.json')))) as unknown,
    names: async () => [...(await weights()).tensors.keys()],
    read: async (name) => {
      const tensor = (await weights()).tensors.get(name)
      if (!tensor) throw missingTensor(name, dir)
      return { dims: tensor.dims, data: tensor.data }
    },
  }
}

function read(path: string): Promise<Uint8Array> {
  return readFile(path).catch((cause: unknown) => {
    throw new PlaygroundError('model', `${path} cannot be read.`, 'Make the model first.', { cause })
  })
}

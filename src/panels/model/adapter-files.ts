/** Reads a LoRA from the two files that a person chose, and says what is wrong with files that are not one. */

import { PlaygroundError } from '../../core/errors'
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS, readPeftAdapter } from '../../hub/peft-adapter'
import type { GivenAdapter } from '../../store/model-actions'
import { bytes } from '../../ui/format'

/** `taken` are the names in use. Throws PlaygroundError('config' or 'model') with a sentence for people. */
export async function readAdapterFiles(files: readonly File[], taken: readonly string[]): Promise<GivenAdapter> {
  const config = files.find((f) => f.name.endsWith('.json'))
  const weights = files.find((f) => f.name.endsWith('.safetensors'))
  if (!config || !weights || files.length !== 2) {
    const got = files.map((f) => f.name).join(', ')
    throw new PlaygroundError('config', `A LoRA is two files, and you chose ${got}.`, `Choose ${ADAPTER_CONFIG} and ${ADAPTER_WEIGHTS}, both at once.`)
  }
  const [text, buffer] = [await config.text(), await weights.arrayBuffer()]
  // Whether it fits the model is the worker's to say: it may not be loaded yet.
  const { lora, baseModel } = readPeftAdapter(parse(config.name, text), new Uint8Array(buffer))
  const name = uniqueName(`${weights.name} (${bytes(buffer.byteLength)})`, taken)
  return { name, config: text, weights: buffer, facts: { lora, base: baseModel } }
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PlaygroundError('config', `${name} is not JSON.`, `Save ${ADAPTER_CONFIG} again from where it came.`, { cause })
  }
}

/** Two files of one name are two adapters. */
function uniqueName(name: string, taken: readonly string[]): string {
  let n = 1
  let unique = name
  while (taken.includes(unique)) unique = `${name}, no. ${++n}`
  return unique
}

/** Reads a PEFT adapter from the two files that a person chose, and says what is wrong with the ones that are not it. */

import { z } from 'zod'
import { PlaygroundError } from '../../core/errors'
import { readSafetensorsHeader, safetensorsHeaderBytes } from '../../hub/safetensors'
import type { GivenAdapter } from '../../store/model-actions'
import { bytes } from '../../ui/format'

const CONFIG = 'adapter_config.json'
const WEIGHTS = 'adapter_model.safetensors'
const BOTH = `Choose ${CONFIG} and ${WEIGHTS}, both at once.`

const adapterConfig = z.object({
  peft_type: z.string(),
  r: z.number().int().min(1),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.string(), z.array(z.string()).min(1)]),
  base_model_name_or_path: z.string().nullish(),
})

/** `taken` are the names in use. Throws PlaygroundError('config' or 'model') with a sentence for people. */
export async function readAdapterFiles(files: readonly File[], taken: readonly string[]): Promise<GivenAdapter> {
  const config = files.find((f) => f.name.endsWith('.json'))
  const weights = files.find((f) => f.name.endsWith('.safetensors'))
  if (!config || !weights || files.length !== 2) {
    const got = files.map((f) => f.name).join(', ') || 'nothing'
    throw new PlaygroundError('config', `A LoRA is two files, and you chose ${got}.`, BOTH)
  }
  const text = await config.text()
  const read = parseConfig(config.name, text)
  const buffer = await weights.arrayBuffer()
  checkWeights(weights.name, buffer)
  const name = uniqueName(`${weights.name} (${bytes(buffer.byteLength)})`, taken)
  const { r, lora_alpha, target_modules } = read
  const targets = typeof target_modules === 'string' ? target_modules : target_modules.join(', ')
  return { name, config: text, weights: buffer, facts: { r, lora_alpha, targets, base: read.base_model_name_or_path ?? null } }
}

function parseConfig(name: string, text: string): z.infer<typeof adapterConfig> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new PlaygroundError('config', `${name} is not JSON.`, `Save ${CONFIG} again from where it came.`, { cause })
  }
  const result = adapterConfig.safeParse(json)
  if (!result.success) {
    const where = result.error.issues[0]?.path.join('.') || 'its content'
    throw new PlaygroundError('config', `${name} is no PEFT configuration: ${where} is missing or wrong.`, BOTH)
  }
  if (result.data.peft_type !== 'LORA') {
    throw new PlaygroundError('config', `${name} says peft_type "${result.data.peft_type}".`, 'Choose an adapter of peft_type LORA.')
  }
  return result.data
}

function checkWeights(name: string, buffer: ArrayBuffer): void {
  try {
    const all = new Uint8Array(buffer)
    const header = all.subarray(0, Math.min(all.length, safetensorsHeaderBytes(all)))
    const { entries } = readSafetensorsHeader(header, buffer.byteLength)
    if ([...entries.keys()].some((key) => key.includes('lora_A'))) return
  } catch (error) {
    const known = error instanceof PlaygroundError
    throw new PlaygroundError('model', `${name}: ${known ? error.message : String(error)}`, known ? error.advice : '', { cause: error })
  }
  throw new PlaygroundError('model', `${name} holds no tensor called lora_A.`, `Choose the ${WEIGHTS} that PEFT saved.`)
}

function uniqueName(name: string, taken: readonly string[]): string {
  let n = 1
  let unique = name
  while (taken.includes(unique)) unique = `${name}, no. ${++n}`
  return unique
}

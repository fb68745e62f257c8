/** Reads model.safetensors.index.json: which shard holds which tensor. */

import { z } from 'zod/mini'
import { PlaygroundError } from '../core/errors'

export interface SafetensorsIndex {
  /** Shard's file name → the tensors that the index says it holds; in the order of the names. */
  shards: Map<string, string[]>
}

const schema = z.object({ weight_map: z.record(z.string(), z.string()) })

/** model-00001-of-00002.safetensors and the like. */
const NUMBERED = /^(.+[_-])(\d{5,6})-of-(\d{5,6})\.safetensors$/
const PLAIN = /^[^/\\]+\.safetensors$/
const AGAIN = 'Save the model again, or choose another revision.'

function refuse(name: string, what: string, advice = AGAIN, cause?: unknown): never {
  throw new PlaygroundError('model', `${name} cannot be used: ${what}.`, advice, { cause })
}

/**
 * Parses the text of an index.
 * @param name the index file's name, for errors
 * @throws PlaygroundError('model') on text that is no index, a shard outside the folder, or numbered shards of which one is not named
 */
export function readSafetensorsIndex(text: string, name = 'model.safetensors.index.json'): SafetensorsIndex {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    refuse(name, 'it is not JSON', AGAIN, cause)
  }
  const index = schema.safeParse(parsed)
  if (!index.success) refuse(name, 'it has no weight_map of tensor names to file names', AGAIN, index.error)
  const shards = new Map<string, string[]>()
  for (const [tensor, file] of Object.entries(index.data.weight_map)) {
    if (!PLAIN.test(file) || file.startsWith('.')) refuse(name, `it puts '${tensor}' into ${JSON.stringify(file)}, which is no safetensors file of the same folder`)
    const known = shards.get(file)
    if (known) known.push(tensor)
    else shards.set(file, [tensor])
  }
  if (shards.size === 0) refuse(name, 'its weight_map is empty')
  checkNumbers(name, [...shards.keys()])
  return { shards: new Map([...shards].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** Every shard 1..N of the N that the names speak of. */
function checkNumbers(name: string, files: string[]): void {
  const series = new Map<string, { of: number; width: number; seen: Set<number> }>()
  for (const file of files) {
    const [, stem, number, of] = NUMBERED.exec(file) ?? []
    if (stem === undefined || number === undefined || of === undefined) continue
    const key = `${stem}${of}`
    const group = series.get(key) ?? { of: Number(of), width: number.length, seen: new Set() }
    group.seen.add(Number(number))
    series.set(key, group)
  }
  for (const [key, { of, width, seen }] of series) {
    // A count in a name is anybody's: no loop over it before it is known to be near what was seen.
    if (seen.size === of && Math.max(...seen) === of) continue
    const missing = Array.from({ length: seen.size + 1 }, (_, i) => i + 1).find((i) => !seen.has(i)) ?? of
    const stem = key.slice(0, key.length - width)
    refuse(name, `it names ${seen.size} of ${of} shards; ${stem}${String(missing).padStart(width, '0')}-of-${String(of).padStart(width, '0')}.safetensors is missing`)
  }
}

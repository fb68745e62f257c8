/** Where make.py left its results, and how the tests read and compare them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NamedTensor } from '../../src/core/engine'
import { readSafetensors } from '../../src/hub/safetensors'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const REFERENCE = join(ROOT, '.cache', 'reference')

/** A file under .cache/reference; throws with what to run when it is missing. */
export function referenceBytes(path: string): Uint8Array {
  try {
    return readFileSync(join(REFERENCE, path))
  } catch (cause) {
    throw new Error(`${path} is missing: run \`npm run test:reference\`, which makes it.`, { cause })
  }
}

/** A JSON file that make.py wrote; T is what its maker writes. */
export function referenceJson<T>(path: string): T {
  return JSON.parse(new TextDecoder().decode(referenceBytes(path))) as T
}

/** The tensors of a safetensors file, in the engine's form. */
export function referenceTensors(path: string): NamedTensor[] {
  return [...readSafetensors(referenceBytes(path)).tensors].map(([name, { dims, data }]) => ({ name, dims, data }))
}

/** Largest absolute difference; NaN anywhere makes it NaN, which no tolerance accepts. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`${a.length} values against ${b.length}`)
  let largest = 0
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] as number) - (b[i] as number))
    if (!(difference <= largest)) largest = difference
  }
  return largest
}

/** ‖ours − theirs‖ / ‖theirs‖; 0 when both are all zeros. */
export function relativeDifference(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  if (ours.length !== theirs.length) throw new Error(`${ours.length} values against ${theirs.length}`)
  let difference = 0
  let norm = 0
  for (let i = 0; i < ours.length; i++) {
    difference += ((ours[i] as number) - (theirs[i] as number)) ** 2
    norm += (theirs[i] as number) ** 2
  }
  return difference === 0 ? 0 : Math.sqrt(difference / norm)
}

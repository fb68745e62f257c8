/** Weights of any shape that are made as they are read: for measurements, where only shapes count. Nothing of this size is stored. */

import { RandomStream } from '../core/random'
import { PIECE_ELEMENTS, type WeightSource } from '../core/weights'
import { parseModelConfig } from '../model/config'
import { elements } from '../model/parameters'
import { baseTensors } from './weights'

/** Elements after which the random numbers come again; a prime, so that no two rows are alike. */
const PERIOD = 1_048_573

/** Numbers that stand for weights: normal, of standard deviation 0.02, one array used again and again from other places. */
export function randomValues(): Float32Array {
  const random = new RandomStream(6)
  return Float32Array.from({ length: PERIOD }, () => 0.02 * random.normal())
}

/** Fills `out` with the values from place `from` on, again and again. */
export function repeat<A extends Float32Array | Uint8Array>(values: A, from: number, out: A): A {
  for (let at = 0, start = from % values.length; at < out.length; start = 0) {
    const part = values.subarray(start, Math.min(values.length, start + out.length - at))
    out.set(part, at)
    at += part.length
  }
  return out
}

/** A model of this config.json with random weights, the same ones everywhere. */
export function randomSource(config: Readonly<Record<string, unknown>>): WeightSource {
  const tensors = new Map(baseTensors(parseModelConfig(config)).map(({ name, dims }) => [name, dims]))
  const values = randomValues()
  return {
    config: () => Promise.resolve(config),
    tensors: () => Promise.resolve(tensors),
    async *pieces(wanted) {
      for (const [i, name] of wanted.entries()) {
        const dims = tensors.get(name) as number[]
        const ones = name.endsWith('norm.weight')
        for (const { offset, length } of cuts(dims)) {
          yield { name, offset, data: ones ? new Float32Array(length).fill(1) : repeat(values, i * 7919 + offset, new Float32Array(length)) }
        }
      }
    },
  }
}

function* cuts(dims: readonly number[]): Generator<{ offset: number; length: number }> {
  const row = dims.at(-1) ?? 1
  const step = Math.max(1, Math.floor(PIECE_ELEMENTS / row)) * row
  const total = elements(dims)
  for (let offset = 0; offset < total; offset += step) yield { offset, length: Math.min(step, total - offset) }
}

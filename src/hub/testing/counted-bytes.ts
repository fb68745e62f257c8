/** A file in memory that writes down which ranges are read, in chunks of an awkward length, and that may break off. */

import { PlaygroundError } from '../../core/errors'
import type { ByteSource } from '../bytes'

export interface CountedBytes extends ByteSource {
  /** Ranges asked for, and what was handed out of each. */
  readonly reads: { begin: number; end: number; given: number }[]
  /** Position at which the next read breaks off with a lost connection, once; null never. */
  breakAt: number | null
}

export function countedBytes(name: string, bytes: Uint8Array, chunk = 1001): CountedBytes {
  const source: CountedBytes = {
    name,
    size: bytes.length,
    reads: [],
    breakAt: null,
    async *read(begin, end) {
      const entry = { begin, end, given: 0 }
      source.reads.push(entry)
      for (let at = begin; at < end; ) {
        let until = Math.min(at + chunk, end)
        if (source.breakAt !== null && source.breakAt <= at) {
          source.breakAt = null
          throw new PlaygroundError('model', `The connection to ${name} was lost.`, 'Load the model again.')
        }
        if (source.breakAt !== null) until = Math.min(until, source.breakAt)
        await Promise.resolve()
        entry.given += until - at
        yield bytes.slice(at, until)
        at = until
      }
    },
  }
  return source
}

/** A safetensors file with nothing checked: raw data by name, each of any dtype, in this order. */
export function safetensorsFile(tensors: readonly { name: string; dtype: string; dims: number[]; bytes: Uint8Array }[]): Uint8Array {
  let position = 0
  const header = tensors.map(({ name, dtype, dims, bytes }) => {
    const entry = { dtype, shape: dims, data_offsets: [position, (position += bytes.length)] }
    return [name, entry] as const
  })
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)))
  const out = new Uint8Array(8 + text.length + position)
  new DataView(out.buffer).setBigUint64(0, BigInt(text.length), true)
  out.set(text, 8)
  let at = 8 + text.length
  for (const { bytes } of tensors) {
    out.set(bytes, at)
    at += bytes.length
  }
  return out
}

/** Element i of a test tensor as bfloat16 bytes: small integers, which bfloat16 holds exactly. */
export function bf16Ramp(elements: number, start = 0): { bytes: Uint8Array; values: Float32Array } {
  const values = Float32Array.from({ length: elements }, (_, i) => ((start + i) % 251) - 125)
  const bits = new Uint32Array(values.buffer)
  return { bytes: new Uint8Array(Uint16Array.from(bits, (b) => b >>> 16).buffer), values }
}

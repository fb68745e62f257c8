/** Widens the raw little-endian elements of a safetensors file to float32, in place where the bytes have just arrived. */

export type SafetensorsDtype = 'F32' | 'F16' | 'BF16'

/** Bytes of one element. */
export const DTYPE_BYTES: Record<SafetensorsDtype, number> = { F32: 4, F16: 2, BF16: 2 }

/** Widens an IEEE half to a float32 number. */
function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** All 65536 halves as float32: five times as fast as computing each. */
let halves: Float32Array | null = null

function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 0x10000 }, (_, half) => halfToNumber(half))
  return halves
}

/** The bytes of `out` that take the raw elements before `widenInPlace`: all of it for F32, the second half for the others. */
export function rawBytes(out: Float32Array, dtype: SafetensorsDtype): Uint8Array {
  const bytes = out.length * DTYPE_BYTES[dtype]
  return new Uint8Array(out.buffer, out.byteOffset + out.byteLength - bytes, bytes)
}

/** Turns raw elements that `rawBytes(out, dtype)` was filled with into float32. */
export function widenInPlace(out: Float32Array, dtype: SafetensorsDtype): void {
  if (dtype === 'F32') return
  const n = out.length
  // Element i of the result ends at byte 4i + 4, never past raw element i + 1, which begins at byte 2n + 2i + 2: nothing unread is overwritten.
  const raw = new Uint16Array(out.buffer, out.byteOffset + 2 * n, n)
  if (dtype === 'F16') {
    const table = halfTable()
    for (let i = 0; i < n; i++) out[i] = table[raw[i] as number] as number
    return
  }
  const bits = new Uint32Array(out.buffer, out.byteOffset, n)
  for (let i = 0; i < n; i++) bits[i] = (raw[i] as number) << 16
}

/**
 * Widens raw tensor bytes to float32; always a copy, whatever the alignment.
 * @param bytes [elements × bytes per element]
 */
export function widen(bytes: Uint8Array, dtype: SafetensorsDtype): Float32Array {
  const out = new Float32Array(Math.floor(bytes.length / DTYPE_BYTES[dtype]))
  const raw = rawBytes(out, dtype)
  raw.set(bytes.subarray(0, raw.length))
  widenInPlace(out, dtype)
  return out
}

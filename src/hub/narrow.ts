/** Rounds float32 to float16 as torch does: to the nearest, halves to the even one; the opposite of widen.ts. */

/** The largest value that float16 holds. */
export const MOST_HALF = 65504

/** Bit patterns of the nearest halves; above 65,519 that is infinity. */
export function toHalf(values: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  return Uint16Array.from(bits, (word, i) => {
    const sign = (word >>> 16) & 0x8000
    const size = word & 0x7fffffff
    if (size > 0x7f800000) return sign | 0x7e00
    if (size >= 0x477ff000) return sign | 0x7c00
    // Below 2⁻¹⁴ the steps are 2⁻²⁴, and the product is exact.
    if (size < 0x38800000) return sign | roundEven(Math.abs(values[i] as number) * 2 ** 24)
    return sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13)
  })
}

function roundEven(value: number): number {
  const below = Math.floor(value)
  const rest = value - below
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below
}

/**
 * float32 rows → 4- or 8-bit codes in blocks of 32 with a float32 scale each, symmetric: value = (code − zero point) · scale.
 * int4 is GGML's q4_0: the element of largest magnitude becomes −8 · scale exactly, so no block loses its extreme.
 */

import { PlaygroundError } from '../core/errors'
import { type Bits, BLOCK } from '../graph/ops/quantized'

export interface QuantizedRows {
  /** [elements · bits / 8]; 4 bits: the first of two elements in the low half. */
  codes: Uint8Array
  /** [elements / 32] */
  scales: Float32Array
}

/**
 * Quantises whole rows, [rows · columns] with columns a multiple of 32 (then no block crosses a row).
 * @throws PlaygroundError('model') when a value is not finite; `name` is the tensor it belongs to
 */
export function quantize(values: Float32Array, bits: Bits, name: string): QuantizedRows {
  const scales = new Float32Array(values.length / BLOCK)
  const codes = new Uint8Array((values.length * bits) / 8)
  const ok = bits === 4 ? quantize4(values, codes, scales) : quantize8(values, codes, scales)
  if (!ok) throw notFinite(name)
  return { codes, scales }
}

/** The error for a weight that is no finite number. */
export function notFinite(name: string): PlaygroundError {
  return new PlaygroundError('model', `${name} holds a value that is not a finite number.`, 'The file is damaged: delete the stored copy and download it again.')
}

/** Back to float32: what the graphs compute with. */
export function dequantizeRows({ codes, scales }: QuantizedRows, bits: Bits): Float32Array {
  const out = new Float32Array(scales.length * BLOCK)
  for (let i = 0; i < out.length; i++) {
    const scale = scales[i >> 5] as number
    const code = bits === 8 ? (codes[i] as number) - 128 : (((codes[i >> 1] as number) >> (4 * (i & 1))) & 15) - 8
    out[i] = code * scale
  }
  return out
}

function quantize4(values: Float32Array, codes: Uint8Array, scales: Float32Array): boolean {
  // Math.fround would cost a call each: one-element arrays round to float32 as the reference does.
  const inverse = new Float32Array(1)
  const step = new Float32Array(1)
  for (let block = 0, at = 0, byte = 0; block < scales.length; block++, at += BLOCK) {
    let most = 0
    let extreme = 0
    for (let i = at; i < at + BLOCK; i++) {
      const value = values[i] as number
      const size = Math.abs(value)
      // Written so that NaN stops it too.
      if (!(size < Infinity)) return false
      if (size > most) {
        most = size
        extreme = value
      }
    }
    scales[block] = extreme / -8
    const scale = scales[block] as number
    inverse[0] = scale === 0 ? 0 : 1 / scale
    const factor = inverse[0]
    for (let i = at; i < at + BLOCK; i += 2, byte++) {
      step[0] = (values[i] as number) * factor
      step[0] = (step[0]) + 8.5
      const low = Math.min(15, Math.max(0, Math.floor(step[0])))
      step[0] = (values[i + 1] as number) * factor
      step[0] = (step[0]) + 8.5
      codes[byte] = low | (Math.min(15, Math.max(0, Math.floor(step[0]))) << 4)
    }
  }
  return true
}

function quantize8(values: Float32Array, codes: Uint8Array, scales: Float32Array): boolean {
  const inverse = new Float32Array(1)
  const step = new Float32Array(1)
  for (let block = 0, at = 0; block < scales.length; block++, at += BLOCK) {
    let most = 0
    for (let i = at; i < at + BLOCK; i++) {
      const size = Math.abs(values[i] as number)
      if (!(size < Infinity)) return false
      if (size > most) most = size
    }
    scales[block] = most / 127
    const scale = scales[block] as number
    inverse[0] = scale === 0 ? 0 : 1 / scale
    const factor = inverse[0]
    for (let i = at; i < at + BLOCK; i++) {
      step[0] = (values[i] as number) * factor
      step[0] = (step[0]) + 0.5
      codes[i] = Math.min(255, Math.max(1, Math.floor(step[0]) + 128))
    }
  }
  return true
}

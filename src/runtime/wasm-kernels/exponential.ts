/** exp in the kernels' code. */

import { type Code, f32x4, type FunctionWriter, i32x4, get, type Local, set } from './assembler'

/** 1.5 · 2²³: a float of few units plus this has the nearest whole number in its lowest bits. */
const WHOLE = 12_582_912

/**
 * exp of four floats within 2 units of the last place (Cephes' polynomial), for a function that is being written; below −87.3 it is about 1e-38
 * instead of less. Written where it is used: a call costs as much.
 */
export function expIn(writer: FunctionWriter): (value: Code) => Code {
  const [x, whole, n, r] = writer.localsOf('v128', 4) as [Local, Local, Local, Local]
  const polynomial = [1.398199950e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1].reduce<Code>(
    (sum, c) => f32x4.add(f32x4.mul(sum, get(r)), f32x4.const(c)),
    f32x4.const(1.98756915e-4),
  )
  return (value) => [
    ...set(x, f32x4.max(f32x4.min(value, f32x4.const(88)), f32x4.const(-87.3))),
    ...set(whole, f32x4.add(f32x4.mul(get(x), f32x4.const(1.4426950408889634)), f32x4.const(WHOLE))),
    ...set(n, f32x4.sub(get(whole), f32x4.const(WHOLE))),
    ...set(r, f32x4.sub(f32x4.sub(get(x), f32x4.mul(get(n), f32x4.const(0.693359375))), f32x4.mul(get(n), f32x4.const(-2.12194440e-4)))),
    ...f32x4.mul(
      f32x4.add(f32x4.add(f32x4.mul(polynomial, f32x4.mul(get(r), get(r))), get(r)), f32x4.const(1)),
      // 2ⁿ: what the shift leaves of `whole` is n in the exponent's place.
      i32x4.add(i32x4.shl(get(whole), 23), i32x4.const(127 << 23)),
    ),
  ]
}

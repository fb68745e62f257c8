/** Code of attention over blocks of eight queries of one head: they are lanes of two registers, so that each key and value is read once for all. */

import { type Code, f32x4, FunctionWriter, get, i32, type Local, set, when, type WrittenFunction } from './assembler'
import { expIn } from './exponential'
import { LANES, PANEL } from './product-code'

const ROW = 4 * LANES
const plus = (local: Local, by: Code): Code => set(local, i32.add(get(local), by))

export function writeScores8(): WrittenFunction {
  const writer = new FunctionWriter(['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32'])
  const [q, k, kStride, out, n, dim, scale] = writer.params as [Local, Local, Local, Local, Local, Local, Local]
  const [j, d, from] = writer.localsOf('i32', 3) as [Local, Local, Local]
  const keys = writer.localsOf('i32', 4)
  const sums = keys.map(() => writer.localsOf('v128', 2))
  const lanes = writer.localsOf('v128', 2)
  const value = writer.local('v128')
  const body = writer.loop(j, get(n), 4, [
    ...keys.flatMap((key, i) => set(key, i === 0 ? get(k) : i32.add(get(keys[i - 1] as Local), get(kStride)))),
    ...sums.flat().flatMap((sum) => set(sum, f32x4.const(0))),
    ...set(from, get(q)),
    ...writer.loop(d, get(dim), 1, [
      ...lanes.flatMap((lane, h) => set(lane, f32x4.load(get(from), 16 * h))),
      ...sums.flatMap((pair, i) => [
        ...set(value, f32x4.loadSplat(get(keys[i] as Local))),
        ...pair.flatMap((sum, h) => set(sum, f32x4.add(get(sum), f32x4.mul(get(lanes[h] as Local), get(value))))),
      ]),
      ...keys.flatMap((key) => plus(key, i32.const(4))),
      ...plus(from, i32.const(ROW)),
    ]),
    ...sums.flatMap((pair, i) => pair.flatMap((sum, h) => f32x4.store(get(out), f32x4.mul(get(sum), f32x4.splat(get(scale))), ROW * i + 16 * h))),
    ...plus(out, i32.const(4 * ROW)),
    ...plus(k, i32.mul(get(kStride), i32.const(4))),
  ])
  return { name: 'scores8', writer, body }
}

export function writeSoftmax8(): WrittenFunction {
  const writer = new FunctionWriter(['i32', 'i32'])
  const [p, n] = writer.params as [Local, Local]
  const [j, at] = writer.localsOf('i32', 2) as [Local, Local]
  const [most, sums] = [writer.localsOf('v128', 2), writer.localsOf('v128', 2)]
  const value = writer.local('v128')
  const exp = expIn(writer)
  const along = (each: (h: number) => Code): Code => [...set(at, get(p)), ...writer.loop(j, get(n), 1, [...each(0), ...each(1), ...plus(at, i32.const(ROW))])]
  const [m, s] = [(h: number): Local => most[h] as Local, (h: number): Local => sums[h] as Local]
  const body = [
    ...most.flatMap((lane) => set(lane, f32x4.const(-Infinity))),
    ...along((h) => set(m(h), f32x4.max(get(m(h)), f32x4.load(get(at), 16 * h)))),
    ...along((h) => [
      ...set(value, exp(f32x4.sub(f32x4.load(get(at), 16 * h), get(m(h))))),
      ...set(s(h), f32x4.add(get(s(h)), get(value))),
      ...f32x4.store(get(at), get(value), 16 * h),
    ]),
    ...sums.flatMap((sum) => set(sum, f32x4.div(f32x4.const(1), get(sum)))),
    ...along((h) => f32x4.store(get(at), f32x4.mul(f32x4.load(get(at), 16 * h), get(s(h))), 16 * h)),
  ]
  return { name: 'softmax8', writer, body }
}

export function writeSoftmaxBackward8(): WrittenFunction {
  const writer = new FunctionWriter(['i32', 'i32', 'i32', 'f32'])
  const [p, d, n, scale] = writer.params as [Local, Local, Local, Local]
  const [j, share, slope] = writer.localsOf('i32', 3) as [Local, Local, Local]
  const mean = writer.localsOf('v128', 2)
  const body = [
    // Of the very slopes that it is taken from: what pays all to one token has no slope at all, not that of two roundings.
    ...set(share, get(p)),
    ...set(slope, get(d)),
    ...writer.loop(j, get(n), 1, [
      ...mean.flatMap((lane, h) => set(lane, f32x4.add(get(lane), f32x4.mul(f32x4.load(get(share), 16 * h), f32x4.load(get(slope), 16 * h))))),
      ...plus(share, i32.const(ROW)),
      ...plus(slope, i32.const(ROW)),
    ]),
    ...writer.loop(j, get(n), 1, [
      ...mean.flatMap((lane, h) =>
        f32x4.store(get(d), f32x4.mul(f32x4.mul(f32x4.load(get(p), 16 * h), f32x4.sub(f32x4.load(get(d), 16 * h), get(lane))), f32x4.splat(get(scale))), 16 * h),
      ),
      ...plus(p, i32.const(ROW)),
      ...plus(d, i32.const(ROW)),
    ]),
  ]
  return { name: 'softmaxBackward8', writer, body }
}

/** Tokens whose slopes stay near while all of their floats are added to. */
const NEAR_TOKENS = 16

export function writeSpread8(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 6 }, () => 'i32' as const))
  const [weights, x, out, outStride, n, dim] = writer.params as [Local, Local, Local, Local, Local, Local]
  const [first, count, d, j, weight, row, panel, column] = writer.localsOf('i32', 8) as [Local, Local, Local, Local, Local, Local, Local, Local]
  const queries = writer.localsOf('v128', LANES)
  const sum = writer.local('v128')
  const body = writer.loop(first, get(n), NEAR_TOKENS, [
    ...set(count, i32.const(NEAR_TOKENS)),
    ...when(i32.ltS(i32.sub(get(n), get(first)), i32.const(NEAR_TOKENS)), set(count, i32.sub(get(n), get(first)))),
    ...set(panel, get(x)),
    ...set(column, get(out)),
    ...writer.loop(d, get(dim), PANEL, [
      ...queries.flatMap((query, i) => set(query, f32x4.load(get(panel), 4 * PANEL * i))),
      ...set(weight, get(weights)),
      ...set(row, get(column)),
      ...writer.loop(j, get(count), 1, [
        ...set(sum, f32x4.load(get(row))),
        ...queries.flatMap((query, i) => set(sum, f32x4.add(get(sum), f32x4.mul(f32x4.loadSplat(get(weight), 4 * i), get(query))))),
        ...f32x4.store(get(row), get(sum)),
        ...plus(weight, i32.const(ROW)),
        ...plus(row, get(outStride)),
      ]),
      ...plus(panel, i32.const(4 * PANEL * LANES)),
      ...plus(column, i32.const(4 * PANEL)),
    ]),
    ...set(weights, get(weight)),
    ...plus(out, i32.mul(get(outStride), i32.const(NEAR_TOKENS))),
  ])
  return { name: 'spread8', writer, body }
}

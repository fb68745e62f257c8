/** Code of the kernels that multiply: rows with packed matrices, outer products, and attention's sums over tokens. */

import { type Code, f32x4, FunctionWriter, get, i32, type Local, set, when, type WrittenFunction } from './assembler'

/** Columns of a matrix that lie together: a panel is [depth, PANEL]. */
export const PANEL = 8
const VECTORS = PANEL / 4
const PANEL_BYTES = PANEL * 4
/** Steps of the depth that a product's loop takes at once; every depth is a multiple. */
export const DEPTH_STEP = 4
/** Rows of the first factor that `outer` takes at once. */
export const OUTER_ROWS = 4

const ADDRESS = 'i32' as const
const plus = (local: Local, by: Code): Code => set(local, i32.add(get(local), by))

export function writeProduct(name: string, rows: number, together: number): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 8 }, () => ADDRESS))
  const [a, aStride, w, out, outStride, depth, panels, add] = writer.params as [Local, Local, Local, Local, Local, Local, Local, Local]
  const [panel, k, place, size] = writer.localsOf('i32', 4) as [Local, Local, Local, Local]
  const at = writer.localsOf('i32', rows)
  const streams = writer.localsOf('i32', together)
  const sums = Array.from({ length: rows }, () => writer.localsOf('v128', VECTORS * together))
  const columns = writer.localsOf('v128', VECTORS * together)
  const value = writer.local('v128')
  const rowAddresses = (first: Local, stride: Local, places: readonly Local[]): Code =>
    places.flatMap((to, r) => set(to, r === 0 ? get(first) : i32.add(get(places[r - 1] as Local), get(stride))))
  const eachSum = (of: (row: number, v: number, sum: Local) => Code): Code => sums.flatMap((row, r) => row.flatMap((sum, v) => of(r, v, sum)))
  const step: Code = Array.from({ length: DEPTH_STEP }, (_, u) => [
    ...columns.flatMap((column, v) => set(column, f32x4.load(get(streams[Math.floor(v / VECTORS)] as Local), u * PANEL_BYTES + 16 * (v % VECTORS)))),
    ...at.flatMap((row, r) => [
      ...set(value, f32x4.loadSplat(get(row), 4 * u)),
      ...columns.flatMap((column, v) => {
        const sum = sums[r]?.[v] as Local
        return set(sum, f32x4.add(get(sum), f32x4.mul(get(value), get(column))))
      }),
    ]),
  ]).flat()
  const body = [
    ...set(size, i32.mul(get(depth), i32.const(PANEL_BYTES))),
    ...writer.loop(panel, get(panels), together, [
      ...rowAddresses(out, outStride, at),
      ...when(get(add), eachSum((r, v, sum) => set(sum, f32x4.load(get(at[r] as Local), 16 * v)))),
      ...when(i32.sub(i32.const(1), get(add)), eachSum((_r, _v, sum) => set(sum, f32x4.const(0)))),
      ...rowAddresses(a, aStride, at),
      ...streams.flatMap((stream, s) => set(stream, s === 0 ? get(w) : i32.add(get(streams[s - 1] as Local), get(size)))),
      ...writer.loop(k, get(depth), DEPTH_STEP, [
        ...step,
        ...streams.flatMap((stream) => plus(stream, i32.const(DEPTH_STEP * PANEL_BYTES))),
        ...at.flatMap((row) => plus(row, i32.const(4 * DEPTH_STEP))),
      ]),
      ...set(place, get(out)),
      ...sums.flatMap((row) => [...row.flatMap((sum, v) => f32x4.store(get(place), get(sum), 16 * v)), ...plus(place, get(outStride))]),
      ...plus(out, i32.const(together * PANEL_BYTES)),
      ...plus(w, i32.mul(get(size), i32.const(together))),
    ]),
  ]
  return { name, writer, body }
}

export function writeOuter(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 8 }, () => ADDRESS))
  const [p, pStride, q, qStride, out, outStride, rows, tiles] = writer.params as [Local, Local, Local, Local, Local, Local, Local, Local]
  const [tile, row, from, to, place] = writer.localsOf('i32', 5) as [Local, Local, Local, Local, Local]
  const sums = Array.from({ length: OUTER_ROWS }, () => writer.localsOf('v128', VECTORS))
  const columns = writer.localsOf('v128', VECTORS)
  const value = writer.local('v128')
  const body = writer.loop(tile, get(tiles), 1, [
    ...sums.flat().flatMap((sum) => set(sum, f32x4.const(0))),
    ...set(from, get(p)),
    ...set(to, get(q)),
    ...writer.loop(row, get(rows), 1, [
      ...columns.flatMap((column, v) => set(column, f32x4.load(get(to), 16 * v))),
      ...sums.flatMap((line, i) => [
        ...set(value, f32x4.loadSplat(get(from), 4 * i)),
        ...line.flatMap((sum, v) => set(sum, f32x4.add(get(sum), f32x4.mul(get(value), get(columns[v] as Local))))),
      ]),
      ...plus(from, get(pStride)),
      ...plus(to, get(qStride)),
    ]),
    ...set(place, get(out)),
    ...sums.flatMap((line) => [...line.flatMap((sum, v) => f32x4.store(get(place), get(sum), 16 * v)), ...plus(place, get(outStride))]),
    ...plus(out, i32.const(PANEL_BYTES)),
    ...plus(q, i32.const(PANEL_BYTES)),
  ])
  return { name: 'outer', writer, body }
}

/** `work` over the floats of a head: as many large pieces as fit, then small ones, of which the head is a multiple. Large is a power of two. */
function inPieces(writer: FunctionWriter, dim: Local, [large, small]: readonly [number, number], work: (floats: number) => Code): Code {
  const [d, rest] = writer.localsOf('i32', 2) as [Local, Local]
  return [
    ...set(rest, i32.and(get(dim), i32.const(large - 1))),
    ...writer.loop(d, i32.sub(get(dim), get(rest)), large, work(large)),
    ...writer.loop(d, get(rest), small, work(small)),
  ]
}

export function writeScores(): WrittenFunction {
  const writer = new FunctionWriter(['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32'])
  const [q, k, kStride, out, n, dim, scale] = writer.params as [Local, Local, Local, Local, Local, Local, Local]
  const [j, from] = writer.localsOf('i32', 2) as [Local, Local]
  const keys = writer.localsOf('i32', 4)
  const sums = writer.localsOf('v128', 4)
  const value = writer.local('v128')
  const [a, b, c, e] = sums as [Local, Local, Local, Local]
  // The sums of four registers as one register.
  const low = f32x4.add(f32x4.shuffle(get(a), get(b), [0, 4, 1, 5]), f32x4.shuffle(get(a), get(b), [2, 6, 3, 7]))
  const high = f32x4.add(f32x4.shuffle(get(c), get(e), [0, 4, 1, 5]), f32x4.shuffle(get(c), get(e), [2, 6, 3, 7]))
  /** So many floats of the query with those of four keys. */
  const along = (floats: number): Code => [
    ...Array.from({ length: floats / 4 }, (_, u) => [
      ...set(value, f32x4.load(get(from), 16 * u)),
      ...sums.flatMap((sum, i) => set(sum, f32x4.add(get(sum), f32x4.mul(get(value), f32x4.load(get(keys[i] as Local), 16 * u))))),
    ]).flat(),
    ...[...keys, from].flatMap((pointer) => plus(pointer, i32.const(4 * floats))),
  ]
  const body = writer.loop(j, get(n), 4, [
    ...keys.flatMap((key, i) => set(key, i === 0 ? get(k) : i32.add(get(keys[i - 1] as Local), get(kStride)))),
    ...sums.flatMap((sum) => set(sum, f32x4.const(0))),
    ...set(from, get(q)),
    ...inPieces(writer, dim, [32, 8], along),
    ...set(a, low),
    ...set(c, high),
    ...f32x4.store(get(out), f32x4.mul(f32x4.add(f32x4.shuffle(get(a), get(c), [0, 1, 4, 5]), f32x4.shuffle(get(a), get(c), [2, 3, 6, 7])), f32x4.splat(get(scale)))),
    ...plus(out, i32.const(16)),
    ...plus(k, i32.mul(get(kStride), i32.const(4))),
  ])
  return { name: 'scores', writer, body }
}

export function writeMix(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 7 }, () => ADDRESS))
  const [p, v, vStride, out, n, dim, add] = writer.params as [Local, Local, Local, Local, Local, Local, Local]
  const [j, weight, row] = writer.localsOf('i32', 3) as [Local, Local, Local]
  const value = writer.local('v128')
  const sums = writer.localsOf('v128', 8)
  const columns = (count: number): Code => {
    const used = sums.slice(0, count)
    return [
      ...when(get(add), used.flatMap((sum, i) => set(sum, f32x4.load(get(out), 16 * i)))),
      ...when(i32.sub(i32.const(1), get(add)), used.flatMap((sum) => set(sum, f32x4.const(0)))),
      ...set(weight, get(p)),
      ...set(row, get(v)),
      ...writer.loop(j, get(n), 1, [
        ...set(value, f32x4.loadSplat(get(weight))),
        ...used.flatMap((sum, i) => set(sum, f32x4.add(get(sum), f32x4.mul(get(value), f32x4.load(get(row), 16 * i))))),
        ...plus(weight, i32.const(4)),
        ...plus(row, get(vStride)),
      ]),
      ...used.flatMap((sum, i) => f32x4.store(get(out), get(sum), 16 * i)),
      ...plus(out, i32.const(16 * count)),
      ...plus(v, i32.const(16 * count)),
    ]
  }
  return { name: 'mix', writer, body: inPieces(writer, dim, [32, 4], (floats) => columns(floats / 4)) }
}

export function writeSpread(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 6 }, () => ADDRESS))
  const [weights, x, out, outStride, n, dim] = writer.params as [Local, Local, Local, Local, Local, Local]
  const [j, weight, row] = writer.localsOf('i32', 3) as [Local, Local, Local]
  const value = writer.local('v128')
  const parts = writer.localsOf('v128', 8)
  const columns = (count: number): Code => {
    const used = parts.slice(0, count)
    return [
      ...used.flatMap((part, i) => set(part, f32x4.load(get(x), 16 * i))),
      ...set(weight, get(weights)),
      ...set(row, get(out)),
      ...writer.loop(j, get(n), 1, [
        ...set(value, f32x4.loadSplat(get(weight))),
        ...used.flatMap((part, i) => f32x4.store(get(row), f32x4.add(f32x4.load(get(row), 16 * i), f32x4.mul(get(value), get(part))), 16 * i)),
        ...plus(weight, i32.const(4)),
        ...plus(row, get(outStride)),
      ]),
      ...plus(out, i32.const(16 * count)),
      ...plus(x, i32.const(16 * count)),
    ]
  }
  return { name: 'spread', writer, body: inPieces(writer, dim, [32, 4], (floats) => columns(floats / 4)) }
}

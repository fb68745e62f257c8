/** Code of the kernels that multiply: rows with packed matrices, outer products, and attention's sums over tokens. */

import { type Code, f32, f32x4, FunctionWriter, get, i32, type Local, set, when, type WrittenFunction } from './assembler'

/** Columns of a matrix that lie together: a panel is [depth, PANEL]. */
export const PANEL = 4
const PANEL_BYTES = PANEL * 4
/** Depths are multiples of this. */
export const DEPTH_STEP = 4
/** Rows that `product8` takes at once, each a lane of two registers. */
export const LANES = 8
/** Rows of the first factor that `outer` takes at once, and columns of the second. */
export const OUTER_ROWS = 4
export const OUTER_COLUMNS = 8
/** Bytes that memory gives at once. */
const LINE = 64
const VECTORS = OUTER_COLUMNS / 4

const ADDRESS = 'i32' as const
const plus = (local: Local, by: Code): Code => set(local, i32.add(get(local), by))
const rowAddresses = (first: Local, stride: Local, places: readonly Local[]): Code =>
  places.flatMap((to, r) => set(to, r === 0 ? get(first) : i32.add(get(places[r - 1] as Local), get(stride))))

/** The rows of a 4 × 4 block whose columns lie in `from`; `spare`: two more registers. */
function turned(from: readonly Local[], spare: readonly Local[], use: (row: number, value: Code) => Code): Code {
  const [a, b, c, d] = from as [Local, Local, Local, Local]
  const [low, high] = spare as [Local, Local]
  const half = (first: number, words: readonly [number, number, number, number]): Code => [
    ...set(low, f32x4.shuffle(get(a), get(b), words)),
    ...set(high, f32x4.shuffle(get(c), get(d), words)),
    ...use(first, f32x4.shuffle(get(low), get(high), [0, 1, 4, 5])),
    ...use(first + 1, f32x4.shuffle(get(low), get(high), [2, 3, 6, 7])),
  ]
  return [...half(0, [0, 4, 1, 5]), ...half(2, [2, 6, 3, 7])]
}

/**
 * A loop takes few steps of the depth at once: V8 loads the factors of all of them before it multiplies, and eight sums leave it no registers
 * for that.
 */
export function writeProduct(name: string, rows: number, together: number, unroll: number): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 13 }, () => ADDRESS))
  const [a, aStride, w, out, outStride, depth] = writer.params as [Local, Local, Local, Local, Local, Local]
  const [panels, from, b, bStride, rank, steps, apart] = writer.params.slice(6) as [Local, Local, Local, Local, Local, Local, Local]
  const [panel, k, place, size, piece, count] = writer.localsOf('i32', 6) as [Local, Local, Local, Local, Local, Local]
  const at = writer.localsOf('i32', rows)
  const streams = writer.localsOf('i32', together)
  const sums = Array.from({ length: rows }, () => writer.localsOf('v128', together))
  const columns = writer.localsOf('v128', together)
  const value = writer.local('v128')
  const eachSum = (of: (row: number, v: number, sum: Local) => Code): Code => sums.flatMap((row, r) => row.flatMap((sum, v) => of(r, v, sum)))
  const along = (length: Code): Code =>
    writer.loop(k, length, unroll, [
      ...Array.from({ length: unroll }, (_, u) => [
        ...columns.flatMap((column, v) => set(column, f32x4.load(get(streams[v] as Local), u * PANEL_BYTES))),
        ...at.flatMap((row, r) => [
          ...set(value, f32x4.loadSplat(get(row), 4 * u)),
          ...columns.flatMap((column, v) => {
            const sum = sums[r]?.[v] as Local
            return set(sum, f32x4.add(get(sum), f32x4.mul(get(value), get(column))))
          }),
        ]),
      ]).flat(),
      ...streams.flatMap((stream) => plus(stream, i32.const(unroll * PANEL_BYTES))),
      ...at.flatMap((row) => plus(row, i32.const(4 * unroll))),
    ])
  const body = [
    ...set(size, i32.mul(get(steps), i32.const(PANEL_BYTES))),
    ...writer.loop(panel, get(panels), together, [
      ...eachSum((_r, _v, sum) => set(sum, f32x4.const(0))),
      ...when(get(from), [
        ...rowAddresses(from, outStride, at),
        ...eachSum((r, v, sum) => set(sum, f32x4.load(get(at[r] as Local), 16 * v))),
        ...plus(from, i32.const(together * PANEL_BYTES)),
      ]),
      ...rowAddresses(w, size, streams),
      ...rowAddresses(a, aStride, at),
      ...set(piece, i32.const(0)),
      ...writer.loop(piece, get(depth), 0, [
        ...set(count, i32.sub(get(depth), get(piece))),
        ...when(i32.ltS(get(steps), get(count)), set(count, get(steps))),
        ...along(get(count)),
        ...plus(piece, get(steps)),
        ...when(i32.ltS(get(piece), get(depth)), streams.flatMap((stream) => plus(stream, get(apart)))),
      ]),
      ...when(get(rank), [...rowAddresses(b, bStride, at), ...along(get(rank))]),
      ...plus(w, i32.mul(get(size), i32.const(together))),
      ...set(place, get(out)),
      ...sums.flatMap((row) => [...row.flatMap((sum, v) => f32x4.store(get(place), get(sum), 16 * v)), ...plus(place, get(outStride))]),
      ...plus(out, i32.const(together * PANEL_BYTES)),
    ]),
  ]
  return { name, writer, body }
}

export function writeProduct8(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 11 }, () => ADDRESS))
  const [a, w, out, outStride, depth, panels] = writer.params as [Local, Local, Local, Local, Local, Local]
  const [from, skip, before, after, rows] = writer.params.slice(6) as [Local, Local, Local, Local, Local]
  const [panel, k, place, row] = writer.localsOf('i32', 4) as [Local, Local, Local, Local]
  const at = writer.localsOf('i32', LANES)
  // Of each column: rows 0 to 3, rows 4 to 7.
  const sums = Array.from({ length: PANEL }, () => writer.localsOf('v128', 2))
  const lanes = writer.localsOf('v128', 2)
  const value = writer.local('v128')
  const spare = writer.localsOf('v128', 2)
  const half = (h: number): Local[] => sums.map((column) => column[h] as Local)
  const body = writer.loop(panel, get(panels), 1, [
    ...sums.flat().flatMap((sum) => set(sum, f32x4.const(0))),
    ...when(get(from), [
      ...rowAddresses(from, outStride, at),
      ...[0, 1].flatMap((h) => {
        const given = half(h)
        const kept = given.map((_, i) => at[4 * h + i] as Local)
        // Loaded as rows, turned to columns over themselves.
        return [
          ...given.flatMap((sum, i) => set(sum, f32x4.load(get(kept[i] as Local)))),
          ...turnedInPlace(given, [...lanes, value, ...spare]),
        ]
      }),
      ...plus(from, i32.const(PANEL_BYTES)),
    ]),
    ...when(get(before), [
      ...sums.flat().flatMap((sum, i) => set(sum, f32x4.load(get(before), 16 * i))),
      ...plus(before, i32.const(4 * LANES * PANEL)),
    ]),
    ...set(row, get(a)),
    ...writer.loop(k, get(depth), 1, [
      ...lanes.flatMap((lane, h) => set(lane, f32x4.load(get(row), 16 * h))),
      ...sums.flatMap((column, c) => [
        ...set(value, f32x4.loadSplat(get(w), 4 * c)),
        ...column.flatMap((sum, h) => set(sum, f32x4.add(get(sum), f32x4.mul(get(lanes[h] as Local), get(value))))),
      ]),
      ...plus(row, i32.const(4 * LANES)),
      ...plus(w, i32.const(PANEL_BYTES)),
    ]),
    ...plus(w, get(skip)),
    ...when(get(after), [
      ...sums.flat().flatMap((sum, i) => f32x4.store(get(after), get(sum), 16 * i)),
      ...plus(after, i32.const(4 * LANES * PANEL)),
    ]),
    ...when(i32.ltS(get(after), i32.const(1)), [
      ...set(place, get(out)),
      ...[0, 1].flatMap((h) =>
        turned(half(h), spare, (r, line) => {
          const store = [...f32x4.store(get(place), line), ...plus(place, get(outStride))]
          return h === 0 ? store : when(i32.ltS(i32.const(4 + r), get(rows)), store)
        }),
      ),
      ...plus(out, i32.const(PANEL_BYTES)),
    ]),
  ])
  return { name: 'product8', writer, body }
}

/** The 4 × 4 block in `block` turned; `spare`: five more registers. */
function turnedInPlace(block: readonly Local[], spare: readonly Local[]): Code {
  const [one, two, three] = spare as [Local, Local, Local]
  const kept = [one, two, three]
  const place = (row: number): Local => (kept[row] ?? block[3]) as Local
  return [...turned(block, spare.slice(3), (row, line) => set(place(row), line)), ...kept.flatMap((from, i) => set(block[i] as Local, get(from)))]
}

export function writePanels(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 5 }, () => ADDRESS))
  const [x, xStride, rows, out, dim] = writer.params as [Local, Local, Local, Local, Local]
  const d = writer.local('i32')
  const value = writer.local('v128')
  const at = writer.localsOf('i32', LANES)
  const body = [
    ...rowAddresses(x, xStride, at),
    ...writer.loop(d, get(dim), PANEL, [
      ...at.flatMap((row, r) => [
        ...set(value, f32x4.const(0)),
        ...when(i32.ltS(i32.const(r), get(rows)), set(value, f32x4.load(get(row)))),
        ...f32x4.store(get(out), get(value), PANEL_BYTES * r),
        ...plus(row, i32.const(PANEL_BYTES)),
      ]),
      ...plus(out, i32.const(LANES * PANEL_BYTES)),
    ]),
  ]
  return { name: 'panels', writer, body }
}

export function writeTouch(): WrittenFunction {
  const writer = new FunctionWriter([ADDRESS, ADDRESS], 'f32')
  const [at, size] = writer.params as [Local, Local]
  const i = writer.local('i32')
  const sum = writer.local('f32')
  const body = [
    ...writer.loop(i, get(size), 4 * LINE, [...Array.from({ length: 4 }, (_, u) => set(sum, f32.max(get(sum), f32.load(get(at), u * LINE)))).flat(), ...plus(at, i32.const(4 * LINE))]),
    ...get(sum),
  ]
  return { name: 'touch', writer, body }
}

export function writeLanes(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 5 }, () => ADDRESS))
  const [x, xStride, rows, out, depth] = writer.params as [Local, Local, Local, Local, Local]
  const k = writer.local('i32')
  const at = writer.localsOf('i32', LANES)
  const block = writer.localsOf('v128', 4)
  const spare = writer.localsOf('v128', 2)
  const body = [
    ...at.flatMap((row, r) => (r === 0 ? set(row, get(x)) : [...set(row, get(at[r - 1] as Local)), ...when(i32.ltS(i32.const(r), get(rows)), plus(row, get(xStride)))])),
    ...writer.loop(k, get(depth), 4, [
      ...[0, 1].flatMap((h) => [
        ...block.flatMap((lane, i) => set(lane, f32x4.load(get(at[4 * h + i] as Local)))),
        ...turned(block, spare, (step, line) => f32x4.store(get(out), line, 4 * LANES * step + 16 * h)),
      ]),
      ...at.flatMap((row) => plus(row, i32.const(16))),
      ...plus(out, i32.const(16 * LANES)),
    ]),
  ]
  return { name: 'lanes', writer, body }
}

export function writeOuter(): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 9 }, () => ADDRESS))
  const [p, pStride, q, qStride, out, outStride, rows, tiles] = writer.params as [Local, Local, Local, Local, Local, Local, Local, Local]
  const add = writer.params[8] as Local
  const [tile, row, from, to, place] = writer.localsOf('i32', 5) as [Local, Local, Local, Local, Local]
  const sums = Array.from({ length: OUTER_ROWS }, () => writer.localsOf('v128', VECTORS))
  const columns = writer.localsOf('v128', VECTORS)
  const value = writer.local('v128')
  const body = writer.loop(tile, get(tiles), 1, [
    ...sums.flat().flatMap((sum) => set(sum, f32x4.const(0))),
    ...when(get(add), [
      ...set(place, get(out)),
      ...sums.flatMap((line) => [...line.flatMap((sum, v) => set(sum, f32x4.load(get(place), 16 * v))), ...plus(place, get(outStride))]),
    ]),
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
    ...plus(out, i32.const(4 * OUTER_COLUMNS)),
    ...plus(q, i32.const(4 * OUTER_COLUMNS)),
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

/** Scores of one query, or of the two of neighbouring heads, over keys. */
export function writeScores(queries: 1 | 2): WrittenFunction {
  const writer = new FunctionWriter(queries === 1 ? ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32'] : ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32'])
  const [q, k, kStride, out] = writer.params as [Local, Local, Local, Local]
  const [n, dim, scale] = writer.params.slice(-3) as [Local, Local, Local]
  const outStride = writer.params[4] as Local
  const [j, d] = writer.localsOf('i32', 2) as [Local, Local]
  const from = writer.localsOf('i32', queries)
  const keys = writer.localsOf('i32', 4)
  const sums = from.map(() => writer.localsOf('v128', 4))
  const values = writer.localsOf('v128', queries)
  const key = writer.local('v128')
  // The sums of four registers as one register.
  const total = ([a, b, c, e]: readonly Local[], to: Code): Code => {
    const [one, two, three, four] = [a, b, c, e] as [Local, Local, Local, Local]
    const low = f32x4.add(f32x4.shuffle(get(one), get(two), [0, 4, 1, 5]), f32x4.shuffle(get(one), get(two), [2, 6, 3, 7]))
    const high = f32x4.add(f32x4.shuffle(get(three), get(four), [0, 4, 1, 5]), f32x4.shuffle(get(three), get(four), [2, 6, 3, 7]))
    return [
      ...set(one, low),
      ...set(three, high),
      ...f32x4.store(to, f32x4.mul(f32x4.add(f32x4.shuffle(get(one), get(three), [0, 1, 4, 5]), f32x4.shuffle(get(one), get(three), [2, 3, 6, 7])), f32x4.splat(get(scale)))),
    ]
  }
  const body = writer.loop(j, get(n), 4, [
    ...rowAddresses(k, kStride, keys),
    ...sums.flat().flatMap((sum) => set(sum, f32x4.const(0))),
    ...from.flatMap((pointer, i) => set(pointer, i === 0 ? get(q) : i32.add(get(q), i32.mul(get(dim), i32.const(4))))),
    ...writer.loop(d, get(dim), 8, [
      ...[0, 16].flatMap((offset) => [
        ...values.flatMap((value, i) => set(value, f32x4.load(get(from[i] as Local), offset))),
        ...keys.flatMap((pointer, i) => [
          ...set(key, f32x4.load(get(pointer), offset)),
          ...values.flatMap((value, query) => {
            const sum = sums[query]?.[i] as Local
            return set(sum, f32x4.add(get(sum), f32x4.mul(get(value), get(key))))
          }),
        ]),
      ]),
      ...[...keys, ...from].flatMap((pointer) => plus(pointer, i32.const(32))),
    ]),
    ...sums.flatMap((of, query) => total(of, query === 0 ? get(out) : i32.add(get(out), get(outStride)))),
    ...plus(out, i32.const(16)),
    ...plus(k, i32.mul(get(kStride), i32.const(4))),
  ])
  return { name: queries === 1 ? 'scores' : 'scores2', writer, body }
}

/** Sums of values for one query, or for the two of neighbouring heads. */
export function writeMix(queries: 1 | 2): WrittenFunction {
  const writer = new FunctionWriter(Array.from({ length: 6 + queries }, () => ADDRESS))
  const p = writer.params[0] as Local
  const pStride = writer.params[1] as Local
  const [v, vStride, out, n, dim, add] = writer.params.slice(-6) as [Local, Local, Local, Local, Local, Local]
  const [j, row, second] = writer.localsOf('i32', 3) as [Local, Local, Local]
  const weights = writer.localsOf('i32', queries)
  const shares = writer.localsOf('v128', queries)
  const value = writer.local('v128')
  const sums = weights.map(() => writer.localsOf('v128', 8 / queries))
  const columns = (count: number): Code => {
    const used = sums.map((of) => of.slice(0, count))
    const each = (of: (sum: Local, i: number, place: Local) => Code): Code => used.flatMap((line, query) => line.flatMap((sum, i) => of(sum, i, query === 0 ? out : second)))
    return [
      ...set(second, i32.add(get(out), i32.mul(get(dim), i32.const(4)))),
      ...when(get(add), each((sum, i, place) => set(sum, f32x4.load(get(place), 16 * i)))),
      ...when(i32.sub(i32.const(1), get(add)), each((sum) => set(sum, f32x4.const(0)))),
      ...weights.flatMap((weight, query) => set(weight, query === 0 ? get(p) : i32.add(get(p), get(pStride)))),
      ...set(row, get(v)),
      ...writer.loop(j, get(n), 1, [
        ...shares.flatMap((share, query) => set(share, f32x4.loadSplat(get(weights[query] as Local)))),
        ...Array.from({ length: count }, (_, i) => [
          ...set(value, f32x4.load(get(row), 16 * i)),
          ...used.flatMap((line, query) => {
            const sum = line[i] as Local
            return set(sum, f32x4.add(get(sum), f32x4.mul(get(shares[query] as Local), get(value))))
          }),
        ]).flat(),
        ...weights.flatMap((weight) => plus(weight, i32.const(4))),
        ...plus(row, get(vStride)),
      ]),
      ...each((sum, i, place) => f32x4.store(get(place), get(sum), 16 * i)),
      ...plus(out, i32.const(16 * count)),
      ...plus(v, i32.const(16 * count)),
    ]
  }
  return { name: queries === 1 ? 'mix' : 'mix2', writer, body: inPieces(writer, dim, [32 / queries, 4], (floats) => columns(floats / 4)) }
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

import { describe, expect, it } from 'vitest'
import { RandomStream } from '../../core/random'
import { Heap } from './heap'

const heap = Heap.make(1)
const random = new RandomStream(7, 1)
const draw = (n: number): Float32Array => Float32Array.from({ length: n }, () => random.next() * 2 - 1)
const put = (values: Float32Array): number => {
  const place = heap.allocate(values.length + 4)
  heap.floats(place, values.length).set(values)
  return place
}
const room = (n: number): number => heap.allocate(n + 4)
const close = (got: ArrayLike<number>, wanted: ArrayLike<number>, within = 1e-5): void => {
  expect(got.length).toBe(wanted.length)
  for (let i = 0; i < wanted.length; i++) expect(Math.abs((got[i] as number) - (wanted[i] as number))).toBeLessThan(within)
}
const at = (values: ArrayLike<number>, i: number): number => values[i] as number
/** [columns, depth] as [depth, columns]. */
const turnedOver = (w: Float32Array, columns: number, depth: number): Float32Array => w.map((_, i) => at(w, (i % columns) * depth + Math.floor(i / columns)))

describe('products', () => {
  const [depth, columns] = [12, 40]
  const w = draw(columns * depth)
  const packed = heap.pack(w, columns, depth)
  for (const rows of [1, 2, 3, 4, 7, 8]) {
    it(`multiplies ${rows} rows as a plain loop does, each as if it were alone`, () => {
      const a = draw(rows * depth)
      const out = room(rows * columns)
      heap.multiply({ at: put(a), stride: depth }, rows, packed, { at: out, stride: columns })
      const got = heap.floats(out, rows * columns).slice()
      const wanted = Array.from({ length: rows * columns }, (_, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns]
        return Array.from({ length: depth }, (_, k) => at(a, row * depth + k) * at(w, column * depth + k)).reduce((x, y) => x + y, 0)
      })
      close(got, wanted)
      for (let row = 0; row < rows; row++) {
        const alone = room(columns)
        heap.multiply({ at: put(a.subarray(row * depth, (row + 1) * depth)), stride: depth }, 1, packed, { at: alone, stride: columns })
        expect(heap.floats(alone, columns)).toEqual(got.subarray(row * columns, (row + 1) * columns))
      }
      heap.multiply({ at: put(a), stride: depth }, rows, packed, { at: out, stride: columns }, out)
      close(heap.floats(out, rows * columns), wanted.map((x) => 2 * x))
    })
  }

  it('adds what lies elsewhere and a second product, whatever the rows', () => {
    const rank = 8
    const [a, b, start] = [draw(20 * depth), draw(20 * rank), draw(20 * columns)]
    const up = draw(columns * rank)
    const second = heap.pack(up, columns, rank)
    const both = heap.pack(w, columns, depth, rank)
    heap.packExtra(both, 0, columns, (k, n) => up[n * rank + k] as number)
    const [x, low, from] = [put(a), put(b), put(start)]
    const [apart, together] = [room(20 * columns), room(20 * columns)]
    for (const rows of [1, 2, 3, 4, 6, 8, 9, 20]) {
      heap.floats(apart, rows * columns).set(start.subarray(0, rows * columns))
      heap.multiply({ at: x, stride: depth }, rows, packed, { at: apart, stride: columns }, apart)
      heap.multiply({ at: low, stride: rank }, rows, second, { at: apart, stride: columns }, apart)
      heap.floats(together, 20 * columns).fill(7)
      for (const part of [[0, 3], [3, 10]] as const) {
        heap.multiply({ at: x, stride: depth }, rows, both, { at: together, stride: columns }, from, part, { at: low, stride: rank })
      }
      expect(heap.floats(together, rows * columns)).toEqual(heap.floats(apart, rows * columns))
      expect(heap.floats(together + 4 * rows * columns, (20 - rows) * columns).every((value) => value === 7)).toBe(true)
    }
  })

  it('packs the other way for a backward pass', () => {
    const dy = draw(2 * columns)
    const out = room(2 * 16)
    heap.multiply({ at: put(dy), stride: columns }, 2, heap.packTransposed(w, columns, depth), { at: out, stride: 16 })
    const got = heap.floats(out, 32)
    for (let row = 0; row < 2; row++) {
      const wanted = Array.from({ length: depth }, (_, k) => Array.from({ length: columns }, (_, n) => at(dy, row * columns + n) * at(w, n * depth + k)).reduce((x, y) => x + y, 0))
      close(got.subarray(row * 16, row * 16 + depth), wanted)
    }
  })

  it('sums outer products over rows', () => {
    const [rows, n, m] = [5, 8, 16]
    const [p, q] = [draw(rows * n), draw(rows * m)]
    const out = room(n * m)
    heap.outer({ at: put(p), stride: n }, n, { at: put(q), stride: m }, m, rows, { at: out, stride: m })
    close(heap.floats(out, n * m), Array.from({ length: n * m }, (_, i) => Array.from({ length: rows }, (_, row) => at(p, row * n + Math.floor(i / m)) * at(q, row * m + (i % m))).reduce((x, y) => x + y, 0)))
  })
})

describe('products of a depth in pieces', () => {
  const [depth, columns, rank] = [1000, 24, 8]
  const [w, up] = [draw(columns * depth), draw(columns * rank)]
  const [pieces, whole] = [heap.pack(w, columns, depth, rank), heap.packTransposed(turnedOver(w, columns, depth), depth, columns, rank)]
  for (const packed of [pieces, whole]) heap.packExtra(packed, 0, columns, (k, n) => at(up, n * rank + k))
  const [x, low, from] = [put(draw(20 * depth)), put(draw(20 * rank)), put(draw(20 * columns))]

  it('are cut', () => expect([pieces, whole].map(({ pieces: { length } }) => length)).toEqual([3, 1]))

  for (const rows of [1, 2, 3, 4, 5, 8, 9, 20]) {
    for (const second of [{ at: low, stride: rank }, null]) {
      it(`are bit for bit those in one: ${rows} rows${second ? ' and a second product' : ''}`, () => {
        const [got, wanted] = [room(20 * columns), room(20 * columns)]
        for (const part of [[0, 4], [4, 6]] as const) heap.multiply({ at: x, stride: depth }, rows, pieces, { at: got, stride: columns }, from, part, second)
        heap.multiply({ at: x, stride: depth }, rows, whole, { at: wanted, stride: columns }, from, [0, 6], second)
        expect(heap.floats(got, rows * columns)).toEqual(heap.floats(wanted, rows * columns))
      })
    }
  }

  it('and larger than a cache too', () => {
    const wide = 1024
    const big = draw(wide * depth)
    const [a, b] = [heap.pack(big, wide, depth, rank), heap.packTransposed(turnedOver(big, wide, depth), depth, wide, rank)]
    for (const packed of [a, b]) heap.packExtra(packed, 0, wide, (k, n) => at(big, n * rank + k))
    const [got, wanted] = [room(9 * wide), room(9 * wide)]
    for (const rows of [1, 4, 8, 9]) {
      for (const [packed, out] of [[a, got], [b, wanted]] as const) heap.multiply({ at: x, stride: depth }, rows, packed, { at: out, stride: wide }, 0, [0, wide / 4], { at: low, stride: rank })
      expect(heap.floats(got, rows * wide)).toEqual(heap.floats(wanted, rows * wide))
    }
  })
})

describe('norm and rotation', () => {
  const n = 24
  const [x, w, dy] = [draw(n), draw(n), draw(n)]
  const norm = (values: ArrayLike<number>): number[] => {
    const rstd = 1 / Math.sqrt(Array.from(values).reduce((sum, v) => sum + v * v, 0) / n + 1e-6)
    return Array.from({ length: n }, (_, i) => at(values, i) * rstd * at(w, i))
  }

  it('normalises, and its slope is that of finite differences', () => {
    const [from, weight, out, dx] = [put(x), put(w), room(n), room(n)]
    const rstd = heap.kernels.rmsNorm(from, weight, out, n, 1e-6)
    close(heap.floats(out, n), norm(x))
    heap.kernels.rmsNormBackward(from, weight, put(dy), rstd, dx, n, 0)
    const slope = Array.from({ length: n }, (_, i) => {
      const moved = (by: number): number => norm(Array.from(x, (v, j) => (j === i ? v + by : v))).reduce((sum, v, j) => sum + v * at(dy, j), 0)
      return (moved(1e-4) - moved(-1e-4)) / 2e-4
    })
    close(heap.floats(dx, n), slope, 1e-4)
    heap.kernels.rmsNormBackward(from, weight, put(dy), rstd, dx, n, 1)
    close(heap.floats(dx, n), slope.map((v) => 2 * v), 2e-4)
  })

  it('rotates, and turns back', () => {
    const angles = draw(12)
    const [cos, sin] = [put(angles.map(Math.cos)), put(angles.map(Math.sin))]
    const [from, out] = [put(x), room(n)]
    heap.kernels.rotate(from, cos, sin, out, 12, 1)
    const got = heap.floats(out, n)
    close(got.subarray(0, 12), Array.from({ length: 12 }, (_, i) => at(x, i) * Math.cos(at(angles, i)) - at(x, i + 12) * Math.sin(at(angles, i))))
    close(got.subarray(12), Array.from({ length: 12 }, (_, i) => at(x, i + 12) * Math.cos(at(angles, i)) + at(x, i) * Math.sin(at(angles, i))))
    heap.kernels.rotate(out, cos, sin, out, 12, -1)
    close(heap.floats(out, n), x)
  })
})

describe('attention', () => {
  for (const [n, dim] of [[1, 8], [5, 32], [8, 40], [11, 64]] as const) {
    it(`over ${n} tokens of ${dim}`, () => {
      const [q, k, v] = [draw(dim), draw((n + 4) * dim), draw(n * dim)]
      const [p, out] = [room(n + 4), room(dim)]
      heap.kernels.scores(put(q), put(k), dim * 4, p, n, dim, 0.5)
      const scores = Array.from({ length: n }, (_, j) => 0.5 * Array.from(q, (x, d) => x * at(k, j * dim + d)).reduce((a, b) => a + b, 0))
      close(heap.floats(p, n), scores)
      heap.kernels.softmax(p, n)
      const most = Math.max(...scores)
      const total = scores.reduce((sum, s) => sum + Math.exp(s - most), 0)
      const shares = scores.map((s) => Math.exp(s - most) / total)
      close(heap.floats(p, n), shares, 1e-6)
      heap.kernels.mix(p, put(v), dim * 4, out, n, dim, 0)
      const mixed = Array.from({ length: dim }, (_, d) => shares.reduce((sum, share, j) => sum + share * at(v, j * dim + d), 0))
      close(heap.floats(out, dim), mixed)
      heap.kernels.mix(p, put(v), dim * 4, out, n, dim, 1)
      close(heap.floats(out, dim), mixed.map((x) => 2 * x))
      expect(heap.kernels.dot(put(q), put(k), dim)).toBeCloseTo((scores[0] as number) * 2, 4)
    })
  }

  it('has an exponential as exact as float32 is, far below and above zero', () => {
    const values = Float32Array.of(-60, -30, -5.5, -1e-3, 0, 0.7, 3, 20)
    const p = put(values.slice())
    heap.kernels.softmax(p, values.length)
    const total = Array.from(values).reduce((sum, v) => sum + Math.exp(v - 20), 0)
    heap.floats(p, values.length).forEach((share, i) => expect(share / (Math.exp(at(values, i) - 20) / total) - 1).toBeCloseTo(0, 5))
  })
})

it('SwiGLU and its slope are those of the formula', () => {
  const n = 16
  const [g, u, d] = [draw(n).map((x) => 6 * x), draw(n), draw(n)]
  const [gate, up, out, dGate, dUp] = [put(g), put(u), room(n), room(n), room(n)]
  const value = (x: number, y: number): number => (x / (1 + Math.exp(-x))) * y
  heap.kernels.swiglu(gate, up, out, n)
  close(heap.floats(out, n), Array.from(g, (x, i) => value(x, at(u, i))))
  heap.kernels.swigluBackward(gate, up, put(d), dGate, dUp, n)
  const slope = (f: (by: number) => number): number => (f(1e-4) - f(-1e-4)) / 2e-4
  close(heap.floats(dGate, n), Array.from(g, (x, i) => at(d, i) * slope((by) => value(x + by, at(u, i)))), 1e-4)
  close(heap.floats(dUp, n), Array.from(g, (x, i) => at(d, i) * slope((by) => value(x, at(u, i) + by))), 1e-4)
})

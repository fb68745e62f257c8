import { describe, expect, it } from 'vitest'
import { RandomStream } from '../../core/random'
import { blocksOf, eachUnit, rowOf } from './attention'
import { Heap } from './heap'
import { ALONE } from './team'

const heap = Heap.make(1)
const { kernels } = heap
const random = new RandomStream(11, 1)
const draw = (n: number): Float32Array => Float32Array.from({ length: n }, () => random.next() * 2 - 1)
const room = (n: number): number => heap.put(new Float32Array(n + 64))
const read = (at: number, n: number): number[] => [...heap.floats(at, n)]
const close = (got: readonly number[], wanted: readonly number[]): void => {
  expect(got.length).toBe(wanted.length)
  got.forEach((value, i) => expect(Math.abs(value - (wanted[i] as number))).toBeLessThan(2e-6))
}

describe('blocks', () => {
  // A shared beginning of 10, two branches behind it, and a row of another sequence.
  const views = Int32Array.from([
    ...Array.from({ length: 10 }, (_, i) => [0, i + 1, 0, 0]),
    ...Array.from({ length: 3 }, (_, i) => [0, 10, 10, i + 1]),
    ...Array.from({ length: 2 }, (_, i) => [0, 10, 13, i + 1]),
    [40, 7, 0, 0],
  ].flat())

  it('are rows that each see one token more', () => {
    const blocks = blocksOf(views, 16)
    expect(blocks.map(({ row, count, total }) => [row, count, total])).toEqual([[0, 8, 8], [8, 2, 10], [10, 3, 13], [13, 2, 12], [15, 1, 7]])
    expect(blocks[2]?.runs).toEqual([{ first: 0, n: 10, at: 0 }, { first: 10, n: 3, at: 10 }])
    expect(rowOf(blocks[2] as (typeof blocks)[0], 1)).toEqual({ row: 11, count: 1, runs: [{ first: 0, n: 10, at: 0 }, { first: 10, n: 2, at: 10 }], total: 12 })
  })

  it('are done once, whatever the threads', () => {
    const blocks = blocksOf(views, 16)
    for (const threads of [1, 2, 3, 8]) {
      const done: string[] = []
      for (let index = 0; index < threads; index++) eachUnit({ ...ALONE, threads, index }, blocks, 2, ({ row }, group) => done.push(`${row} ${group}`))
      expect(done.sort()).toEqual(blocks.flatMap(({ row }) => [`${row} 0`, `${row} 1`]).sort())
    }
  })
})

const [n, dim] = [21, 40]
const [q, keys] = [heap.put(draw(8 * dim)), heap.put(draw((n + 4) * dim))]
const column = (at: number, lane: number): number[] => Array.from({ length: n }, (_, j) => heap.floats(at, 8 * n)[8 * j + lane] as number)

it('two queries at once are bit for bit two queries', () => {
  const [one, both, out, outs] = [room(2 * (n + 4)), room(2 * (n + 4)), room(2 * dim), room(2 * dim)]
  const stride = 4 * (n + 4)
  for (const i of [0, 1]) kernels.scores(q + 4 * dim * i, keys, 4 * dim, one + stride * i, n, dim, 0.3)
  kernels.scores2(q, keys, 4 * dim, both, stride, n, dim, 0.3)
  for (const i of [0, 1]) expect(read(both + stride * i, n)).toEqual(read(one + stride * i, n))
  for (const add of [0, 1]) {
    for (const i of [0, 1]) kernels.mix(one + stride * i, keys, 4 * dim, out + 4 * dim * i, n, dim, add)
    kernels.mix2(both, stride, keys, 4 * dim, outs, n, dim, add)
    expect(read(outs, 2 * dim)).toEqual(read(out, 2 * dim))
  }
})

it('eight queries in lanes have the scores, shares and slopes of eight', () => {
  const [lanes, p, one, d, one2] = [room(8 * dim), room(8 * (n + 4)), room(n + 4), heap.put(draw(8 * n)), room(n + 4)]
  kernels.lanes(q, 4 * dim, 8, lanes, dim)
  kernels.scores8(lanes, keys, 4 * dim, p, n, dim, 0.3)
  const scores = Array.from({ length: 8 }, (_, lane) => column(p, lane))
  kernels.softmax8(p, n)
  const slopes = Array.from({ length: 8 }, (_, lane) => column(d, lane))
  kernels.softmaxBackward8(p, d, n, 0.7)
  for (let lane = 0; lane < 8; lane++) {
    kernels.scores(q + 4 * dim * lane, keys, 4 * dim, one, n, dim, 0.3)
    close(scores[lane] as number[], read(one, n))
    kernels.softmax(one, n)
    close(column(p, lane), read(one, n))
    heap.floats(one2, n).set(slopes[lane] as number[])
    kernels.softmaxBackward(one, one2, one2, n, kernels.dot(one, one2, n), 0.7)
    close(column(d, lane), read(one2, n))
  }
})

it('a query that pays all to one token has slopes of exactly nothing', () => {
  const [p, d] = [heap.put(Array.from({ length: 8 * n }, (_, i) => (Math.floor(i / 8) === i % 8 ? 1 : 0))), heap.put(draw(8 * n))]
  kernels.softmaxBackward8(p, d, n, 0.7)
  expect(read(d, 8 * n).map(Math.abs)).toEqual(Array(8 * n).fill(0))
})

it('what five queries give to tokens is the sum of what each gives', () => {
  const [weights, panels, out, wanted] = [heap.put(draw(8 * n)), room(8 * dim), room(n * dim), room(n * dim)]
  kernels.panels(q, 4 * dim, 5, panels, dim)
  kernels.spread8(weights, panels, out, 4 * dim, n, dim)
  for (let lane = 0; lane < 5; lane++) kernels.spread(heap.put(column(weights, lane)), q + 4 * dim * lane, wanted, 4 * dim, n, dim)
  close(read(out, n * dim), read(wanted, n * dim))
})

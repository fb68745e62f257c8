import { describe, expect, it } from 'vitest'
import { endOfLine, inNextLine, keyTarget } from './roving'

const SEGMENTS = [
  { turn: null, start: 0, end: 10 },
  { turn: 0, start: 10, end: 20 },
  { turn: 1, start: 20, end: 30 },
]
const to = (key: string, from: number, ctrlKey = false) => keyTarget({ key, ctrlKey, metaKey: false }, from, 10, 29, SEGMENTS)

describe('keys among tokens', () => {
  it('lead by token and by turn, and end at the ends of what is drawn', () => {
    expect([to('ArrowRight', 12), to('ArrowLeft', 12), to('ArrowLeft', 10), to('ArrowRight', 29)]).toEqual([13, 11, 10, 29])
    expect([to('PageDown', 12), to('PageDown', 22), to('PageUp', 25), to('PageUp', 20), to('PageUp', 10)]).toEqual([20, 29, 20, 10, 10])
    expect([to('Home', 25, true), to('End', 12, true), to('Home', 25), to('a', 25)]).toEqual([10, 29, null, null])
  })
})

describe('lines', () => {
  // Three lines: tokens at 0, 50 and 90; at 0, 30 and 80; at 0.
  const places = [
    [0, 50, 90],
    [0, 30, 80],
    [0],
  ].flatMap((line, row) => line.map((left) => ({ left, top: row * 20 + (left % 3) })))
  const next = (from: number, by: 1 | -1) => inNextLine(places.length, (i) => places[i] ?? { left: 0, top: 0 }, from, by)
  it('above and below give the token that begins nearest', () => {
    expect([next(1, 1), next(2, 1), next(5, 1), next(4, -1), next(6, -1)]).toEqual([4, 5, 6, 1, 3])
    expect([next(0, -1), next(6, 1)]).toEqual([null, null])
  })
  it('have a first and a last token', () => {
    const end = (from: number, by: 1 | -1) => endOfLine(places.length, (i) => places[i] ?? { left: 0, top: 0 }, from, by)
    expect([end(4, -1), end(4, 1), end(6, 1), end(0, -1)]).toEqual([3, 5, 6, 0])
  })
})

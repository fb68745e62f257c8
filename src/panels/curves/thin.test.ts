import { expect, it } from 'vitest'
import type { Row } from './series'
import { MOST_ROWS, thinned } from './thin'

const row = (x: number, ...y: (number | null)[]): Row => ({ x, y, raw: [], band: null, lone: [], whiskers: [] })
const many = Array.from({ length: 5000 }, (_, i) => row(i, i === 2345 ? 99 : Math.sin(i), i === 4000 ? null : -i))

it('few rows stay as they are', () => {
  const few = many.slice(0, MOST_ROWS)
  expect(thinned(few)).toEqual(few)
})

it('of many, no more than twice the wanted number stay, in their order', () => {
  const rows = thinned(many)
  expect(rows.length).toBeLessThan(2 * MOST_ROWS)
  expect(rows.map(({ x }) => x)).toEqual(rows.map(({ x }) => x).toSorted((a, b) => a - b))
})

it('the ends, a single peak and a single gap stay', () => {
  const places = thinned(many).map(({ x }) => x)
  expect(places).toEqual(expect.arrayContaining([0, 2345, 4000, 4999]))
})

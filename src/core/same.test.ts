import { expect, it } from 'vitest'
import { isSame } from './same'

it.each([
  [{ a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: null }, {}, false],
  [[1, 2], [2, 1], false],
  [[1], { 0: 1 }, false],
  [[], {}, false],
  ['1', 1, false],
  [null, {}, false],
])('%j and %j: %s', (a, b, same) => expect([isSame(a, b), isSame(b, a)]).toEqual([same, same]))

import { describe, expect, it } from 'vitest'
import { broadcast, type Dim, product, quotient, sameShape, type Shape, show } from './dims'

describe('product', () => {
  it.each<[Shape, Dim]>([
    [[], 1],
    [[2, 3], 6],
    [[4, 'tokens'], '4*tokens'],
    [['tokens', 4], '4*tokens'],
    [['2*tokens', 3], '6*tokens'],
    [['tokens', 'batch'], 'batch*tokens'],
    [['batch*tokens', 2, 'batch'], '2*batch*batch*tokens'],
    [[1, 'n'], 'n'],
    [['n', 0], '0*n'],
  ])('%j = %j', (dims, expected) => expect(product(dims)).toBe(expected))

  it('spells one size one way, whatever the order', () => {
    expect(product(['3*tokens', 'batch', 2])).toBe(product(['batch', 6, 'tokens']))
  })
})

describe('quotient', () => {
  it.each<[Dim, Dim, Dim | null]>([
    [12, 4, 3],
    [12, 5, null],
    [12, 0, null],
    ['4*tokens', 4, 'tokens'],
    ['4*tokens', 'tokens', 4],
    ['4*tokens', '2*tokens', 2],
    ['tokens', 2, null],
    [8, 'tokens', null],
    ['n*n', 'n', 'n'],
  ])('%j / %j = %j', (a, b, expected) => expect(quotient(a, b)).toBe(expected))
})

describe('broadcast', () => {
  it.each<[Shape, Shape, Shape | null]>([
    [[2, 3], [3], [2, 3]],
    [[2, 1], [1, 3], [2, 3]],
    [[], [2], [2]],
    [[2, 3], [2], null],
    [['n', 3], [3], ['n', 3]],
    [['n', 1], [1, 'm'], ['n', 'm']],
    [['n'], ['m'], null],
    [['n'], [2], null],
    [[4, 1, 3], [5, 1], [4, 5, 3]],
  ])('%j with %j gives %j', (a, b, expected) => {
    expect(broadcast(a, b)).toEqual(expected)
    expect(broadcast(b, a)).toEqual(expected)
  })
})

it('compares and writes shapes', () => {
  expect(sameShape([2, 'n'], [2, 'n'])).toBe(true)
  expect(sameShape([2, 'n'], [2, 'm'])).toBe(false)
  expect(sameShape([2], [2, 1])).toBe(false)
  expect(show([2, '4*tokens'])).toBe('[2, 4*tokens]')
})

import { describe, expect, it } from 'vitest'
import { readNumber, readWhole } from './typed-number'

describe('a number as it is typed', () => {
  it.each([
    ['0.5', 0.5],
    ['0,5', 0.5],
    [' 1e-3 ', 0.001],
    ['1,5e−3', 0.0015],
    ['−0,94', -0.94],
    ['–2', -2],
    ['+1', 1],
    ['.5', 0.5],
    [',5', 0.5],
    ['3.', 3],
    ['0,001', 0.001],
    ['1,2505', 1.2505],
    ['０．５', 0.5],
    ['－１', -1],
    ['108 544', 108544],
    ['1 000 000,5', 1000000.5],
    ['007', 7],
  ])('%s is %s', (text, value) => expect(readNumber(text)).toBe(value))

  it.each(['', ' ', '-', '.', ',', 'e5', '0x10', '0b1', 'Infinity', '1e999', 'NaN', '1.5.2', '1,5,5', '1.000,5', '1,000.5', '1,000', '-12,500,000', '1 2', '1 0000', '½', '10²', '1_000', 'half', '5%', '1/2'])('%s is none', (text) =>
    expect(readNumber(text)).toBeNaN(),
  )
})

describe('a whole number as it is typed', () => {
  it.each([
    ['8', 8],
    [' 12 ', 12],
    ['８', 8],
    ['−3', -3],
    ['1 000', 1000],
    ['1e3', 1000],
  ])('%s is %s', (text, value) => expect(readWhole(text)).toBe(value))

  it.each(['', '1,000', '1.000', '8,0', '2.5', '1e-1', '0x10', 'x'])('%s is none', (text) => expect(readWhole(text)).toBeNaN())
})

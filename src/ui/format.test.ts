import { describe, expect, it } from 'vitest'
import { bytes, count, duration, number, parameterCount, percent, plain, plural, signed, speed, timeLeft } from './format'

describe('numbers as text', () => {
  it('keeps three significant digits', () => {
    expect([0.94, 12.345, 123.4, 1234, 0.000412, 0.9996].map((x) => number(x))).toEqual([
      '0.940',
      '12.3',
      '123',
      '1234',
      '0.000412',
      '1.00',
    ])
  })
  it('writes very small and very large numbers with an exponent', () => {
    expect([0.0000125, 2.5e8].map((x) => number(x))).toEqual(['1.25e−5', '2.50e8'])
  })
  it('signs with a real minus and leaves zero bare', () => {
    expect([0.94, -0.56, 0].map((x) => signed(x))).toEqual(['+0.940', '−0.560', '0'])
  })
  it('shows a dash for what is not a number', () => {
    expect([number(null), signed(undefined), number(Number.NaN), percent(null)]).toEqual(['–', '–', '–', '–'])
    expect(number(-Infinity)).toBe('−∞')
  })
  it('writes settings without padding', () => {
    expect([0.001, 1e-5, 8, 0].map(plain)).toEqual(['0.001', '1e−5', '8', '0'])
  })
})

describe('units', () => {
  it('scales bytes', () => {
    expect([812, 1200, 2_000_000, 999_900].map(bytes)).toEqual(['812 B', '1.20 kB', '2.00 MB', '1.00 MB'])
  })
  it('says speeds, rests of time and parameter counts roughly', () => {
    expect([812, 9_800_000, 123_400_000].map(speed)).toEqual(['812 B/s', '9.8 MB/s', '123 MB/s'])
    expect([0.2, 80, 99.6, 720, 12_000].map(timeLeft)).toEqual(['1 s left', '80 s left', '2 min left', '12 min left', '3 h 20 min left'])
    expect([492_640, 494_032_768, 999_600_000, 1_720_574_976].map(parameterCount)).toEqual(['493 k', '494 M', '1.00 B', '1.72 B'])
  })
  it('scales durations', () => {
    expect([120, 3421, 59_900, 125_000].map(duration)).toEqual(['120 ms', '3.42 s', '59.9 s', '2 min 5 s'])
  })
  it('writes shares and counts', () => {
    expect([percent(0.125), count(492640), plural(1, 'episode'), plural(3, 'episode')]).toEqual([
      '12.5 %',
      '492\u202f640',
      '1 episode',
      '3 episodes',
    ])
  })
})

import { expect, it } from 'vitest'
import { csvLine, csvNumber } from './csv'

it('quotes what would end a cell or a line', () => {
  expect(csvLine(['a', 'b,c', 'say "x"', 'two\nlines', ''])).toBe('a,"b,c","say ""x""","two\nlines",\n')
})

it('keeps every digit, and leaves what was not measured empty', () => {
  expect([0.1 + 0.2, 0, null, undefined, NaN, Infinity].map(csvNumber)).toEqual(['0.30000000000000004', '0', '', '', '', ''])
})

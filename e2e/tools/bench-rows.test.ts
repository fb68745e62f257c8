/** The benchmark command line and its table. */

import { describe, expect, it } from 'vitest'
import { parseBenchArguments, table } from './bench-rows'

describe('parseBenchArguments', () => {
  const known = ['decode', 'learn', 'train']

  it('gives the words after a name to it as rows', () => {
    expect(parseBenchArguments(['learn', 'lane', 'catch', '--json', 'decode'], known)).toEqual({
      json: true,
      requests: [
        { bench: 'learn', rows: ['lane', 'catch'] },
        { bench: 'decode', rows: [] },
      ],
    })
  })

  it('takes all benchmarks when none is named', () => {
    expect(parseBenchArguments([], known)).toEqual({ json: false, requests: known.map(bench => ({ bench, rows: [] })) })
  })

  it.each([[['lane']], [['learn', '--jsno']]])('refuses %j', args => {
    expect(() => parseBenchArguments(args, known)).toThrow('There are: decode, learn, train.')
  })
})

it('prints only the columns in use', () => {
  const rows = [
    { bench: 'decode', row: 'tiny', value: 1234.567, unit: 'tokens/s', spread: [1200, 1300.25] as [number, number] },
    { bench: 'learn', row: 'lane', seed: 1, after: 0.98 },
  ]
  expect(table(rows).split('\n')).toEqual([
    'bench   row   value  unit      spread      seed  after',
    'decode  tiny  1235   tokens/s  1200..1300',
    'learn   lane                               1     0.9800',
  ])
})

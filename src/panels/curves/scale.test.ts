import { describe, expect, it } from 'vitest'
import { heightOf, placeAt, share, valueScale } from './scale'

const make = (change: Partial<Parameters<typeof valueScale>[0]> = {}) => valueScale({ x: [1, 20], values: [0.2, 0.8], log: false, unit: '', signed: false, axis: 'step', ...change })
const labels = (ticks: readonly { label: string }[]) => ticks.map(({ label }) => label)

describe('values', () => {
  it('of shares keep their whole range, in percent', () => {
    const { y, yTicks } = make({ unit: 'share', values: [0.4, 0.5] })
    expect([y, labels(yTicks)]).toEqual([[expect.closeTo(-0.02), expect.closeTo(1.02)], ['0 %', '50 %', '100 %']])
  })
  it('that lie close together are told apart by their labels', () => {
    const near = labels(make({ unit: 'nats', values: [-45.1203, -45.1201], signed: true }).yTicks)
    expect(new Set(near).size).toBe(near.length)
    expect(labels(make({ unit: 'nats', values: [-45, -40], signed: true }).yTicks)).toContain('−42')
  })
  it('that cannot be negative begin at 0', () => {
    expect(make({ unit: 'nats' }).yTicks[0]?.at).toBe(0)
    expect(make({ unit: '', values: [3, 4], signed: true }).yTicks[0]?.at).toBe(3)
    expect(make({ values: [-1, 4] }).y[0]).toBeLessThanOrEqual(-1)
  })
  it('that are all the same, or none, still have two ends', () => {
    for (const values of [[], [0, 0], [5], [-5, -5]]) {
      for (const signed of [true, false]) {
        const { y } = make({ values, signed })
        expect(y[1]).toBeGreaterThan(y[0])
      }
    }
  })
  it('on a logarithm are labelled with round numbers of their own', () => {
    expect(labels(make({ log: true, values: [-4, 0] }).yTicks)).toEqual(['0.0001', '0.001', '0.01', '0.1', '1'])
    expect(labels(make({ log: true, values: [0, 1] }).yTicks)).toEqual(['1', '2', '5', '10'])
    expect(labels(make({ log: true, values: [Math.log10(0.234), Math.log10(0.953)] }).yTicks)).toEqual(['0.3', '0.5', '0.7', '0.9'])
    expect(make({ log: true, values: [-0.01, 0.01] }).yTicks).toHaveLength(2)
  })
  it('are found again as heights', () => {
    const log = make({ log: true, values: [-2, 0] })
    expect([heightOf(log, 0.1), heightOf(log, 0), heightOf(log, null)]).toEqual([expect.closeTo(0.5), null, null])
  })
})

describe('places', () => {
  it('are whole steps', () => {
    expect(labels(make({ x: [1, 3] }).xTicks)).toEqual(['1', '2', '3'])
  })
  it('are seconds, minutes or hours, as suits their end', () => {
    expect(labels(make({ axis: 'time', x: [2, 61] }).xTicks)).toContain('20 s')
    expect(labels(make({ axis: 'time', x: [0, 1800] }).xTicks)).toContain('10 min')
    expect(labels(make({ axis: 'time', x: [0, 36_000] }).xTicks)).toContain('4 h')
  })
  it('of an only point stand in the middle', () => {
    const { x, xTicks } = make({ x: [7, 7] })
    expect([share(x, 7), labels(xTicks)]).toEqual([0.5, ['7']])
  })
  it('at a share of the width stay within it', () => {
    expect([placeAt([0, 10], 0.25), placeAt([0, 10], -1), placeAt([0, 10], 2)]).toEqual([2.5, 0, 10])
  })
})

import { expect, it } from 'vitest'
import { restoredMessage } from '../store/testing/kept'
import { UPDATE_ROWS, writeCurve, writeDifference } from './metrics'

it('a loss of rounding noise is about 0, any other keeps its digits', () => {
  expect(['loss', 'loss', 'loss', 'loss'].map((name, i) => writeCurve(name, [6.94e-16, -3e-9, 0, 0.0386][i]))).toEqual(['≈ 0', '≈ 0', '0', '+0.0386'])
  expect(writeCurve('sampling/sampling_logp_difference/mean', 5.64e-8)).toBe('5.64e−8 nats')
})

it('a recording, which knows no times, shows none', () => {
  const [step] = restoredMessage(1).history
  if (!step) throw new Error('no step')
  const shown = (sampling: number) => {
    const row = UPDATE_ROWS.find(({ name }) => name === 'sampling')
    return row?.write(row.value({ ...step, seconds: { sampling, training: 0 } }))
  }
  expect([shown(0), shown(0.42)]).toEqual(['–', '420 ms'])
})

it('a number of a curve has its unit, and a difference its sign', () => {
  expect([writeCurve('success', 0.125), writeCurve('tokens_per_second/sampling', 812), writeCurve('step_time', 2.5), writeCurve('kl', null)]).toEqual(['12.5 %', '812 tokens/s', '2.50 s', '–'])
  expect([writeDifference('success', -0.05), writeDifference('entropy', 0.1), writeDifference('reward', null)]).toEqual(['−5.00 points', '+0.100 nats', '–'])
})

/** The totals must be true: crashes, empty projects and files that cannot be imported are failures, skipped is not passed. */

import { describe, expect, it } from 'vitest'
import { sum, summary, tallySetup, tallyStep, tallyVitest } from './tally'

const file = (name: string, status: string, tests: [string, string][], message = '') => ({
  name,
  status,
  message,
  assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
})
const report = (...testResults: ReturnType<typeof file>[]) => JSON.stringify({ testResults })

describe('tallyVitest', () => {
  it('counts tests one by one', () => {
    const text = report(file('a', 'failed', [['x', 'passed'], ['y', 'failed'], ['z', 'skipped']]), file('b', 'passed', [['w', 'passed']]))
    expect(tallyVitest('unit', text, 1)).toEqual({ passed: 2, failed: 1, skipped: ['a: z'], troubles: ['a: y: no message'] })
  })

  it('names each failing test with what it said first, so that the end of a long log tells them', () => {
    const failing = { fullName: 'page opens', status: 'failed', failureMessages: ['Timeout of 5 s\n    at page.ts'] }
    const text = JSON.stringify({ testResults: [{ name: 'a', status: 'failed', message: '', assertionResults: [failing] }] })
    expect(summary(tallyVitest('unit', text, 1)).split('\n')).toEqual(['FAILED a: page opens: Timeout of 5 s', '0 passed, 1 failed'])
  })

  it('counts a file that cannot be imported as one failure', () => {
    const tally = tallyVitest('unit', report(file('a', 'failed', [], 'Cannot find module\nstack'), file('b', 'passed', [['w', 'passed']])), 1)
    expect(tally).toMatchObject({ passed: 1, failed: 1, troubles: ['a: Cannot find module'] })
  })

  it('counts a failing hook after passing tests', () => {
    expect(tallyVitest('unit', report(file('a', 'failed', [['x', 'passed']], 'afterAll')), 1)).toMatchObject({ passed: 1, failed: 1 })
  })

  it('counts an error that belongs to no test', () => {
    expect(tallyVitest('unit', report(file('a', 'passed', [['x', 'passed']])), 1)).toMatchObject({ passed: 1, failed: 1 })
  })

  it.each([
    ['no report', null],
    ['a broken report', '{"testResults": ['],
    ['a report of another shape', '{}'],
    ['no files', report()],
    ['only skipped tests', report(file('a', 'passed', [['x', 'pending']]))],
  ])('fails for %s, even with status 0', (_, text) => {
    expect(tallyVitest('unit', text, 0)).toMatchObject({ passed: 0, failed: 1 })
  })
})

it('sums and ends with the one line', () => {
  const total = sum([tallyStep('lint', 0), tallyStep('build', 2), tallySetup('venv', 0), tallyVitest('unit', report(file('a', 'passed', [['x', 'passed'], ['y', 'todo']])), 0)])
  expect(summary(total).split('\n')).toEqual([
    'SKIPPED a: y',
    '1 SKIPPED, which is not passed',
    'FAILED build ended with status 2',
    '2 passed, 1 failed',
  ])
})

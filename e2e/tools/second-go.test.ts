/** A second go forgives only what passes in it, names what it forgave, and is not given when much failed. */

import { describe, expect, it } from 'vitest'
import { afterSecondGo, filesToRepeat } from './second-go'
import { summary, tallyVitest } from './tally'

const file = (name: string, tests: Record<string, string | null>, message?: string) => ({
  name,
  status: message !== undefined || Object.values(tests).some((failure) => failure !== null) ? 'failed' : 'passed',
  ...(message === undefined ? {} : { message }),
  assertionResults: Object.entries(tests).map(([fullName, failure]) => ({ fullName, status: failure === null ? 'passed' : 'failed', failureMessages: failure === null ? [] : [failure] })),
})
const report = (...testResults: ReturnType<typeof file>[]) => JSON.stringify({ testResults })
const late = 'Timeout of 60 s\n    at page.ts'

describe('files that are repeated', () => {
  it('are those with a failed test, and those that failed outside their tests', () => {
    expect(filesToRepeat(report(file('a', { x: null, y: late }), file('b', { x: null }), file('c', {}, 'no server')))).toEqual(['a', 'c'])
  })

  it.each([
    ['nothing failed', report(file('a', { x: null }))],
    ['there is no report', null],
    ['four files failed', report(...['a', 'b', 'c', 'd'].map((name) => file(name, { x: late })))],
  ])('are none where %s', (_, text) => {
    expect(filesToRepeat(text)).toEqual([])
  })
})

describe('after the second go', () => {
  const first = report(file('a', { x: null, y: late }), file('b', { x: null }))
  const told = (second: string | null, status: number): string[] => {
    const { text, unsteady } = afterSecondGo(first, second)
    return summary({ ...tallyVitest('browser', text, status), unsteady }).split('\n')
  }

  it('what passed counts as passed, once, and is told', () => {
    expect(told(report(file('a', { x: null, y: null })), 0)).toEqual(['UNSTEADY, passed when its file ran again alone: a: y: Timeout of 60 s', '3 passed, 0 failed'])
  })

  it('what failed again is a failure like any other', () => {
    expect(told(report(file('a', { x: null, y: late })), 1)).toEqual(['FAILED a: y: Timeout of 60 s', '2 passed, 1 failed'])
  })

  it('what fails only then is one, too', () => {
    expect(told(report(file('a', { x: 'gone', y: null })), 1)).toEqual(['FAILED a: x: gone', '2 passed, 1 failed'])
  })

  it('an error that belongs to no test is a failure', () => {
    expect(told(report(file('a', { x: null, y: null })), 1).at(-1)).toBe('3 passed, 1 failed')
  })

  it('the first report stands where there is no second', () => {
    expect(told(null, 1)).toEqual(['FAILED a: y: Timeout of 60 s', '2 passed, 1 failed'])
  })
})

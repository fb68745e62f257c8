/**
 * Test files that start browsers or servers get a second go, alone, when they failed beside others: a machine that stood still for
 * a moment must not hide what thousands of tests found. What failed only the first time is told by its name.
 */

import { type Report, readReport } from './tally'

/** With more of them than this something is broken, and a second go would only take time. */
const MOST_FILES = 3

/** Files of a vitest JSON report that deserve a second go: none where there is no report, nothing failed, or too much did. */
export function filesToRepeat(text: string | null): string[] {
  const failed = readReport(text)?.testResults.filter(hasFailed).map(({ name }) => name) ?? []
  return failed.length > MOST_FILES ? [] : failed
}

/** The first report with the repeated files as they came out the second time, and what failed only the first time. */
export function afterSecondGo(first: string, second: string | null): { text: string; unsteady: string[] } {
  const [before, after] = [readReport(first), readReport(second)]
  if (!before || !after) return { text: first, unsteady: [] }
  const repeated = new Map(after.testResults.map((file) => [file.name, file]))
  const unsteady = before.testResults.flatMap((file) => {
    const again = repeated.get(file.name)
    if (!again || hasFailed(again)) return []
    const failures = file.assertionResults.filter(({ status }) => status === 'failed')
    return failures.length > 0 ? failures.map((test) => sentence(file.name, test.fullName, test.failureMessages?.[0])) : [sentence(file.name, file.message)]
  })
  return { text: JSON.stringify({ testResults: before.testResults.map((file) => repeated.get(file.name) ?? file) }), unsteady }
}

type FileReport = Report['testResults'][number]

const hasFailed = ({ status, assertionResults }: FileReport): boolean => status === 'failed' || assertionResults.some((test) => test.status === 'failed')

const sentence = (...parts: (string | undefined)[]): string => parts.flatMap((part) => part?.split('\n')[0] || []).join(': ')

/** Honest totals: what a vitest report and its exit status say together, and the one line that everything ends with. */

import { z } from 'zod'

export interface Tally {
  passed: number
  failed: number
  /** Full names of tests that did not run. */
  skipped: string[]
  /** What failed, a sentence each: tests by their names, a crash, a file that cannot be imported, a project without tests. */
  troubles: string[]
  /** What failed at first and passed when its file ran again alone, a sentence each. */
  unsteady?: string[]
}

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() })),
    }),
  ),
})

/** A step that is no test suite, such as the type check: it counts as one. */
export function tallyStep(name: string, status: number): Tally {
  const ok = status === 0
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [], troubles: ok ? [] : [`${name} ended with status ${status}`] }
}

/** A step that only prepares others: nothing passed by it, but it can fail. */
export function tallySetup(name: string, status: number): Tally {
  return { ...tallyStep(name, status), passed: 0 }
}

/**
 * Counts the tests of a vitest JSON report (`text`, null when none was written). Adds one failure for each file that
 * failed outside its tests, one when nothing was executed, and one when vitest's exit status is bad for no counted reason.
 */
export function tallyVitest(project: string, text: string | null, status: number): Tally {
  const tally: Tally = { passed: 0, failed: 0, skipped: [], troubles: [] }
  const trouble = (sentence: string) => {
    tally.failed += 1
    tally.troubles.push(sentence)
  }
  const parsed = readReport(text)
  if (parsed === null) {
    trouble(`${project}: vitest wrote no report (status ${status})`)
    return tally
  }
  for (const file of parsed.testResults) {
    let failedHere = 0
    for (const test of file.assertionResults) {
      if (test.status === 'passed') tally.passed += 1
      else if (test.status === 'failed') {
        failedHere += 1
        trouble(`${file.name}: ${test.fullName}: ${firstLine(test.failureMessages?.[0]) || 'no message'}`)
      } else tally.skipped.push(`${file.name}: ${test.fullName}`)
    }
    if (file.status === 'failed' && failedHere === 0) {
      trouble(`${file.name}: ${firstLine(file.message) || 'failed outside its tests'}`)
    }
  }
  if (tally.passed + tally.failed === 0) trouble(`${project}: no test was executed`)
  if (status !== 0 && tally.failed === 0) trouble(`${project}: vitest ended with status ${status} although no test failed`)
  return tally
}

/** The sum of several tallies. */
export function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((total, tally) => total + tally.passed, 0),
    failed: tallies.reduce((total, tally) => total + tally.failed, 0),
    skipped: tallies.flatMap(tally => tally.skipped),
    troubles: tallies.flatMap(tally => tally.troubles),
    unsteady: tallies.flatMap(tally => tally.unsteady ?? []),
  }
}

/** What is printed at the very end; its last line is `N passed, N failed`. */
export function summary(tally: Tally): string {
  return [
    ...tally.skipped.map(name => `SKIPPED ${name}`),
    ...(tally.skipped.length > 0 ? [`${tally.skipped.length} SKIPPED, which is not passed`] : []),
    ...(tally.unsteady ?? []).map(sentence => `UNSTEADY, passed when its file ran again alone: ${sentence}`),
    ...tally.troubles.map(sentence => `FAILED ${sentence}`),
    `${tally.passed} passed, ${tally.failed} failed`,
  ].join('\n')
}

function firstLine(message: string | undefined): string {
  return message?.split('\n')[0] ?? ''
}

export type Report = z.infer<typeof report>

/** A vitest JSON report; null when there is none or it is something else. */
export function readReport(text: string | null): Report | null {
  try {
    return text === null ? null : report.parse(JSON.parse(text))
  } catch {
    return null
  }
}

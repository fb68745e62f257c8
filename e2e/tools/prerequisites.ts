/** What has to be on the machine before the tests can run, and what to do where it is not. */

import { findChromium } from '../browser/chromium'
import { capture } from './run-command'

/** Command of a Python that is new enough and can make virtual environments ($PYTHON, python3 or python); null if none. */
export async function findPython(): Promise<string | null> {
  const probe = 'import sys, venv, ensurepip; print("%d %d" % sys.version_info[:2])'
  const candidates = process.env.PYTHON ? [process.env.PYTHON] : ['python3', 'python']
  for (const command of candidates) {
    if (pythonIsNewEnough(await capture(command, ['-c', probe]))) return command
  }
  return null
}

/** True for the text `3 10` and above. */
export function pythonIsNewEnough(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split(' ').map(Number)
  return major > 3 || (major === 3 && minor >= 10)
}

/** True for `v20.0.0` and above. */
export function nodeIsNewEnough(version: string): boolean {
  return Number(/^v(\d+)\./.exec(version)?.[1] ?? 0) >= 20
}

/** One sentence for each thing that is missing, empty when all is there. `chromium: false` leaves the browser out. */
export async function missingPrerequisites(wants: { chromium: boolean }): Promise<string[]> {
  const missing: string[] = []
  if (!nodeIsNewEnough(process.version)) missing.push(`Node 20 or newer is needed; this is ${process.version}.`)
  if ((await findPython()) === null) {
    missing.push('Python 3.10 or newer with venv is needed (Debian: apt-get install python3 python3-venv), or PYTHON set to its path.')
  }
  if (wants.chromium && findChromium() === null) {
    missing.push('A Chromium is needed (Debian: apt-get install chromium), or CHROMIUM set to the path of one.')
  }
  return missing
}

/** Exits with status 2 and says what is missing, if anything is. */
export async function demandPrerequisites(wants: { chromium: boolean }): Promise<void> {
  const missing = await missingPrerequisites(wants)
  if (missing.length === 0) return
  for (const sentence of missing) process.stderr.write(`Missing: ${sentence}\n`)
  process.exit(2)
}

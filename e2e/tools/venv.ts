/** Python environments of the tests: made once from a requirements file and made again when that file changes. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from './lock'
import { findPython } from './prerequisites'
import { projectRoot, runCommand } from './run-command'

/** `openenv` is .venv-openenv from e2e/openenv/requirements.txt; `reference` likewise. */
export type VenvName = 'openenv' | 'reference'

/** Path of an environment's Python, whether or not it has been made. */
export function venvPython(name: VenvName): string {
  return join(projectRoot, `.venv-${name}`, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
}

/**
 * Makes `.venv-NAME` if it does not hold what the requirements say (minutes, with pip), at once otherwise. Returns its
 * Python. Progress goes to stderr. Throws when pip fails.
 */
export async function ensureVenv(name: VenvName): Promise<string> {
  const folder = join(projectRoot, `.venv-${name}`)
  const requirements = join(projectRoot, 'e2e', name, 'requirements.txt')
  const stamp = join(folder, 'requirements.sha256')
  const python = venvPython(name)
  const wanted = createHash('sha256').update(await readFile(requirements)).digest('hex')
  const current = () => readFile(stamp, 'utf8').catch(() => '')
  if ((await current()) === wanted) return python

  return withLock(`venv-${name}`, async () => {
    const found = await current()
    if (found === wanted) return python
    process.stderr.write(`Making .venv-${name} from e2e/${name}/requirements.txt ...\n`)
    // An unstamped one is an interrupted run's, or somebody's own: pip completes it.
    if (found !== '') await rm(folder, { recursive: true, force: true })
    if (!existsSync(python)) {
      const base = await findPython()
      if (base === null) throw new Error('No Python 3.10 or newer with venv was found.')
      await demand(base, ['-m', 'venv', folder])
    }
    await demand(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements])
    await writeFile(stamp, wanted)
    return python
  })
}

async function demand(command: string, args: string[]): Promise<void> {
  const status = await runCommand(command, args, { output: 'stderr' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with status ${status}.`)
}

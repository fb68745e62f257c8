/** Python environments of the tests: made once from a requirements file and made again when that file changes. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from './lock'
import { findPython } from './prerequisites'
import { capture, projectRoot, runCommand } from './run-command'

/** `openenv` is .venv-openenv from e2e/openenv/requirements.txt; `reference` likewise. */
export type VenvName = 'openenv' | 'openenv-old' | 'openenv-libraries' | 'reference' | 'optimum'

interface Recipe {
  /** Path from the repository's root. */
  requirements: string
  /** An environment whose packages it sees, unless it has its own: a layer takes seconds where the whole takes minutes. */
  over?: VenvName
}

const RECIPES: Record<VenvName, Recipe> = {
  openenv: { requirements: 'e2e/openenv/requirements.txt' },
  'openenv-old': { requirements: 'e2e/openenv/requirements-old.txt', over: 'openenv' },
  'openenv-libraries': { requirements: 'e2e/openenv/requirements-libraries.txt', over: 'openenv' },
  reference: { requirements: 'e2e/reference/requirements.txt' },
  optimum: { requirements: 'e2e/bench/requirements-optimum.txt', over: 'reference' },
}

/** Path of an environment's Python, whether or not it has been made. */
export function venvPython(name: VenvName): string {
  return join(projectRoot, `.venv-${name}`, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
}

/**
 * Makes `.venv-NAME` if it does not hold what the requirements say (minutes, with pip), at once otherwise. Returns its
 * Python. Progress goes to stderr. Throws when pip fails.
 */
export async function ensureVenv(name: VenvName): Promise<string> {
  const { requirements, over } = RECIPES[name]
  const below = over === undefined ? null : await ensureVenv(over)
  const folder = join(projectRoot, `.venv-${name}`)
  const stamp = join(folder, 'requirements.sha256')
  const python = venvPython(name)
  const wanted = await fingerprint(name)
  const current = () => readFile(stamp, 'utf8').catch(() => '')
  if ((await current()) === wanted) return python

  return withLock(`venv-${name}`, async () => {
    const found = await current()
    if (found === wanted) return python
    process.stderr.write(`Making .venv-${name} from ${requirements} ...\n`)
    // An unstamped one is an interrupted run's, or somebody's own: pip completes it.
    if (found !== '') await rm(folder, { recursive: true, force: true })
    if (!existsSync(python)) {
      const base = await findPython()
      if (base === null) throw new Error('No Python 3.10 or newer with venv was found.')
      await demand(base, ['-m', 'venv', ...(below === null ? [] : ['--without-pip']), folder])
    }
    if (below !== null) await layer(python, below)
    await demand(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements])
    await writeFile(stamp, wanted)
    return python
  })
}

/** Of an environment's requirements and of those that lie below it. */
async function fingerprint(name: VenvName): Promise<string> {
  const { requirements, over } = RECIPES[name]
  const hash = createHash('sha256').update(await readFile(join(projectRoot, requirements)))
  if (over !== undefined) hash.update(await fingerprint(over))
  return hash.digest('hex')
}

/** Lets `python` find the packages of `below`, pip among them, after its own. */
async function layer(python: string, below: string): Promise<void> {
  const packages = (command: string) => capture(command, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'])
  const [own, other] = await Promise.all([packages(python), packages(below)])
  if (own === null || other === null) throw new Error(`${python} or ${below} does not run: delete its folder and try again.`)
  await writeFile(join(own, 'below.pth'), `${other}\n`)
}

async function demand(command: string, args: string[]): Promise<void> {
  const status = await runCommand(command, args, { output: 'stderr' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with status ${status}.`)
}

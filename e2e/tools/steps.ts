/** The steps of `npm test` and `npm run test:reference`, each run to its end and counted. */

import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { packageFile, projectRoot, runCommand } from './run-command'
import { afterSecondGo, filesToRepeat } from './second-go'
import { sum, summary, tallySetup, tallyStep, tallyVitest, type Tally } from './tally'
import { ensureVenv, type VenvName } from './venv'

export interface Step {
  name: string
  run(): Promise<Tally>
  /** It leaves room for others: begun at once, beside the steps before it; or together with the step of this name, which leaves room itself. */
  early?: true | string
}

const minute = 60_000

/** A step that is one Node program of an npm package. `early`: it keeps one core busy and leaves room for another step. */
export function packageStep(name: string, file: string, args: readonly string[], early?: true | string): Step {
  return {
    name,
    ...(early ? { early } : {}),
    run: async () => tallyStep(name, await runCommand(process.execPath, [packageFile(file), ...args], { timeoutMs: 15 * minute })),
  }
}

export interface VitestOptions {
  env?: NodeJS.ProcessEnv
  timeoutMs?: number
  /** Whether a file that failed gets a second go, alone. */
  again?: boolean
}

/** A step that is one vitest project of vite.config.ts, all its files. */
export function vitestStep(project: string, { env = {}, timeoutMs = 60 * minute, again = false }: VitestOptions = {}): Step {
  return {
    name: project,
    run: async () => {
      const first = await runVitest(project, [], env, timeoutMs)
      const files = again ? filesToRepeat(first.text) : []
      if (first.text === null || files.length === 0) return shorten(tallyVitest(project, first.text, first.status))
      process.stdout.write(`\n=== ${project}: a second go for ${files.join(', ')} ===\n`)
      const second = await runVitest(project, ['--no-file-parallelism', ...files], env, timeoutMs)
      const { text, unsteady } = afterSecondGo(first.text, second.text)
      return shorten({ ...tallyVitest(project, text, second.status), unsteady })
    },
  }
}

async function runVitest(project: string, more: readonly string[], env: NodeJS.ProcessEnv, timeoutMs: number): Promise<{ text: string | null; status: number }> {
  const folder = join(projectRoot, '.cache/reports')
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${project}-${randomUUID()}.json`)
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...more]
  const status = await runCommand(process.execPath, [packageFile('vitest/vitest.mjs'), ...args], { env, timeoutMs })
  const text = await readFile(file, 'utf8').catch(() => null)
  await rm(file, { force: true })
  return { text, status }
}

/** A step that makes a Python environment and, when named, runs a script in it. It prepares other steps: none pass by it. */
export function pythonStep(name: string, venv: VenvName, script?: string): Step {
  return {
    name,
    ...(script === undefined ? { early: true } : {}),
    run: async () => {
      const python = await ensureVenv(venv)
      if (script === undefined) return tallySetup(name, 0)
      // Idle OpenMP threads that spin make torch many times slower on a machine that does other work as well.
      const env = { OMP_WAIT_POLICY: 'PASSIVE', PYTHONUNBUFFERED: '1' }
      return tallySetup(name, await runCommand(python, [script], { env, timeoutMs: 30 * minute }))
    },
  }
}

/**
 * Runs the steps in order, all of them whatever fails, and prints the totals. Returns the exit status. `wanted` limits
 * the run to steps of these names.
 */
export async function runSteps(steps: readonly Step[], wanted: readonly string[]): Promise<number> {
  const unknown = wanted.filter(name => !steps.some(step => step.name === name))
  if (unknown.length > 0) {
    process.stderr.write(`No step named ${unknown.join(', ')}. Steps: ${steps.map(step => step.name).join(', ')}.\n`)
    return 2
  }
  const tallies: Tally[] = []
  const chosen = steps.filter(step => wanted.length === 0 || wanted.includes(step.name))
  const tallyOf = (step: Step): Promise<Tally> =>
    step.run().catch((error: unknown): Tally => {
      const message = error instanceof Error ? error.message : String(error)
      return { passed: 0, failed: 1, skipped: [], troubles: [`${step.name}: ${message}`] }
    })
  const begun = new Map<Step, Promise<Tally>>()
  const begin = (some: readonly Step[]) => {
    for (const step of some) if (!begun.has(step)) begun.set(step, tallyOf(step))
  }
  begin(chosen.filter(step => step.early === true))
  for (const step of chosen) {
    process.stdout.write(`\n=== ${step.name} ===\n`)
    begin([step, ...chosen.filter(({ early }) => early === step.name)])
    const started = Date.now()
    const tally = await (begun.get(step) ?? tallyOf(step))
    tallies.push(tally)
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    process.stdout.write(`=== ${step.name}: ${tally.passed} passed, ${tally.failed} failed, ${tally.skipped.length} skipped in ${seconds} s\n`)
  }
  const total = sum(tallies)
  process.stdout.write(`\n${summary(total)}\n`)
  return total.failed > 0 ? 1 : 0
}

/** Paths of files as seen from the repository's root. */
function shorten(tally: Tally): Tally {
  const short = (line: string) => line.replaceAll(`${projectRoot}/`, '')
  return { ...tally, skipped: tally.skipped.map(short), troubles: tally.troubles.map(short), unsteady: tally.unsteady?.map(short) ?? [] }
}

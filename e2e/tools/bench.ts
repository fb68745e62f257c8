/** `npm run -s bench -- NAME... [--json]`: runs e2e/bench/NAME.ts and prints a table, or one JSON object as the last line. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseBenchArguments, table, type BenchArguments, type BenchModule, type BenchRow } from './bench-rows'
import { describeMachine } from './machine'
import { projectRoot } from './run-command'

const folder = join(projectRoot, 'e2e/bench')

/** Benchmarks are the files of e2e/bench that are neither tests nor parts (`_name.ts`) of one. */
function knownBenches(): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('_'))
    .map(name => name.slice(0, -'.ts'.length))
    .sort()
}

async function main(): Promise<number> {
  let asked: BenchArguments
  try {
    asked = parseBenchArguments(process.argv.slice(2), knownBenches())
  } catch (error) {
    process.stderr.write(`${message(error)}\n`)
    return 2
  }
  // stdout is for the result: whatever a library prints on the way is progress.
  console.log = console.info = console.debug = console.error
  const rows: BenchRow[] = []
  const failed: { bench: string; error: string }[] = []
  const versions: Record<string, string> = {}
  for (const { bench, rows: names } of asked.requests) {
    const log = (text: string) => process.stderr.write(`[${bench}] ${text}\n`)
    try {
      const module = (await import(pathToFileURL(join(folder, `${bench}.ts`)).href)) as BenchModule
      rows.push(...(await module.run(names, log)))
      Object.assign(versions, await module.versions?.())
    } catch (error) {
      log(error instanceof Error ? (error.stack ?? error.message) : String(error))
      failed.push({ bench, error: message(error) })
    }
  }
  const machine = await describeMachine()
  if (asked.json) process.stdout.write(`${JSON.stringify({ machine, versions, rows, ...(failed.length > 0 ? { failed } : {}) })}\n`)
  else {
    process.stdout.write(`${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.os}, Node ${machine.node}, `)
    process.stdout.write(`${[machine.chromium ?? 'no Chromium', ...Object.entries(versions).map(([name, version]) => `${name} ${version}`)].join(', ')}\n\n${table(rows)}\n`)
    for (const { bench, error } of failed) process.stdout.write(`FAILED ${bench}: ${error}\n`)
  }
  return failed.length > 0 ? 1 : 0
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const status = await main()
// A browser or server that a benchmark left open must not keep the command alive; the empty write waits for the pipe.
process.stdout.write('', () => process.exit(status))

/** `npm run soak`: the tests that take too long for every commit, then the figures that they measured. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { figureLine, readFigures } from './figures'
import { demandPrerequisites } from './prerequisites'
import { projectRoot } from './run-command'
import { pythonStep, runSteps, vitestStep } from './steps'

await demandPrerequisites({ chromium: true })
const file = join(projectRoot, `.cache/figures-${process.pid}.jsonl`)
await mkdir(join(projectRoot, '.cache'), { recursive: true })
const soak = vitestStep('soak', { env: { GRPO_FIGURES: file }, timeoutMs: 24 * 60 * 60_000 })
const withFigures = {
  name: soak.name,
  run: async () => {
    const tally = await soak.run()
    for (const figure of readFigures(file)) process.stdout.write(`${figureLine(figure)}\n`)
    await rm(file, { force: true })
    return tally
  },
}
process.exitCode = await runSteps([pythonStep('openenv', 'openenv'), withFigures], process.argv.slice(2))

/** `npx tsx e2e/tools/record-run.ts [steps]`: trains the shipped model on lane with the page's own settings and writes what the page shows before anything is loaded. Alike each time, but for times. */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { summarise } from '../../src/core/run-record'
import { builtinEnvironment } from '../../src/env/builtin'
import { defaultConfig } from '../../src/store/presets'
import { RECORDED_RUN_PATH } from '../../src/store/replay-start'
import { keptEpisode } from '../../src/worker/kept-episode'
import { tinyChat, tinyEngine } from '../integration/grpo-run'
import { GrpoTrainer } from '../../src/train/grpo'
import { packRun, type RunToPack } from './pack-run'
import { projectRoot } from './run-command'

const steps = Number(process.argv[2] ?? 20)
const config = defaultConfig()
const environment = builtinEnvironment('lane')
await environment.connect()
const [engine, chat] = [await tinyEngine(config), await tinyChat()]

/** Episodes that the update of the step went through. */
let trained: number
const trainer = new GrpoTrainer({
  config,
  engine,
  environment,
  chat,
  onEvent: (event) => {
    if (event.type === 'training') trained = event.total
  },
})
const packed: RunToPack = {
  createdAt: Date.now(),
  config,
  engine: engine.info,
  environment: { tools: [...environment.tools], prompts: { system: config.system_prompt, user: config.user_prompt } },
  history: [],
  steps: [],
}
for (let step = 0; step < steps; step++) {
  trained = 0
  const record = await trainer.step()
  const summary = summarise(record)
  packed.history.push(summary)
  packed.steps.push({ trained, episodes: record.episodes.map((episode) => keptEpisode(episode, chat)) })
  process.stdout.write(`step ${summary.step}: reward ${summary.metrics['reward']?.toFixed(3)}\n`)
}
await engine.dispose()

const path = join(projectRoot, 'public', RECORDED_RUN_PATH)
const bytes = gzipSync(JSON.stringify(packRun(packed)), { level: 9 })
await mkdir(dirname(path), { recursive: true })
await writeFile(path, bytes)
process.stdout.write(`${path}: ${bytes.length} bytes\n`)

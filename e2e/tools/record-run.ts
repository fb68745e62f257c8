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
import type { ScoredEpisode } from '../../src/core/events'
import type { PolicyComparison } from '../../src/core/examination'
import { comparePolicies } from '../../src/worker/compare-policies'
import { examine } from '../../src/worker/examine'
import { GrpoTrainer } from '../../src/train/grpo'
import { packRun, type RunToPack } from './pack-run'
import { projectRoot } from './run-command'

const steps = Number(process.argv[2] ?? 20)
/** After these the base model and the LoRA play against each other, each of these seeds greedily and sampled. */
const COMPARED_AFTER = [0, 2, 5, 10, 20]
const COMPARED_SEEDS = [1, 2, 3, 4, 5, 6]
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
  comparisons: await compared(0),
}

/** What base and adapter think of the step's tokens after its update. */
async function examined(episodes: ScoredEpisode[]): Promise<ScoredEpisode[]> {
  const examinations = await examine(engine, episodes, config.grpo.temperature)
  return episodes.map((episode, i) => ({ ...episode, baseLogprobs: examinations[i]?.baseLogprobs ?? [], afterLogprobs: examinations[i]?.logprobs ?? [] }))
}

async function compared(step: number): Promise<PolicyComparison[]> {
  if (!COMPARED_AFTER.includes(step)) return []
  const run = { engine, environment, chat, config, trainer: { stepNumber: step } }
  const made: PolicyComparison[] = []
  for (const temperature of [0, config.grpo.temperature]) {
    for (const seed of COMPARED_SEEDS) made.push(await comparePolicies(run, { seed, split: 'heldout', temperature }, () => undefined))
  }
  return made
}

for (let step = 0; step < steps; step++) {
  trained = 0
  const record = await trainer.step()
  const summary = summarise(record)
  packed.history.push(summary)
  const episodes = await examined(record.episodes)
  packed.steps.push({ trained, episodes: episodes.map((episode) => keptEpisode(episode, chat)), timeline: record.timeline })
  packed.comparisons.push(...(await compared(summary.step)))
  process.stdout.write(`step ${summary.step}: reward ${summary.metrics['reward']?.toFixed(3)}\n`)
}
await engine.dispose()

const path = join(projectRoot, 'public', RECORDED_RUN_PATH)
const bytes = gzipSync(JSON.stringify(packRun(packed)), { level: 9 })
await mkdir(dirname(path), { recursive: true })
await writeFile(path, bytes)
process.stdout.write(`${path}: ${bytes.length} bytes\n`)

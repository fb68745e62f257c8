/** The lane preset's run as a folder that TRL's GRPOTrainer runs, and TRL running it with a clock: the same model, LoRA, game, settings. */

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'vite'
import type { RunConfig } from '../../../src/core/config'
import { presetById, presetConfig } from '../../../src/env/presets'
import { appConfig } from '../../../vite.config'
import { projectRoot } from '../../tools/run-command'
import { ensureVenv } from '../../tools/venv'
import { PeerProcess } from '../_peer-process'
import { countFrom } from '../_rows'
import type * as LaneFolder from './lane-folder'

/** The preset as it is, groups of eight; GRPO_BENCH_PROMPTS: groups a step, for a trial. */
export function laneConfig(): RunConfig {
  const config = presetConfig(presetById('lane'), 1)
  const { grpo } = config
  const prompts_per_step = countFrom(process.env, 'GRPO_BENCH_PROMPTS', grpo.prompts_per_step)
  return { ...config, backend: 'wasm', grpo: { ...grpo, num_generations: 8, prompts_per_step } }
}

/** Writes the folder somewhere of its own. Remove it afterwards. */
export async function laneFolder(config: RunConfig): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'grpo-bench-trl-'))
  const vite = await createServer({
    ...appConfig(true),
    configFile: false,
    root: projectRoot,
    logLevel: 'error',
    server: { middlewareMode: true, hmr: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  })
  try {
    const { writeLaneFolder } = (await vite.ssrLoadModule('/e2e/bench/peers/lane-folder.ts')) as typeof LaneFolder
    await writeLaneFolder(folder, config)
    return folder
  } finally {
    await vite.close()
  }
}

/** Starts the folder's train.py. `wait`: it says what it is, and then each step waits to be asked for. */
export async function startLane(folder: string, { steps, wait, threads }: { steps: number; wait: boolean; threads?: number }): Promise<PeerProcess> {
  const out = await mkdtemp(join(folder, 'out-'))
  const args = ['e2e/bench/peers/trl_timed.py', folder, out, String(steps), ...(wait ? ['wait'] : [])]
  return new PeerProcess(await ensureVenv('reference'), args, threads)
}

/** What TRL tells after a step. */
export interface TimedStep {
  step: number
  seconds: number
}

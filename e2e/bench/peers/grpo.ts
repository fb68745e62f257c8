/** One GRPO step on lane, one thread each: the built page on WASM against TRL's GRPOTrainer on the CPU. */

import { rm } from 'node:fs/promises'
import { launchChromium } from '../../browser/chromium'
import { startSite } from '../../browser/server'
import type { BenchRow } from '../../tools/bench-rows'
import { withRun } from '../_page'
import { pairedRow, takeTurns, WARM_UP } from '../_pairs'
import { laneConfig, laneFolder, startLane, type TimedStep } from './lane-in-trl'
import type { PeerSetting } from './setting'

export async function grpoRows({ count, log, versions }: PeerSetting): Promise<BenchRow[]> {
  const config = laneConfig()
  const folder = await laneFolder(config)
  // Without the isolation headers WASM has one thread.
  const site = await startSite({ isolated: false })
  const browser = await launchChromium({ args: ['--disable-backgrounding-occluded-windows'] })
  const trl = await startLane(folder, { steps: count + WARM_UP, wait: true, threads: 1 })
  try {
    const told = await trl.next<Record<'trl' | 'transformers' | 'torch', string> & { threads: number }>()
    Object.assign(versions, { TRL: told.trl, transformers: told.transformers, PyTorch: told.torch })
    return await withRun({ url: site.url, browser }, config, log, async (run) => {
      let n = 0
      const ours = async (): Promise<number> => {
        await run.step(++n)
        const { seconds, threads } = await run.page.evaluate(() => {
          const { history, engine } = globalThis.window.playground.getState()
          return { seconds: history.at(-1)?.seconds, threads: engine?.info.threads }
        })
        if (threads !== 1 || told.threads !== 1) throw new Error(`The page has ${threads} threads, TRL ${told.threads}.`)
        if (seconds === undefined) throw new Error('The page does not say how long the step took.')
        return seconds.sampling + seconds.training
      }
      const peer = async (): Promise<number> => (await trl.ask<TimedStep>()).seconds
      const pairs = await takeTurns(count, ours, peer, (pair, step) => log(`step ${step + WARM_UP}: ${pair.ours.toFixed(2)} against ${pair.peer.toFixed(2)} s`))
      const note = `one thread each, lane preset, ${config.grpo.prompts_per_step} groups of ${config.grpo.num_generations}`
      return [pairedRow({ row: 'grpo/lane', unit: 's', peer: 'TRL GRPOTrainer', goal: { most: 0.5 }, note }, pairs)]
    })
  } finally {
    await trl.stop()
    await browser.close()
    await site.close()
    await rm(folder, { recursive: true, force: true })
  }
}

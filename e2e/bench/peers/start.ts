/** From nothing to the first finished GRPO step on lane: navigation with a warm cache against the start of TRL's process. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { writeLink } from '../../../src/store/link'
import { launchProfile } from '../../browser/chromium'
import { startSite } from '../../browser/server'
import type { BenchRow } from '../../tools/bench-rows'
import { judged, pairedRow, takeTurns } from '../_pairs'
import { laneConfig, laneFolder, startLane, type TimedStep } from './lane-in-trl'
import type { PeerSetting } from './setting'

const MOST_SECONDS = 5

export async function startRows({ count, log }: PeerSetting): Promise<BenchRow[]> {
  const config = laneConfig()
  const folder = await laneFolder(config)
  const site = await startSite()
  const profile = await mkdtemp(join(tmpdir(), 'grpo-bench-profile-'))
  const context = await launchProfile(profile)
  try {
    const peer = async (): Promise<number> => {
      const from = performance.now()
      const trl = await startLane(folder, { steps: 1, wait: false })
      try {
        await trl.next<TimedStep>()
        return (performance.now() - from) / 1000
      } finally {
        await trl.stop()
      }
    }
    const ours = (): Promise<number> => firstStep(context, `${site.url}${writeLink(config, 0)}`)
    // The pairs that do not count fill the caches of both.
    const pairs = await takeTurns(count, ours, peer, (pair, n) => log(`${n < 1 ? 'warming up' : n}: ${pair.ours.toFixed(2)} against ${pair.peer.toFixed(2)} s`))
    const note = `each with its usual threads; lane preset, ${config.grpo.prompts_per_step} groups of ${config.grpo.num_generations}`
    const row = pairedRow({ row: 'start/lane', unit: 's', peer: 'TRL process', goal: { most: 0.2 }, note }, pairs)
    const soon = judged(row.value ?? Number.NaN, { most: MOST_SECONDS }).met === true
    return [{ ...row, goal: `≤ 0.2, ≤ ${MOST_SECONDS} s`, met: row.met === true && soon }]
  } finally {
    await context.close()
    await site.close()
    await rm(profile, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  }
}

/** Seconds from navigation, over a press of Train as soon as it can be pressed, to the end of the first step. */
async function firstStep(context: BrowserContext, address: string): Promise<number> {
  const page = await context.newPage()
  try {
    const from = performance.now()
    await page.goto(address)
    await page.getByTestId('train').click()
    await page.waitForFunction(
      () => {
        const { run, history } = globalThis.window.playground.getState()
        if (run.state === 'failed') throw new Error(`The page failed: ${run.error}`)
        return run.state !== 'loading' && history.length > 0 && history[0]?.step === 1
      },
      undefined,
      { polling: 50, timeout: 5 * 60_000 },
    )
    return (performance.now() - from) / 1000
  } finally {
    await page.close()
  }
}

/** `npx tsx e2e/bench/_picture.ts [steps]`: makes README's picture, the page after that many steps (20) of a lane run on WASM. */

import { join } from 'node:path'
import type { RunConfig } from '../../src/core/config'
import { presetById, presetConfig } from '../../src/env/presets'
import { projectRoot } from '../tools/run-command'
import { withRun, withSite, type PageRun } from './_page'

const WIDTH = 1440
const file = join(projectRoot, 'public/readme.png')
const log = (text: string) => process.stderr.write(`[picture] ${text}\n`)

const steps = Number(process.argv[2] ?? 20)
if (!Number.isInteger(steps) || steps < 1) throw new Error('The number of steps must be a whole number from 1.')

/** Selects what is worth seeing: an episode that did better than its group, the one with most turns, and the word that it chose. */
async function select({ page }: PageRun): Promise<void> {
  const chosen = await page.evaluate(() => {
    const step = globalThis.window.playground.getState().steps.at(-1)
    const better = step?.episodes.filter(episode => (episode.advantage ?? 0) > 0) ?? []
    const best = better.sort((a, b) => b.answers.length - a.answers.length || a.index - b.index)[0]
    return best === undefined ? null : { index: best.index, group: best.group }
  })
  if (chosen === null) log('No group of the last step has a signal; take another number of steps for a better picture.')
  else {
    await page.getByTestId('group-picker').locator('label').nth(chosen.group).click()
    await page.getByTestId(`episode-${chosen.index}`).click()
  }
  await page.getByTestId('heat').getByText('advantage').click()
  const words = page.getByTestId('token').filter({ hasText: /^(left|right|emergency)/ })
  if ((await words.count()) > 0) await words.last().click()
  await page.mouse.move(0, 0)
}

await withSite(site => {
  const base = presetConfig(presetById('lane'), 1)
  const config: RunConfig = { ...base, backend: 'wasm' }
  const context = { viewport: { width: WIDTH, height: 900 }, colorScheme: 'light' as const, reducedMotion: 'reduce' as const }
  return withRun(
    site,
    config,
    log,
    async run => {
      for (let step = 1; step <= steps; step++) {
        await run.step(step)
        log(`step ${step}/${steps}`)
      }
      await select(run)
      // The settings' column is as high as the window: a window as high as the page leaves nothing blank under it.
      const height = await run.page.evaluate(() => document.documentElement.scrollHeight)
      await run.page.setViewportSize({ width: WIDTH, height })
      await run.page.waitForTimeout(1000)
      await run.page.screenshot({ path: file })
      log(`wrote ${file}`)
    },
    context,
  )
})

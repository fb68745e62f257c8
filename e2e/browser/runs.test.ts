/** Kept runs as a person uses them, in a real Chromium: gone on with after a reload, renamed, compared, looked at from a file, deleted. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { startSite, type RunningServer } from './server'
import { keptRun } from './survive'

let browser: Browser
let server: RunningServer
let play: Playground
let folder: string
beforeAll(async () => {
  browser = await launchChromium()
  server = await startSite()
  folder = await mkdtemp(join(tmpdir(), 'runs-'))
  play = await openPlayground(browser, server.url, linkOf({ env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 4, max_steps: 3, backend: 'wasm' }))
  await play.until('ready')
})
afterAll(async () => {
  await play.close()
  await browser.close()
  await server.close()
  await rm(folder, { recursive: true })
})

const find = (testId: string) => play.page.getByTestId(testId)
const focused = () => play.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset['testid'])
/** What of a run is on the page, without clock readings. */
const shown = async () => {
  const { history, steps } = await play.state()
  const tokens = await find('token').allTextContents()
  return { history, episodes: steps.flatMap((step) => step.episodes.map(({ answers, ...episode }) => ({ ...episode, answers: answers.length }))), tokens }
}

it('a step is listed when it has ended, under a name that can be changed where it stands', async () => {
  await play.press('step')
  await play.until('paused')
  await play.press('runs-open')
  await expect.poll(() => find('run').count()).toBe(1)
  await find('run-name').fill('given up')
  await play.page.keyboard.press('Escape')
  // That Escape meant the name.
  expect([await find('runs').count(), await find('run-name').inputValue()]).toEqual([1, 'echo · tiny-qwen3'])
  await find('run-name').fill('first')
  await play.page.keyboard.press('Enter')
  await play.page.keyboard.press('Escape')
  await expect.poll(() => find('runs').count()).toBe(0)
  await expect.poll(focused).toBe('runs-open')
  // What follows reloads the page.
  await expect.poll(async () => (await keptRun(play.page))?.name).toBe('first')
})

it('after a reload it is offered, goes on, and looks as before', async () => {
  const before = await shown()
  await play.page.reload()
  await find('resume-offered').waitFor()
  expect(await play.text('resume-offer')).toContain('first stopped at step 1.')
  await play.press('resume-offered')
  await expect.poll(async () => (await play.state()).history.length).toBe(1)
  await play.until(['paused', 'ready'])
  await expect.poll(shown).toEqual(before)
  await play.press('step')
  // It is paused before and after.
  await expect.poll(async () => (await play.state()).history.map(({ step }) => step)).toEqual([1, 2])
  await play.until('paused')
})

it('is neither offered nor loaded in another tab while this one has it', async () => {
  const other = await play.page.context().newPage()
  try {
    await other.goto(play.page.url())
    const state = () => other.evaluate(() => window.playground.getState().run)
    await expect.poll(async () => (await state()).state).toBe('ready')
    await other.getByTestId('runs-open').click()
    await other.getByTestId('run-elsewhere').waitFor()
    const id = (await other.getByTestId('run').getAttribute('data-run')) ?? ''
    expect(await other.getByTestId('resume').count()).toBe(0)
    await other.keyboard.press('Escape')
    await expect.poll(() => other.getByTestId('runs').count()).toBe(0)
    expect(await other.getByTestId('resume-offer').count()).toBe(0)
    // One that another tab took after the list was told is refused, and nothing here is given up for it.
    await other.evaluate((run) => window.playground.send({ type: 'resume', id: run }), id)
    await other.getByTestId('resume-refused').waitFor()
    expect(await state()).toEqual({ state: 'ready' })
    await expect.poll(() => other.getByTestId('train').isEnabled()).toBe(true)
  } finally {
    await other.close()
  }
})

it('its trajectories come back from a file as a recording, which Reset ends', async () => {
  const before = await shown()
  await play.press('take-away-open')
  const [download] = await Promise.all([play.page.waitForEvent('download'), play.press('export-trajectories-parquet')])
  const file = join(folder, download.suggestedFilename())
  await download.saveAs(file)
  await play.press('close-take-away')
  await play.press('runs-open')
  await find('import-file').setInputFiles(file)
  await find('recording').waitFor()
  await expect.poll(() => find('runs').count()).toBe(0)
  expect(await find('train').isDisabled()).toBe(true)
  await expect.poll(async () => (await shown()).tokens).toEqual(before.tokens)
  const after = await shown()
  expect(after.history.map(({ metrics }) => metrics['reward'])).toEqual(before.history.map(({ metrics }) => metrics['reward']))
  // Back to the run that waits behind it, as it was; and once more, for Reset.
  await play.press('recording-back')
  await find('recording').waitFor({ state: 'detached' })
  await expect.poll(shown).toEqual(before)
  expect(await find('train').isDisabled()).toBe(false)
  await play.press('runs-open')
  await find('import-file').setInputFiles(file)
  await find('recording').waitFor()
  // The bar's sentence stays whole, however wide the page is.
  for (const width of [390, 1280, 1440]) {
    await play.page.setViewportSize({ width, height: 900 })
    await expect.poll(() => play.page.locator('.state-text').evaluate((line) => line.scrollHeight - line.clientHeight), { message: `${width} pixels` }).toBe(0)
  }
  await play.press('reset')
  await find('recording').waitFor({ state: 'detached' })
  expect((await play.until('ready')).history).toEqual([])
})

it('is drawn over the curves of another run, and deleted', async () => {
  await play.press('step')
  await play.until('paused')
  await play.press('runs-open')
  await expect.poll(() => find('run').count()).toBe(2)
  await play.press('compare')
  await play.press('show-curves')
  await expect.poll(() => play.text('compared')).toMatch(/this run.*first.*reward/)
  const lines = find('reward-curve').locator('.recharts-line-curve')
  await expect.poll(() => lines.count()).toBe(2)
  expect(await lines.nth(1).getAttribute('stroke-dasharray')).toBeTruthy()
  await play.press('runs-open')
  const old = find('run').filter({ has: play.page.getByTestId('compare') })
  await old.getByTestId('delete-run').click()
  await play.press('delete-run-sure')
  await expect.poll(() => find('run').count()).toBe(1)
  await expect.poll(() => find('compared').count()).toBe(0)
  // Resume may have given up what was being loaded, so requests that ended early are no complaint.
  expect([play.pageErrors, play.consoleErrors]).toEqual([[], []])
})

/** The recorded run in the built page: it moves before the model is there, Train takes its place, and without it the page works as before. */

import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { openPlayground, type Playground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
let page: Playground | null = null
beforeAll(async () => {
  browser = await launchChromium()
  server = await startSite()
})
afterEach(async () => {
  await page?.close()
  page = null
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

const MODEL = '**/models/**'
const RECORDING = '**/recorded-run/**'

it('draws tokens while the model is still to come, and Train begins a run in its place', async () => {
  let letModel = () => {}
  const modelMay = new Promise<void>((resolve) => (letModel = resolve))
  page = await openPlayground(browser, server.url, '', async (dom) => {
    await dom.route(MODEL, async (route) => {
      await modelMay
      await route.continue()
    })
  })
  const { page: dom } = page
  // The strips of all episodes: in the trajectory below them, blocks of tokens come and go with what is near the window.
  const written = () => dom.getByTestId('panel-group').innerHTML()
  await dom.locator('[data-testid="token"][data-author="model"]').first().waitFor()
  // Measured, not asserted: this machine may be doing other work. That it comes before the model is.
  const seconds = (await dom.evaluate(() => performance.now())) / 1000
  console.info(`The first token of the recorded run was drawn ${seconds.toFixed(2)} s after navigation.`)
  expect((await page.state()).run.state).toBe('loading')
  expect(await page.text('state-line')).toMatch(/^Recorded run · /)
  expect(await page.text('badge')).toContain('recorded run')

  // It moves by itself, and stands when it is held.
  const place = () => dom.getByTestId('replay-scrub').inputValue().then(Number)
  const first = await place()
  await expect.poll(place).toBeGreaterThan(first)
  await page.press('replay-play')
  const held = [await place(), await written()]
  await dom.waitForTimeout(400)
  expect([await place(), await written()]).toEqual(held)

  // By keyboard to another place: the last step, and one step back.
  await dom.getByTestId('replay-scrub').press('End')
  await expect.poll(() => dom.getByTestId('reward-curve').getAttribute('data-points')).toBe('20')
  await dom.getByTestId('replay-scrub').press('PageDown')
  await expect.poll(() => page?.text('replay-bar')).toContain('Step 19 · done')

  // What stays at the foot of the window scrolls nothing when the keyboard comes to it.
  expect(await dom.evaluate(() => scrollY)).toBe(0)

  // The scripting handle, and all that reads it, knows of the live run alone.
  const before = await page.state()
  expect([before.run.state, before.steps, before.history]).toEqual(['loading', [], []])
  letModel()
  await page.until('ready')
  expect(await page.text('state-line')).toContain('press Train')
  expect(await dom.getByTestId('replay-bar').count()).toBe(1)

  // The bar's buttons are the recording's as long as it is shown, by mouse and by key.
  const bar = await dom.getByTestId('reset').boundingBox()
  await page.press('reset')
  await expect.poll(() => page?.text('replay-bar')).toContain('Before the first step')
  await dom.keyboard.press('.')
  await expect.poll(() => page?.text('replay-bar')).toMatch(/Step 1 · sampling 0\/64/)
  await dom.getByTestId('grain').selectOption('episode')
  await page.press('step')
  await expect.poll(() => page?.text('replay-bar')).toMatch(/Step 1 · sampling [1-9]\d*\/64/)
  expect((await page.state()).steps).toEqual([])

  // Train begins a run in its place; there the same buttons are the run's, and stand where they stood.
  await page.trainIntoStep(1)
  expect(await dom.getByTestId('replay-bar').count()).toBe(0)
  const lengths = async () => (await page?.state())?.steps.at(-1)?.episodes.map((e) => e.length) ?? []
  const stood = await lengths()
  await dom.getByTestId('grain').selectOption('token')
  await page.press('step')
  await expect.poll(() => page?.text('state-line')).toMatch(/^Paused at a token · Step 1 · /)
  expect((await lengths()).filter((length, i) => length === (stood[i] ?? 0) + 1).length).toBeGreaterThan(0)
  expect(await dom.getByTestId('reset').boundingBox()).toEqual(bar)
  await dom.keyboard.press('s')
  await expect.poll(() => page?.text('state-line')).toMatch(/^Paused after step 1( ·|$)/)
  const { history, steps } = await page.state()
  expect([history.map(({ step }) => step), steps.map(({ step }) => step)]).toEqual([[1], [1]])
  await expect.poll(() => dom.getByTestId('reward-curve').getAttribute('data-points')).toBe('1')
  page.expectQuiet()
})

it('stands still at the last step where motion is not wanted', async () => {
  page = await openPlayground(browser, server.url, '', undefined, { reducedMotion: 'reduce' })
  const { page: dom } = page
  await expect.poll(() => dom.getByTestId('replay-scrub').inputValue()).toBe('2000')
  await dom.waitForTimeout(400)
  expect(await dom.getByTestId('replay-bar').getAttribute('data-playing')).toBe('false')
  expect(await page.text('replay-bar')).toContain('All 20 steps are done')
  page.expectQuiet()
})

it('is fit for a phone', async () => {
  page = await openPlayground(browser, server.url, '', undefined, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const { page: dom } = page
  await dom.getByTestId('replay-bar').waitFor()
  expect(await dom.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  for (const id of ['replay-play', 'replay-scrub']) {
    const box = await dom.getByTestId(id).boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844 && box.height >= 28).toBe(true)
  }
  const box = await dom.getByTestId('replay-scrub').boundingBox()
  if (!box) throw new Error('There is no handle.')
  await dom.touchscreen.tap(box.x + box.width - 12, box.y + box.height / 2)
  await expect.poll(() => dom.getByTestId('replay-scrub').inputValue().then(Number)).toBeGreaterThan(1800)
})

it('without its file the page works as before', async () => {
  page = await openPlayground(browser, server.url, '', async (dom) => {
    await dom.route(RECORDING, (route) => route.abort())
  })
  await page.until('ready')
  expect(await page.page.getByTestId('replay-bar').count()).toBe(0)
  expect(await page.text('state-line')).toMatch(/^Ready/)
  expect(page.pageErrors).toEqual([])
})

/** What teaches, in the built page: the tour's five answers are found where it points, each lesson link opens in its state, what a link hides is gone. */

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tourFacts } from '../../src/panels/tour/facts'
import { missingFrom, TOUR } from '../../src/panels/tour/tour.data'
import { LESSON_IDS, LESSON_STARTS } from '../../src/store/lessons'
import { readRecordedRun } from '../../src/store/recorded-run'
import { createReplay } from '../../src/store/replay'
import { RECORDED_RUN_PATH } from '../../src/store/replay-start'
import { findStep } from '../../src/store/view'
import { launchChromium } from './chromium'
import { openPlayground, type Playground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
beforeAll(async () => {
  browser = await launchChromium()
  server = await startSite()
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
/** Held here, so that the test reads the same numbers from the file as the page shows. */
const AT = 12

const recording = readRecordedRun(JSON.parse(gunzipSync(readFileSync(`public/${RECORDED_RUN_PATH}`)).toString()))

/** The recorded run at a place, from its file. */
function replayAt(at: number) {
  const replay = createReplay({ now: () => 0, frame: () => {} }, () => 1)
  replay.expect()
  replay.open(recording, true)
  replay.seek(at)
  return replay
}
const [held, ended] = [replayAt(AT), replayAt(recording.steps.length)]

/** What the tour reads there. The episode that a question picks stays selected for the next ones. */
const picked = { episode: 0 }
function factsOf(item: (typeof TOUR)[number]) {
  const replay = item.atEnd ? ended : held
  const { view } = replay.store.getState()
  const step = findStep(view, null)
  picked.episode = (step && item.pick?.(step)) ?? picked.episode
  return tourFacts({ view, tokens: replay.tokens, selection: { step: null, ...picked }, prompt: recording.run.config.system_prompt })
}

async function takeTour({ page: dom }: Playground) {
  picked.episode = 0
  for (const item of TOUR) {
    const facts = factsOf(item)
    await dom.locator(`[data-testid="tour"][data-question="${item.id}"]`).waitFor()
    await expect.poll(() => dom.getByTestId('tour-answer').textContent()).toBe(item.answer(facts))
    const evidence = item.evidence(facts)
    expect(evidence.length, item.id).toBeGreaterThan(0)
    const find = () => dom.getByTestId(item.target).evaluate(missingFrom, evidence)
    await expect.poll(find, { message: item.id }).toEqual([])
    await dom.getByTestId('spotlight').waitFor()
    await dom.keyboard.press(item.id === 'tokens' ? 'Space' : 'ArrowRight')
  }
  await dom.getByTestId('tour').waitFor({ state: 'detached' })
}

it('the tour’s five answers are found in the element that each question names', async () => {
  const page = await openPlayground(browser, server.url, `#v=1&env=lane&at=${AT}`)
  const { page: dom } = page
  await expect.poll(() => dom.getByTestId('replay-scrub').inputValue().then(Number)).toBe(AT * 100)
  // By keyboard from the offer on: it takes the focus, goes on, comes back, is closed and goes on where it was.
  await dom.getByTestId('tour-start').press('Enter')
  // It hears keys once it has taken the focus.
  const focused = () => dom.evaluate(() => document.activeElement?.getAttribute('data-testid'))
  await expect.poll(focused).toBe('tour')
  await dom.keyboard.press('ArrowRight')
  await dom.locator('[data-question="tokens"]').waitFor()
  await dom.keyboard.press('Escape')
  await dom.getByTestId('tour').waitFor({ state: 'detached' })
  await dom.getByTestId('teach').press('Enter')
  await dom.getByTestId('menu-tour').press('Enter')
  await dom.locator('[data-question="tokens"]').waitFor()
  await expect.poll(focused).toBe('tour')
  await dom.keyboard.press('ArrowLeft')
  await takeTour(page)
  // What was in view before is in view again, and it is not offered a second time.
  await expect.poll(() => dom.getByTestId('replay-scrub').inputValue().then(Number)).toBe(AT * 100)
  expect(await dom.getByTestId('tour-offer').count()).toBe(0)
  page.expectQuiet()
  await page.close()
})

it('on a phone too, and nothing is wider than the screen', async () => {
  const page = await openPlayground(browser, server.url, `#v=1&env=lane&at=${AT}`, undefined, PHONE)
  const { page: dom } = page
  await expect.poll(() => dom.getByTestId('replay-scrub').inputValue().then(Number)).toBe(AT * 100)
  await dom.getByTestId('tour-start').tap()
  await dom.getByTestId('tour').waitFor()
  const fits = (id: string) => async () => {
    const box = await dom.getByTestId(id).boundingBox()
    return box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844
  }
  await expect.poll(fits('tour')).toBe(true)
  expect(await dom.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await dom.getByTestId('tour').focus()
  await takeTour(page)
  await dom.evaluate(() => (location.hash = '#v=1&lesson=zero-variance'))
  await dom.getByTestId('lesson-text').waitFor()
  await expect.poll(fits('lesson')).toBe(true)
  page.expectQuiet()
  await page.close()
})

it('each lesson link opens in its state; a prediction is judged by the page’s numbers, and closing brings back what was there', async () => {
  const page = await openPlayground(browser, server.url, '#v=1&env=lane&at=5&episode=9&heat=logprob')
  const { page: dom } = page
  await expect.poll(() => dom.getByTestId('replay-scrub').inputValue()).toBe('500')
  for (const id of LESSON_IDS.filter((each) => LESSON_STARTS[each].environment === 'lane')) {
    const { at = 0, display } = LESSON_STARTS[id]
    await dom.evaluate((hash) => (location.hash = hash), `#v=1&lesson=${id}`)
    await dom.locator(`[data-testid="lesson"][data-lesson="${id}"] [data-testid="question"]`).waitFor()
    await expect.poll(() => dom.getByTestId('replay-scrub').inputValue().then(Number)).toBe(at * 100)
    await expect.poll(() => dom.locator('[data-testid="heat"] input:checked').inputValue()).toBe(display.heat)
    for (const part of display.hide ?? []) await expect.poll(() => dom.getByTestId(`panel-${part}`).count(), { message: part }).toBe(0)
  }
  await dom.evaluate(() => (location.hash = '#v=1&lesson=one-step'))
  await dom.locator('[data-lesson="one-step"] [data-testid="answer-0"]').fill('99')
  await dom.getByTestId('reveal').click()
  await dom.getByTestId('missed').waitFor()
  expect(await dom.getByTestId('explained').locator('p').first().isVisible()).toBe(false)
  await dom.getByTestId('tell').click()
  expect(await dom.getByTestId('revealed').getAttribute('data-verdict')).toBe('off')
  expect(await dom.getByTestId('explained').locator('p').first().isVisible()).toBe(true)
  const mean = /is ([\d.]+);/.exec((await dom.getByTestId('revealed').textContent()) ?? '')?.[1] ?? ''
  await dom.getByTestId('again').click()
  await dom.getByTestId('answer-0').fill(mean)
  await dom.getByTestId('answer-0').press('Enter')
  await expect.poll(() => dom.getByTestId('revealed').getAttribute('data-verdict')).toBe('right')
  await dom.getByTestId('lesson-close').click()
  await expect.poll(() => dom.url()).toMatch(/#v=1&env=lane&seed=42&episode=9&at=5&heat=logprob$/)
  await expect.poll(() => dom.getByTestId('panel-chat').count()).toBe(1)
  page.expectQuiet()
  await page.close()
})

it('what a link hides is not there, for the keyboard neither, and can be shown again; what it cannot name is told', async () => {
  const page = await openPlayground(browser, server.url, '#v=1&env=lane&hide=task,chat,learning_rate,elephant&lesson=algebra')
  const { page: dom } = page
  await dom.getByTestId('hidden-note').waitFor()
  const alerts = async () => (await dom.locator('[role="alert"]').allTextContents()).join(' ')
  await expect.poll(alerts).toContain('"elephant"')
  await expect.poll(alerts).toContain('lesson must be one-step')
  for (const id of ['panel-task', 'panel-chat', 'setting-seed', 'chat-open']) expect(await dom.getByTestId(id).count(), id).toBe(0)
  await dom.getByTestId('choose-hidden').click()
  await dom.getByTestId('show-task').check()
  await dom.getByTestId('show-seed').uncheck()
  await dom.getByTestId('close-hide-dialog').click()
  await dom.getByTestId('panel-task').waitFor()
  await expect.poll(async () => [await dom.getByTestId('setting-seed').count(), await dom.getByTestId('setting-temperature').count()]).toEqual([0, 1])
  await expect.poll(() => dom.url()).toMatch(/hide=seed%2C(learning_rate%2C)?chat$/)
  await dom.getByTestId('show-all').click()
  await dom.getByTestId('panel-chat').waitFor()
  await expect.poll(() => dom.url()).not.toContain('hide')
  page.expectQuiet()
  await page.close()
})

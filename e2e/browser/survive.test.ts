/** The tab dies at a random moment of a run: what is resumed equals the run that nobody disturbed. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { startSite, type RunningServer } from './server'
import { killedOnce, undisturbed } from './survive'

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

it('a killed tab costs at most the step that was being trained, bit for bit', async () => {
  const { seconds, ...whole } = await undisturbed(browser, server.url)
  const { at, after, ...resumed } = await killedOnce(browser, server.url, seconds, 1)
  expect(resumed, `killed after ${after.toFixed(2)} s, resumed at step ${at}`).toEqual(whole)
  expect(at).toBeGreaterThan(0)
})

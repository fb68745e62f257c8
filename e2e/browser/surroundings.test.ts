/** What surrounds the page and takes things from it: a system's high contrast, paper, an address without https. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { onSite } from './on-site'

const site = onSite()

/** The colours of a group's strips, as they are drawn. */
const stripColours = (page: Page) => page.locator('.runs .run-model').evaluateAll((strips) => [...new Set(strips.map((strip) => getComputedStyle(strip).backgroundColor))])

/** The recorded run at its end: groups whose episodes are above and below their mean. */
const openRecorded = async (prepare: (page: Page) => Promise<void>): Promise<Playground> => {
  const play = await openPlayground(site.browser, site.server.url, linkOf({ env: 'lane', at: 20, backend: 'wasm' }), prepare)
  await play.page.locator('.runs .run-model').first().waitFor()
  return play
}

it('in a high contrast of the system, strips keep the colours of their advantages, and what is chosen is seen', async () => {
  const play = await openRecorded((page) => page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' }))
  try {
    await expect.poll(async () => (await stripColours(play.page)).length).toBeGreaterThan(1)
    const grounds = await play.page.evaluate(() => [...document.querySelectorAll('.segmented:has(.chosen)')].map((choice) => [...choice.querySelectorAll('label')].map((label) => `${label.className} ${getComputedStyle(label).backgroundColor}`)))
    expect(grounds.length).toBeGreaterThan(0)
    for (const choice of grounds) {
      const [chosen] = choice.flatMap((label) => (label.startsWith('chosen') ? [label.slice('chosen '.length)] : []))
      expect(choice.filter((label) => label.endsWith(chosen ?? ''))).toHaveLength(1)
    }
  } finally {
    await play.close()
  }
})

it('on paper a dark page is dark ink on white, and strips keep their colours', async () => {
  const play = await openRecorded(async (page) => void (await page.addInitScript(() => localStorage.setItem('grpo-playground-theme', 'dark'))))
  try {
    const { page } = play
    const ink = () => page.evaluate(() => Math.max(...(getComputedStyle(document.body).color.match(/\d+/g) ?? []).slice(0, 3).map(Number)))
    expect(await ink()).toBeGreaterThan(200)
    await page.emulateMedia({ media: 'print' })
    await expect.poll(ink).toBeLessThan(60)
    expect(await page.locator('.runs .run-model').first().evaluate((strip) => getComputedStyle(strip).getPropertyValue('print-color-adjust'))).toBe('exact')
  } finally {
    await play.close()
  }
})

describe('over plain http from another machine', () => {
  /** An address of no machine: the browser is told that it is this one. */
  const AWAY = '192.0.2.77'
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium({ args: [`--host-resolver-rules=MAP ${AWAY} localhost`] })
  })
  afterAll(() => browser.close())

  it('the page loads, trains and keeps its run, and says what it lacks', async () => {
    const url = site.server.url.replace('localhost', AWAY)
    const play = await openPlayground(browser, url, linkOf({ env: 'lane', num_generations: 2, prompts_per_step: 1, max_steps: 1, backend: 'wasm' }))
    try {
      expect(await play.page.evaluate(() => isSecureContext)).toBe(false)
      await play.until('ready')
      await play.press('train')
      await play.until('finished')
      expect(await play.page.getByTestId('untrusted').isVisible()).toBe(true)
      await play.press('runs-open')
      await play.page.getByTestId('delete-run').waitFor()
      expect(play.pageErrors).toEqual([])
    } finally {
      await play.close()
    }
  })
})

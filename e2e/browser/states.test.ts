/** The page in its main states, on a desk and a phone: nothing overlaps, is cut, scrolls sideways or is blank; each leaves a picture in .cache/screens. README's picture too. */

import { access, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { encodePng } from '../../src/env/openenv/png'
import { deflatePng } from '../tools/deflate-png'
import { keepPicture, lastingFaults } from './look'
import { onSite } from './on-site'
import { linkOf, openPlayground } from './playground'
import { projectRoot } from './server'

const site = onSite()

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
/** All four pictures of a state are for people's eyes: GRPO_SCREENS=all. */
const THEMES = process.env.GRPO_SCREENS === 'all' ? { desk: ['light', 'dark'], phone: ['light', 'dark'] } : { desk: ['light'], phone: ['dark'] }

async function look(dom: Page, state: string): Promise<string[]> {
  const found: string[] = []
  for (const name of ['desk', 'phone'] as const) {
    await dom.setViewportSize(SIZES[name])
    await dom.evaluate(() => {
      scrollTo(0, 0)
      document.querySelector('.panel-group')?.scrollIntoView({ block: 'nearest', inline: 'start', behavior: 'instant' })
    })
    // One frame for the layout, one for what React draws after it.
    await dom.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    found.push(...(await lastingFaults(dom)).map((fault) => `${state}, ${name}: ${fault}`))
    for (const theme of THEMES[name]) {
      await dom.evaluate((theme) => (document.documentElement.dataset['theme'] = theme), theme)
      await keepPicture(dom, `${state}-${name}-${theme}`)
    }
  }
  await dom.setViewportSize(SIZES.desk)
  return found
}

it('the recorded run, a group without a signal, a lesson, hidden parts', async () => {
  const page = await openPlayground(site.browser, site.server.url, linkOf({ env: 'lane', at: 12 }), undefined, { viewport: SIZES.desk, reducedMotion: 'reduce' })
  const { page: dom } = page
  const found: string[] = []
  const go = (settings: Parameters<typeof linkOf>[0]) => dom.evaluate((hash) => (location.hash = hash), linkOf(settings))
  await expect.poll(() => page.text('replay-bar')).toContain('Step 12 · done')
  found.push(...(await look(dom, 'replay')))

  const silent = dom.locator('.group-choice.silent').first()
  await silent.click()
  await dom.getByTestId('no-signal').waitFor()
  found.push(...(await look(dom, 'no-signal')))

  await go({ lesson: 'zero-variance' })
  await dom.getByTestId('lesson-text').waitFor()
  found.push(...(await look(dom, 'lesson')))
  await page.press('lesson-close')

  await go({ env: 'lane', at: 12, hide: 'task,update,chat,play,compare,timeline,controls' })
  await dom.getByTestId('hidden-note').waitFor()
  await expect.poll(() => dom.getByTestId('panel-update').count()).toBe(0)
  found.push(...(await look(dom, 'hidden')))

  expect(found).toEqual([])
  page.expectQuiet()
  await page.close()
})

it('ready, sampling, paused at a token, paused after a step, finished, and a recording from a file', async () => {
  const settings = { env: 'lane', seed: 7, prompts_per_step: 2, max_steps: 2, backend: 'wasm', speed: 0.1 }
  const page = await openPlayground(site.browser, site.server.url, linkOf(settings), undefined, { viewport: SIZES.desk, reducedMotion: 'reduce', acceptDownloads: true })
  const { page: dom } = page
  const found: string[] = []
  await page.until('ready')
  // Slowed down, so that there is something to look at for as long as the pictures take.
  await page.pace(0.5)
  await page.press('train')
  await expect.poll(() => page.text('state-line')).toMatch(/sampling [\d/]+/)
  found.push(...(await look(dom, 'sampling')))

  await page.press('pause')
  await page.until('paused')
  await dom.keyboard.press('.')
  await expect.poll(() => page.text('state-line')).toMatch(/^Paused at a token/)
  await dom.locator('.segments [data-author="model"]').first().click()
  found.push(...(await look(dom, 'paused-token')))

  await dom.getByTestId('speed').selectOption('1')
  await dom.keyboard.press('s')
  await expect.poll(() => page.text('state-line')).toMatch(/^Paused after step 1/)
  found.push(...(await look(dom, 'paused-step')))
  await page.press('train')
  await page.until('finished')
  found.push(...(await look(dom, 'finished')))

  // A sentence that has no room on a phone can be read there all the same.
  await dom.getByTestId('setting-learning_rate').fill('0.002')
  await dom.keyboard.press('Tab')
  await dom.getByTestId('state-changed').waitFor()
  expect(await dom.locator('.state-text').evaluate((words) => words.scrollHeight <= words.clientHeight + 1)).toBe(true)
  await dom.setViewportSize(SIZES.phone)
  await page.press('state-all')
  const all = dom.getByTestId('state-all-text')
  await expect.poll(() => all.isVisible()).toBe(true)
  expect(await all.textContent()).toBe('Settings changed: press Reset · Finished · max_steps reached at step 2')
  await dom.keyboard.press('Escape')
  found.push(...(await look(dom, 'changed')))

  await page.press('take-away-open')
  const coming = dom.waitForEvent('download')
  await page.press('export-trajectories-parquet')
  const file = await (await coming).path()
  found.push(...(await look(dom, 'take-away')))
  await page.press('close-take-away')
  await page.press('reset')
  await page.until('ready')
  found.push(...(await look(dom, 'ready')))

  await page.press('runs-open')
  await dom.getByTestId('import-file').setInputFiles({ name: 'run.parquet', mimeType: 'application/octet-stream', buffer: await readFile(file) })
  await dom.getByTestId('recording').waitFor()
  found.push(...(await look(dom, 'recording')))

  await dom.setViewportSize(SIZES.phone)
  await page.press('open-setup')
  await keepPicture(dom, 'sheet-phone')
  found.push(...(await lastingFaults(dom)))
  expect(found).toEqual([])
  page.expectQuiet()
  await page.close()
})

/** The browser's own PNG with its lines as they are, which text on flat ground is smaller with. */
async function smaller(dom: Page, png: Buffer): Promise<Buffer> {
  const { rgb, width, height } = await dom.evaluate(async (base64) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]))
    const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
    pen?.drawImage(bitmap, 0, 0)
    const { data = new Uint8ClampedArray() } = pen?.getImageData(0, 0, bitmap.width, bitmap.height) ?? {}
    return { rgb: [...data.filter((_, i) => i % 4 !== 3)].map((value) => String.fromCharCode(value)).join(''), width: bitmap.width, height: bitmap.height }
  }, png.toString('base64'))
  return deflatePng(encodePng(Buffer.from(rgb, 'latin1'), width, height))
}

/** GRPO_README_PICTURE=1 takes it anew. */
const PICTURE = join(projectRoot, 'public/readme.png')

it('README’s picture: the page at its first visit, at the recorded run’s end, with a selected token whose advantage stands in the formula', async () => {
  const page = await openPlayground(site.browser, site.server.url, linkOf({ env: 'lane', at: 20, heat: 'advantage' }), undefined, { viewport: SIZES.desk, reducedMotion: 'reduce', colorScheme: 'light' })
  const { page: dom } = page
  await expect.poll(() => page.text('replay-bar')).toContain('All 20 steps are done')
  // An episode that did better than its group, in a group where some did not, and of these one that took more turns.
  const better = dom.locator('[data-testid="panel-group"] [data-outcome="success"]')
  const groups = await dom.locator('.group-choice').count()
  let best = { group: 0, episode: -1, turns: 0 }
  for (let group = 0; group < groups; group++) {
    await dom.locator('.group-choice').nth(group).click()
    if ((await dom.getByTestId('no-signal').count()) > 0) continue
    for (const row of await better.all()) {
      const turns = await row.locator('.strip > *').count()
      if (turns > best.turns) best = { group, episode: Number(await row.getAttribute('data-episode')), turns }
    }
  }
  expect(best.episode).toBeGreaterThanOrEqual(0)
  await dom.locator('.group-choice').nth(best.group).click()
  await dom.getByTestId(`episode-${best.episode}`).getByRole('button').click()
  await dom.getByTestId('token').filter({ hasText: /^(left|right|emergency)/ }).last().click()
  await expect.poll(() => dom.getByTestId('formula-numbers').getAttribute('data-kind')).not.toBe('means')
  expect(await page.text(`reward-${best.episode}`)).toContain('▲')
  await dom.mouse.move(0, 0)
  expect(await lastingFaults(dom)).toEqual([])

  const missing = await access(PICTURE).then(() => false, () => true)
  if (missing || process.env.GRPO_README_PICTURE === '1') {
    await page.press('tour-offer-never')
    // As high as the page down to its curves, so that nothing stands in front of it.
    const end = await dom.getByTestId('panel-curves').evaluate((panel) => panel.getBoundingClientRect().bottom + scrollY)
    const line = (await dom.getByTestId('replay-bar').boundingBox())?.height ?? 0
    await dom.setViewportSize({ width: SIZES.desk.width, height: Math.ceil(end + line) })
    await dom.evaluate(() => scrollTo(0, 0))
    await dom.waitForTimeout(500)
    await writeFile(PICTURE, await smaller(dom, await dom.screenshot()))
  }
  expect((await stat(PICTURE)).size).toBeLessThan(400_000)
  page.expectQuiet()
  await page.close()
})

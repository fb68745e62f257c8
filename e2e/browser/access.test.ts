/** For everybody: axe finds nothing serious in any part of the built page, and all of the way from a step to the adapter is gone by keyboard alone. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { addAxe, focus, violations } from './look'
import { onSite } from './on-site'
import { linkOf, openPlayground } from './playground'

const site = onSite()

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
const EVERYTHING = { env: 'lane', at: 12, episode: 2, open: 'chat,play,compare' }

/** Parts that open: what is pressed, what comes, and what closes it. */
const OPENING = [
  { press: 'runs-open', part: 'dialog[open]' },
  { press: 'take-away-open', part: 'dialog[open]' },
  { press: 'teach', part: '[role=menu]' },
  { press: 'curves-save', part: '[role=menu]' },
  { press: 'open-setup', part: 'dialog[open]', only: PHONE },
  { press: 'open-known', part: 'dialog[open]', only: DESK },
] as const

/** On a desk in both themes, which differ in their colours alone; on a phone in the dark one. */
async function look(dom: Page, what: string, part?: string) {
  const setTheme = (theme: 'light' | 'dark') => dom.evaluate((theme) => (document.documentElement.dataset['theme'] = theme), theme)
  const desk = dom.viewportSize()?.width === DESK.width
  await dom.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)))
  await setTheme(desk ? 'light' : 'dark')
  const found = await violations(dom, part)
  if (desk) {
    await setTheme('dark')
    found.push(...(await violations(dom, part, ['color-contrast'])).map((each) => `dark: ${each}`))
  }
  return found.map((each) => `${desk ? 'desk' : 'phone'}, ${what}: ${each}`)
}

it('axe finds nothing serious on any panel, dialog, sheet, menu, lesson, tour or article, in light and dark, on a desk and a phone', async () => {
  const page = await openPlayground(site.browser, site.server.url, linkOf(EVERYTHING), undefined, { viewport: DESK, reducedMotion: 'reduce' })
  const { page: dom } = page
  await dom.getByTestId('chat-text').waitFor()
  await dom.getByTestId('compare-verdict').waitFor()
  await addAxe(dom)
  const found: string[] = []
  const add = async (what: string, part?: string) => found.push(...(await look(dom, what, part)))
  for (const size of [DESK, PHONE]) {
    await dom.setViewportSize(size)
    await dom.getByTestId('article-place').scrollIntoViewIfNeeded()
    await dom.getByTestId('article').waitFor()
    await page.press('edit-tool-observe')
    await page.press('curves-choose')
    await dom.getByTestId('curve-choice').waitFor()
    await dom.getByTestId('token').first().hover()
    // As high as the page: what a line that stays in view happens to lie above is no smaller for it.
    await dom.setViewportSize({ width: size.width, height: await dom.evaluate(() => document.documentElement.scrollHeight) })
    await add('the page')
    await dom.setViewportSize(size)
    await page.press('curves-choose')
    await page.press('edit-tool-observe')

    for (const { press, part, ...rest } of OPENING) {
      if ('only' in rest && rest.only !== size) continue
      await page.press(press)
      await dom.locator(part).last().waitFor()
      await add(press, part)
      await dom.keyboard.press('Escape')
      await dom.locator(part).first().waitFor({ state: 'detached' })
    }
    await dom.keyboard.press('?')
    await dom.getByTestId('keys').waitFor()
    await add('keys', 'dialog[open]')
    await dom.keyboard.press('Escape')
    await page.press('teach')
    await page.press('menu-hide')
    await dom.getByTestId('hide-dialog').waitFor()
    await add('what is hidden', 'dialog[open]')
    await dom.keyboard.press('Escape')
    await page.press('teach')
    await page.press('menu-tour')
    await dom.getByTestId('tour-answer').waitFor()
    await add('tour', '[data-testid=tour]')
    await page.press('tour-close')
  }
  // On a phone, in the sheet: the narrowest that there is.
  await dom.evaluate(() => (location.hash = '#v=1&lesson=one-step'))
  await dom.getByTestId('question').waitFor()
  await dom.getByTestId('answer-0').fill('0.5')
  await page.press('reveal')
  await add('lesson', '[data-testid=lesson]')
  await dom.setViewportSize(DESK)
  await add('lesson', '[data-testid=lesson]')
  await page.press('lesson-close')
  for (const heat of ['logprob', 'advantage', 'kl']) {
    await dom.locator(`[data-testid="heat"] input[value="${heat}"]`).check({ force: true })
    await add(heat, '[data-testid=panel-trajectory]')
  }
  expect(found).toEqual([])
  expect(page.pageErrors).toEqual([])
  await page.close()
})

/** Tab by Tab to an element; at every stop the focus is seen. Once round the page is the end of it. */
async function tabTo(dom: Page, testId: string, wrong: Set<string>) {
  for (let stops = 0; stops < 260; stops++) {
    await dom.keyboard.press('Tab')
    let now = await focus(dom)
    // A panel that comes at this moment moves what lies below it: what counts is where the focus is once it stands.
    for (let k = 0; k < 50 && now.wrong !== '' && now.id !== 'body'; k++) {
      await dom.waitForTimeout(100)
      now = await focus(dom)
    }
    // Between the last stop and the first one is the browser's own bar.
    if (now.wrong !== '' && now.id !== 'body') wrong.add(now.wrong)
    if (now.id === testId) return
  }
  throw new Error(`No number of Tabs leads to ${testId}. Seen: ${[...wrong].join('; ')}`)
}

for (const viewport of [DESK, PHONE]) {
  it(`by keyboard alone from Train to the adapter's file, ${viewport.width} px wide`, async () => {
    const page = await openPlayground(site.browser, site.server.url, linkOf({ env: 'lane', seed: 7, prompts_per_step: 2, max_steps: 2000, backend: 'wasm' }), undefined, {
      viewport,
      reducedMotion: 'reduce',
      acceptDownloads: true,
    })
    const { page: dom } = page
    const wrong = new Set<string>()
    const { keyboard } = dom
    await page.until('ready')
    await tabTo(dom, 'train', wrong)
    await keyboard.press('Enter')
    await expect.poll(() => dom.getByTestId('pause').isEnabled()).toBe(true)
    await tabTo(dom, 'pause', wrong)
    await keyboard.press('Enter')
    await page.until('paused')
    await tabTo(dom, 'step', wrong)
    // The pause may have come at a step's end, which already says what is waited for.
    const { history } = await page.state()
    await keyboard.press('Enter')
    await expect.poll(async () => (await page.state()).history.length).toBe(history.length + 1)
    await page.until('paused')
    expect(await page.text('state-line')).toMatch(/^Paused after step \d/)

    await tabTo(dom, 'take-away-open', wrong)
    await keyboard.press('Enter')
    await dom.getByTestId('take-away').waitFor()
    await tabTo(dom, 'export-adapter', wrong)
    const coming = dom.waitForEvent('download')
    await keyboard.press('Enter')
    expect((await coming).suggestedFilename()).toMatch(/\.zip$/)
    await keyboard.press('Escape')
    await dom.getByTestId('take-away').waitFor({ state: 'detached' })
    const focused = () => focus(dom)
    await expect.poll(focused).toEqual({ id: 'take-away-open', wrong: '' })
    await keyboard.press('?')
    await dom.getByTestId('keys').waitFor()
    await keyboard.press('Escape')
    await dom.getByTestId('keys').waitFor({ state: 'detached' })
    await expect.poll(async () => (await focused()).id).toBe('take-away-open')
    await tabTo(dom, 'episode-0', wrong)
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    await expect.poll(focused).toEqual({ id: 'episode-2', wrong: '' })
    await keyboard.press('Enter')
    await expect.poll(() => dom.url()).toContain('episode=2')
    await tabTo(dom, 'token', wrong)
    await keyboard.press('ArrowRight')
    await expect.poll(async () => (await focused()).wrong).toBe('')
    await keyboard.press('Enter')
    await expect.poll(() => dom.getByTestId('formula-numbers').getAttribute('data-kind')).not.toBe('means')
    await tabTo(dom, 'curves-choose', wrong)
    await keyboard.press('Enter')
    await dom.getByTestId('curve-choice').waitFor()
    await keyboard.press('Escape')
    await dom.getByTestId('curve-choice').waitFor({ state: 'hidden' })
    await expect.poll(focused).toEqual({ id: 'curves-choose', wrong: '' })
    // On to where the way began, past the article and the recording's place.
    if (viewport === DESK) await tabTo(dom, 'train', wrong)
    expect([...wrong]).toEqual([])
    page.expectQuiet()
    await page.close()
  })
}

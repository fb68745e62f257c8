/** A plan composed in the page by a person, then made by one press of Train on the real engine: SFT, DPO, a GRPO step. */

import { expect, it } from 'vitest'
import { addAxe, focus, lastingFaults, violations } from './look'
import { onSite } from './on-site'
import { linkOf, openPlayground } from './playground'

const site = onSite()

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
const PLAN = [
  { kind: 'sft', rows: { from: 'random', games: 3 }, settings: { max_steps: 2 } },
  { kind: 'dpo', rows: { from: 'pairs', groups: 4 }, settings: { max_steps: 2 } },
]

it('a plan is composed, moved, cut and mended, stands in the link, and is made in one press', async () => {
  const link = linkOf({ env: 'lane', seed: 7, num_generations: 8, prompts_per_step: 1, max_steps: 1, eval_episodes: 2, backend: 'wasm', open: 'stage' })
  const page = await openPlayground(site.browser, site.server.url, link, undefined, { viewport: DESK, reducedMotion: 'reduce' })
  const { page: dom } = page
  const fill = (id: string, text: string) => dom.getByTestId(id).fill(text)
  const kinds = () => dom.locator('.plan-part').evaluateAll((parts) => parts.map((part) => part.getAttribute('data-testid')))
  await page.until('ready')

  await dom.getByTestId('stage-plan-sft').press('Enter')
  await dom.getByTestId('plan-editor-0').waitFor()
  await expect.poll(() => focus(dom)).toEqual({ id: 'plan-edit-0', wrong: '' })
  await fill('plan-stage-games', '3')
  await fill('plan-stage-max_steps', '2')
  await page.press('plan-add-dpo')
  await fill('plan-stage-groups', '4')
  await fill('plan-stage-max_steps', '0')
  expect(await dom.getByTestId('train').isDisabled()).toBe(true)
  expect(await page.text('state-line')).toBe('Train waits: correct stage 2 (DPO) under Plan')
  expect(await page.text('plan-editor-1')).toContain('max_steps must be a whole number from 1, or −1 for as many as the epochs make. Correct it: training waits for that.')
  await addAxe(dom)
  for (const viewport of [PHONE, DESK]) {
    await dom.setViewportSize(viewport)
    // As high as the page, so that nothing lies behind what stays in view; it may grow by what is drawn for the new width.
    await expect.poll(async () => {
      const height = await dom.evaluate(() => new Promise<number>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(document.documentElement.scrollHeight)))))
      const { height: before } = dom.viewportSize() ?? viewport
      await dom.setViewportSize({ ...viewport, height })
      return height - before
    }).toBe(0)
    await dom.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'))
    expect(await violations(dom, '[data-testid=panel-plan]', viewport === DESK ? ['color-contrast'] : undefined)).toEqual([])
    expect(await lastingFaults(dom)).toEqual([])
  }
  await dom.evaluate(() => (document.documentElement.dataset['theme'] = 'light'))
  expect(await violations(dom, '[data-testid=panel-plan]')).toEqual([])
  await dom.setViewportSize(DESK)
  await fill('plan-stage-max_steps', '2')

  // By keyboard: the focus stays at what was done.
  await dom.getByTestId('plan-earlier-1').press('Enter')
  await expect.poll(kinds).toEqual(['plan-dpo', 'plan-sft', 'plan-grpo'])
  await expect.poll(() => focus(dom)).toEqual({ id: 'plan-later-0', wrong: '' })
  await dom.getByTestId('plan-remove-1').press('Enter')
  await expect.poll(() => focus(dom)).toEqual({ id: 'plan-put-back', wrong: '' })
  expect(await kinds()).toEqual(['plan-dpo', 'plan-grpo'])
  await dom.keyboard.press('Enter')
  await expect.poll(() => focus(dom)).toEqual({ id: 'plan-edit-1', wrong: '' })
  await dom.getByTestId('plan-later-0').press('Enter')
  await expect.poll(kinds).toEqual(['plan-sft', 'plan-dpo', 'plan-grpo'])
  const linked = () => JSON.parse(new URLSearchParams(new URL(dom.url()).hash.slice(1)).get('stages') ?? '[]') as unknown
  await expect.poll(linked).toMatchObject(PLAN)

  await page.press('train')
  const { stages, history, config } = await page.until('finished')
  expect(config?.stages).toMatchObject(PLAN)
  expect(stages).toMatchObject(PLAN.map(({ kind }, planned) => ({ kind, planned, steps: 2, afterStep: 0, after: { episodes: 2 } })))
  expect(stages.map(({ skipped }) => skipped)).toEqual([undefined, undefined])
  expect(history).toHaveLength(1)
  expect(await Promise.all(['plan-sft', 'plan-dpo', 'plan-grpo'].map(page.text))).toEqual(Array(3).fill(expect.stringContaining('Done')))
  expect(await dom.getByTestId('plan-edit-0').count()).toBe(0)

  // And again, once it is to be made anew.
  await page.press('reset')
  await page.until('ready')
  await page.press('plan-edit-0')
  expect(await dom.getByTestId('plan-stage-games').inputValue()).toBe('3')
  page.expectQuiet()
  await page.close()
})

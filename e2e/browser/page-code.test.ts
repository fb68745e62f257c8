/** Code and rows of a person's own in a real Chromium: nothing runs before Allow, a class trains in a sandbox that has no network, a rollout_func generates. */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from './chromium'
import { linkOf, openPlayground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchChromium(), startSite()])
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

// Its tools are those that the shipped model calls.
const CLASS = `class Probe {
  async reset() {
    const network = await fetch(${'`${location.origin}/`'}).then(() => 'open', () => 'closed')
    return [self.origin, network, typeof document].join(' ')
  }
  /** Look again. */
  observe() {
    this.done = true
    return 'Seen.'
  }
  /** Stop. */
  emergency_stop() {
    return this.observe()
  }
  get_reward() {
    return 0.25
  }
}`
const ROLLOUT = `async function rollout_func(prompts, trainer) {
  const out = await trainer.generate(prompts)
  for (const row of prompts.keys()) {
    const session = await trainer.environment.open(row)
    await session.reset()
    const { tool_calls } = await trainer.parse_tool_calls(out.text[row])
    if (tool_calls[0]) await session.step(tool_calls[0].name, tool_calls[0].arguments)
  }
  return out
}`
/** The 10 s that a call may take pass in one. */
const hurry = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    const wait = window.setTimeout.bind(window)
    if (window !== window.top) window.setTimeout = ((act: () => void, ms?: number) => wait(act, (ms ?? 0) / 10)) as typeof window.setTimeout
  })
}
const small = { seed: 7, prompts_per_step: 1, num_generations: 2, max_steps: 2, max_completion_length: 64, backend: 'wasm' }

it('a class and a rollout_func of a link run once they were allowed, without network', async () => {
  const spec = JSON.stringify({ kind: 'custom', called: 'Probe', code: CLASS })
  const playground = await openPlayground(browser, server.url, linkOf({ ...small, env: 'custom', env_spec: spec, rollout_func: JSON.stringify({ called: 'rollout_func', code: ROLLOUT }) }), hurry)
  const { page, press, until, state } = playground
  // Until it is taken over, the page still shows the run before.
  const ready = () => expect.poll(async () => (await state()).run.state, { timeout: 30_000 }).toBe('ready')
  await page.getByTestId('allow-linked').first().waitFor()
  expect([page.frames().length, (await state()).environment]).toEqual([1, null])
  expect(await page.locator('.linked-code').allTextContents()).toEqual([CLASS, ROLLOUT])
  await press('allow-linked')
  await ready()
  await press('train')
  const { steps, config } = await until('finished')
  expect(steps.map(({ episodes }) => episodes.map(({ reward, turn }) => [reward, turn]))).toEqual([[[0.25, 0], [0.25, 0]], [[0.25, 0], [0.25, 0]]])
  expect(config?.rollout_func?.called).toBe('rollout_func')

  await page.locator('summary', { hasText: /^Sampling$/ }).first().click()
  await press('remove-rollout')
  await press('reset')
  await ready()
  await press('train')
  const { history, steps: own } = await until('finished')
  expect(history.map(({ episodes, unscorable }) => [episodes, unscorable])).toEqual([[2, 0], [2, 0]])
  expect(own.at(-1)?.episodes.map(({ reward }) => reward)).toEqual([0.25, 0.25])

  // By hand: an episode that is ended before its own end is judged, too.
  await press('play-open')
  await press('play-reset')
  await expect.poll(() => page.getByTestId('observation').textContent()).toContain('null closed undefined')
  await press('play-end')
  await expect.poll(() => page.getByTestId('play-episode').textContent()).toContain('0.25')
  await press('play-reset')
  await page.locator('[data-testid="play-tool-observe"] button').last().click()
  await expect.poll(() => page.getByTestId('play-done').textContent()).toBe('yes')

  // What reset found: an opaque origin, no network, no document.
  await press('write-class')
  await press('try-class')
  await expect.poll(() => page.getByTestId('try-entries').textContent()).toContain('null closed undefined')

  // A loop without an end ends with its worker, by its name and line; the page lives on.
  await page.locator('[data-testid="class-code"] .cm-content').fill(CLASS.replace('return 0.25', 'for (;;) {}'))
  await press('use-class')
  await press('connect-anyway')
  await ready()
  await press('train')
  await expect.poll(async () => JSON.stringify(await state()), { timeout: 40_000 }).toContain('Probe.get_reward (line 15) took longer than 10 s and was ended.')
  await page.getByTestId('state-line').waitFor()
  await playground.close()
})

it('rows that are pasted train the model that can answer them, with the settings as they were, and show their judges’ curves', async () => {
  const rows = [[17, 2], [23, 4], [41, 3]].map(([a = 0, b = 0]) => JSON.stringify({ prompt: `${a} + ${b} =`, solution: String(a + b) }))
  const playground = await openPlayground(browser, server.url, linkOf({ ...small, env: 'lane', num_generations: 4, max_steps: 1, max_completion_length: 16, curves: 'reward,rewards/accuracy_reward/mean' }))
  const { page, press, until, state, text } = playground
  await page.getByTestId('preset-select').selectOption('prompts')
  expect(await text('still')).toContain('Still lane')
  await page.locator('[data-testid="prompts-origin"] label', { hasText: 'Your own' }).click()
  await page.getByTestId('prompts-text').fill(rows.join('\n'))
  await press('prompts-show')
  await press('take-numbers')
  await press('prompts-use')
  await press('take-box')
  await expect.poll(async () => (await state()).environment?.spec.kind, { timeout: 20_000 }).toBe('prompts')
  await press('train')
  const { steps, config } = await until('finished')
  expect(config).toMatchObject({ model: 'models/tiny-qwen3-numbers', system_prompt: 'Answer in a box.', grpo: { num_generations: 4, max_completion_length: 16 } })
  expect(steps[0]?.episodes.map(({ parts }) => Object.keys(parts ?? {}))).toEqual(Array(4).fill(['accuracy_reward']))
  const curve = page.locator('[data-curve-figure="rewards/accuracy_reward/mean"]')
  await expect.poll(() => curve.getAttribute('data-points')).toBe('1')
  playground.expectQuiet()
  await playground.close()
})

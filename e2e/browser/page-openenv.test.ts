/** The whole page in a real Chromium against a real Python OpenEnv server: pasted, trained on, killed, and back again. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type RunningServer as EnvironmentServer } from '../openenv/server'
import { launchChromium } from './chromium'
import { linkOf, openPlayground } from './playground'
import { startSite, type RunningServer } from './server'

let browser: Browser
let server: RunningServer
let echo: EnvironmentServer
beforeAll(async () => {
  ;[browser, server, echo] = await Promise.all([launchChromium(), startSite(), startServer('echo')])
})
afterAll(async () => {
  await browser.close()
  await server.close()
  await echo.kill()
})

it('trains on a pasted server with eight episodes at once; a killed one makes episodes unscorable and the run waits for it', async () => {
  const playground = await openPlayground(browser, server.url, linkOf({ env: 'lane', seed: 7, backend: 'wasm' }))
  const { page, press, until, after, state, text } = playground
  await until('ready')
  await page.getByTestId('preset-select').selectOption('own')
  await page.getByTestId('url-input').fill(` ${echo.url} `)
  await after(() => press('connect'), 'ready')
  expect(await text('tools')).toContain('echo_message(message)')
  // The prompts that suit this server fill the empty controls.
  expect(await page.getByTestId('system-prompt').inputValue()).toBe('Echo the message.')
  for (const [name, value] of [['num_generations', 8], ['prompts_per_step', 1], ['max_steps', 6]] as const) {
    await page.getByTestId(`setting-${name}`).fill(String(value))
  }
  await expect.poll(() => page.getByTestId('settings-changed').count()).toBe(1)
  for (const steps of [1, 2]) {
    await press('step')
    await expect.poll(async () => (await state()).history.length).toBe(steps)
    await until('paused')
  }
  const { history, steps, environment, config } = await until('paused')
  expect(config?.environment).toEqual({ kind: 'openenv', url: echo.url })
  expect(config?.system_prompt).toBe('Echo the message.')
  expect(environment?.tools.map((tool) => tool.function.name)).toEqual(['echo_message'])
  expect(history.map((h) => [h.step, h.episodes, h.metrics['exit/env_error']])).toEqual([[1, 8, 0], [2, 8, 0]])
  for (const { episodes } of steps) {
    expect(new Set(episodes.map((e) => e.seed)).size).toBe(1)
    expect(episodes.some((e) => e.exit === 'env_done' && e.reward !== null)).toBe(true)
  }
  // The HTTP routes are not even asked: the socket told everything.
  expect([playground.failedRequests, playground.pageErrors, playground.consoleErrors]).toEqual([[], [], []])

  // Killed in mid-episode, while the page rests: some episode is half written, none has ended.
  await playground.trainIntoStep(3)
  await echo.kill()
  await press('train')
  await page.locator('[data-outcome="unscorable"]').first().waitFor()
  const notice = page.locator('#notices')
  await expect.poll(() => notice.textContent()).toMatch(/of 8 episodes of step 3 could not be scored .* tried again in 1 s/)
  // As long as it is gone each attempt ends so; between them the step begins anew.
  let down = await state()
  const lost = () => down.steps.at(-1)?.episodes.filter((e) => e.exit === 'env_error') ?? []
  await expect.poll(async () => ((down = await state()), lost().length)).toBeGreaterThan(4)
  expect(lost().every((e) => e.reward === null && e.error !== null && e.error.length > 20)).toBe(true)
  expect(down.history).toHaveLength(2)
  expect(down.run.state).toBe('running')
  expect(await page.getByRole('button', { name: /notice/ }).count()).toBe(1)

  echo = await startServer('echo', { port: echo.port })
  const end = await until('finished', 240_000)
  expect(end.history.map((h) => h.step)).toEqual([1, 2, 3, 4, 5, 6])
  for (const { step, metrics } of end.history) {
    // The step that was tried again may have begun while the server came up: some of its episodes then stay unscorable.
    if (step === 3) expect(metrics['exit/env_error']).toBeLessThan(1)
    else expect(metrics['exit/env_error']).toBe(0)
  }
  expect(playground.pageErrors).toEqual([])
  // They could not have been read: the server is of another origin and sends no CORS headers.
  const schema = echo.url.replace(/^ws(.*?)(\/ws)?$/, 'http$1/schema')
  expect((await fetch(schema)).ok).toBe(true)
  expect(await page.evaluate((url) => fetch(url).then(() => 'read', () => 'refused'), schema)).toBe('refused')
  await playground.close()
})

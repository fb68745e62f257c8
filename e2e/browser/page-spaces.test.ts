/** Spaces in the page, over a local Hub and a real socket: a link that waits for a word, a Space that sleeps, a name that is wrong, a run that is kept. */

import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startScriptedServer, type ScriptedServer } from '../hub/scripted-server'
import { startSpaces, type SpacesHub } from '../hub/spaces'
import { launchChromium } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { startSite, type RunningServer } from './server'

const TOKEN = 'hf_reader'
const SMALL = { seed: 7, backend: 'wasm', prompts_per_step: 1, num_generations: 2, max_completion_length: 48, max_steps: 9 }

let browser: Browser
let server: RunningServer
let app: ScriptedServer
let hub: SpacesHub
let playground: Playground
beforeAll(async () => {
  app = await startScriptedServer()
  hub = await startSpaces({
    tokens: [TOKEN],
    spaces: {
      'me/sleepy_env': { port: app.port, stage: 'SLEEPING', afterWake: ['SLEEPING'] },
      'me/secret': { port: app.port, privateTo: [TOKEN] },
      'me/paused': { stage: 'PAUSED' },
    },
  })
  ;[browser, server] = await Promise.all([launchChromium(), startSite({ hub: hub.endpoint })])
})
afterEach(() => playground.close())
afterAll(async () => {
  await browser.close()
  await Promise.all([server.close(), hub.stop(), app.stop()])
})

const sentence = () => playground.text('state-line')

it('a link to a Space contacts nothing before Connect, which a phone shows; a sleeping Space is woken aloud', async () => {
  playground = await openPlayground(browser, server.url, linkOf({ ...SMALL, env: 'me/sleepy_env' }))
  const { page, press, until, text } = playground
  await page.setViewportSize({ width: 390, height: 844 })
  const button = page.getByTestId('connect-linked')
  await button.waitFor()
  expect(await button.isVisible()).toBe(true)
  const isOnScreen = async () => {
    const box = await button.boundingBox()
    return box && box.y >= 0 && box.y + box.height <= 844 && box.x + box.width <= 390
  }
  await expect.poll(isOnScreen).toBe(true)
  // A key pressed by accident connects to nothing.
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true)
  expect(await text('linked-server')).toContain('Space me/sleepy_env → wss://me-sleepy-env.hf.space/ws')
  expect(hub.requests).toEqual([])

  await press('connect-linked')
  await expect.poll(sentence).toMatch(/^Space me\/sleepy_env is asleep and being woken · \d+ s of at most 90 s · next look in \d s$/)
  expect(hub.requests.filter(({ at }) => at === 'me/sleepy_env')).not.toEqual([])
  // It goes on once its sentence was read: each stands for a few seconds alone.
  hub.setStage('me/sleepy_env', 'APP_STARTING')
  await expect.poll(sentence).toMatch(/^Space me\/sleepy_env is starting · \d+ s of at most 5 min/)
  hub.setStage('me/sleepy_env', 'RUNNING')
  const { environment } = await until('ready', 90_000)
  expect(environment?.tools.map((tool) => tool.function.name)).toEqual(['echo_message'])
  expect(await button.count()).toBe(0)
  expect(app.paths).toEqual(['/ws'])
  // The host of the Space sends no CORS headers: the socket alone must do.
  const sockets = hub.requests.filter(({ at, status }) => at === 'me/sleepy_env' && status === 101)
  expect(sockets.map(({ origin }) => origin)).toEqual([new URL(server.url).origin])
})

it('a failed connection leaves no tools of the old game in the list; a run ends only after a second word', async () => {
  playground = await openPlayground(browser, server.url, linkOf({ ...SMALL, env: 'lane' }))
  const { page, press, until, after, state, text } = playground
  await until('ready')
  expect(await text('tools')).toContain('(')
  await page.getByTestId('preset-select').selectOption('own')
  const field = page.getByTestId('url-input')
  const alert = page.locator('.address [role="alert"]')
  await field.fill('openenv/echo:latest')
  await press('connect')
  expect(await alert.textContent()).toMatch(/Docker image.*localhost:8000/)
  await field.fill('localhost')
  expect(await text('understood')).toBe('This machine → ws://localhost/ws')
  expect(await alert.count()).toBe(0)

  await field.fill('me/nothing')
  expect(await text('understood')).toBe('Space me/nothing → wss://me-nothing.hf.space/ws')
  await field.press('Enter')
  await expect.poll(async () => (await state()).run).toMatchObject({ state: 'failed', error: expect.stringContaining('shows no Space me/nothing to strangers') as string })
  expect(await text('tools')).toBe('')
  await field.fill('me/paused')
  await press('connect')
  await expect.poll(async () => (await state()).run).toMatchObject({ state: 'failed', error: expect.stringContaining('is paused (PAUSED)') as string })

  // A private Space, with the token.
  await field.fill('https://huggingface.co/spaces/me/secret')
  await page.evaluate((token) => window.playground.send({ type: 'token', token }), TOKEN)
  await after(() => press('connect'), 'ready')
  expect(app.paths.at(-1)).toBe('/ws?__sign=signed-for-me%2Fsecret')
  await expect.poll(() => text('tools')).toContain('echo_message(message)')

  await press('step')
  await until('paused', 90_000)
  const sockets = app.paths.length
  await field.press('Enter')
  expect(await text('start-over')).toContain('The present run stays under Runs, at step 1')
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))
  await expect.poll(focused).toBe('keep-run')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.getByTestId('start-over').count()).toBe(0)
  await expect.poll(focused).toBe('connect')
  expect([(await state()).history.length, app.paths.length]).toEqual([1, sockets])
  await press('connect')
  await press('connect-anyway')
  await expect.poll(async () => (await state()).history.length).toBe(0)
  await until('ready')
  expect(app.paths.length).toBeGreaterThan(sockets)
  expect(playground.pageErrors).toEqual([])
})

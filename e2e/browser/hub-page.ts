/** The page over the local Hub, as a person goes through it: look up, load, token, adapter; and what reached the Hub meanwhile. */

import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { StepRecord } from '../../src/worker/protocol'
import { hubRepos, TOKENS } from '../hub/models'
import { startHub, type Hub } from '../hub/server'
import { launchChromium, type ChromiumOptions } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { startSite } from './server'

type Metrics = StepRecord['metrics']

export interface HubPage extends Playground {
  /** Types an id under "Another model of the Hub" and waits for the answer. */
  lookUp(reference: string): Promise<void>
  /** Presses Look up for what a link names, and waits for the answer. */
  lookUpLinked(): Promise<void>
  /** Presses Load when it is there, and waits until the model is ready. */
  load(): Promise<void>
  /** Trains one step and gives its metrics back. */
  step(): Promise<Metrics>
  setToken(token: string): Promise<void>
  forgetToken(): Promise<void>
  /** Opens the list of stored models and gives its lines back. */
  stored(): Promise<string[]>
  /** Notices behind the bar's button. */
  notices(): Promise<string[]>
}

export interface HubStand {
  hub: Hub
  browser: Browser
  /** The page's address. */
  url: string
  /** Opens the page with these settings on WASM unless they say otherwise; small groups of short episodes. */
  open(settings?: Readonly<Record<string, string | number>>): Promise<HubPage>
  /** Files of a repository that were asked for, in order, preflights left out. */
  files(repo: string): string[]
  close(): Promise<void>
}

export const SMALL = { env: 'lane', seed: 7, prompts_per_step: 1, num_generations: 2, max_steps: 9, max_completion_length: 64, backend: 'wasm' }

/** Starts the local Hub with all repositories, the built page that speaks to it, and Chromium. */
export async function startStand(options: ChromiumOptions = {}): Promise<HubStand> {
  const hub = await startHub({ repos: await hubRepos(), tokens: TOKENS })
  const [browser, server] = await Promise.all([launchChromium(options), startSite({ hub: hub.endpoint })])
  return {
    hub,
    browser,
    url: server.url,
    open: async (settings = {}) => wrap(await openPlayground(browser, server.url, linkOf({ ...SMALL, ...settings }))),
    files: (repo) => hub.requests.flatMap(({ method, path, file }) => (method === 'GET' && path.includes(repo) ? [file ?? 'api'] : [])),
    close: async () => {
      await browser.close()
      await server.close()
      await hub.stop()
    },
  }
}

/** Metrics without those that are measured by a clock. */
export function untimed(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => !/latency|time|per_second/.test(name)))
}

/** Waits for the answer to the last look-up. */
async function answered(page: Page): Promise<void> {
  await page.locator('.inspection[aria-busy="false"]').locator('[data-testid="verdict"], [data-testid="inspection-error"]').waitFor()
}

export function wrap(playground: Playground): HubPage {
  const { page, press, until, state } = playground
  const openToken = () => page.getByTestId('hub-token').evaluate((details: HTMLDetailsElement) => (details.open = true))
  return {
    ...playground,
    expectQuiet() {
      expect(playground.pageErrors).toEqual([])
      expect(playground.consoleErrors).toEqual([])
      // A range that has come is let go of, which Chromium calls aborted.
      expect(playground.failedRequests.filter((line) => !line.startsWith('net::ERR_ABORTED'))).toEqual([])
    },
    async lookUp(reference) {
      await page.getByTestId('model-select').selectOption('other')
      await page.getByTestId('model-reference').fill(reference)
      await press('model-reference-use')
      await answered(page)
    },
    async lookUpLinked() {
      await press('look-up')
      await answered(page)
    },
    async load() {
      // Loading ends with a new engine's report; the state alone may still be the one from before the press.
      const before = await page.evaluateHandle(() => {
        const { engine, run } = window.playground.getState()
        return { engine, run }
      })
      await press('load-model')
      await page.waitForFunction((old) => {
        const { engine, run } = window.playground.getState()
        return run !== old.run && (run.state === 'failed' || (run.state === 'ready' && engine !== old.engine))
      }, before)
      await until('ready')
    },
    async step() {
      const before = (await state()).history.length
      await press('step')
      await expect.poll(async () => (await state()).history.length).toBe(before + 1)
      const { history } = await until(['paused', 'finished'])
      return history.at(-1)?.metrics ?? {}
    },
    async forgetToken() {
      await openToken()
      await press('forget-token')
    },
    async setToken(token) {
      await openToken()
      await page.getByTestId('token-input').fill(token)
      await press('use-token')
    },
    async stored() {
      const details = page.getByTestId('stored')
      await details.evaluate((element: HTMLDetailsElement) => (element.open = false))
      await details.locator('summary').click()
      await details.locator('ul').waitFor({ state: 'attached' })
      return page.getByTestId('stored-model').allTextContents()
    },
    notices: async () => (await state()).notices.map(({ text }) => text),
  }
}

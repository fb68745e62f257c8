/** The playground in a Chromium as tests drive it: settings through the address, real clicks, the state from its scripting handle. */

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { PlaygroundHandle } from '../../src/store/scripting'
import type { RunState } from '../../src/worker/protocol'
import { ENOUGH, openPage, type WatchedPage } from './chromium'

type State = ReturnType<PlaygroundHandle['getState']>

export interface Playground extends WatchedPage {
  /** The run as the panels see it now. */
  state(): Promise<State>
  /** Waits for one of these states; a failure that was not asked for throws the page's own sentence. */
  until(states: RunState['state'] | RunState['state'][], timeoutMs?: number): Promise<State>
  /** Does something, and waits for one of these states as its answer: the state that there was before does not count, though it may be the same or a failure. */
  after(act: () => Promise<unknown>, states: RunState['state'] | RunState['state'][], timeoutMs?: number): Promise<State>
  /** At most so many tokens a second in each slot, of which the first comes at once; null: as fast as it goes. */
  pace(tokensPerSecond: number | null): Promise<void>
  /** Presses Train, and Pause from inside the page as soon as some episode of this step is half written; the state is 'paused' then. */
  trainIntoStep(step: number): Promise<void>
  /** Clicks a button by its test id once it is enabled. */
  press(testId: string): Promise<void>
  text(testId: string): Promise<string>
  /** The page complained of nothing. */
  expectQuiet(): void
  close(): Promise<void>
}

/** `settings` as in the address, without the version: `{ env: 'echo', seed: 7, max_steps: 2 }`. */
export function linkOf(settings: Readonly<Record<string, string | number>>): string {
  return `#${new URLSearchParams({ v: '1', ...Object.fromEntries(Object.entries(settings).map(([k, v]) => [k, String(v)])) }).toString()}`
}

/** Opens the page of a server with this hash in a fresh context; `prepare` does what must be done before the page begins. */
export async function openPlayground(
  browser: Browser,
  url: string,
  hash: string,
  prepare?: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<Playground> {
  const watched = await openPage(browser, options)
  const { page } = watched
  await prepare?.(page)
  // A page that reloads by itself may do so before it has come to its end.
  await page.goto(`${url}${hash}`).catch((error: unknown) => {
    if (!/interrupted by another navigation/.test(String(error))) throw error
    return page.waitForLoadState()
  })
  const state = (): Promise<State> => page.evaluate(() => window.playground.getState())
  const wait = async (states: RunState['state'] | RunState['state'][], timeoutMs: number, isNew: () => Promise<boolean>): Promise<State> => {
    const wanted = [states].flat()
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const answered = await isNew()
      const now = await state()
      if (answered && wanted.includes(now.run.state)) return now
      if (answered && now.run.state === 'failed') throw new Error(`The page failed: ${now.run.error} ${now.run.advice}`)
      if (Date.now() > deadline) throw new Error(`Not ${wanted.join(' or ')} after ${timeoutMs} ms, but ${JSON.stringify(now.run)}`)
      await page.waitForTimeout(50)
    }
  }
  const until: Playground['until'] = (states, timeoutMs = ENOUGH) => wait(states, timeoutMs, () => Promise.resolve(true))
  const after: Playground['after'] = async (act, states, timeoutMs = ENOUGH) => {
    // Every message of the engine about its state is another object.
    const before = await page.evaluateHandle(() => window.playground.getState().run)
    await act()
    return wait(states, timeoutMs, () => page.evaluate((old) => window.playground.getState().run !== old, before))
  }
  const pace = (tokensPerSecond: number | null): Promise<void> => page.evaluate((value) => window.playground.send({ type: 'pace', tokensPerSecond: value }), tokensPerSecond)
  const trainIntoStep = async (step: number): Promise<void> => {
    // At full speed the tiny model may write a whole step between two frames of a busy page.
    await pace(0.5)
    await page.getByTestId('train').click()
    await page.waitForFunction((wanted) => {
      const latest = window.playground.getState().steps.at(-1)
      const button = document.querySelector<HTMLButtonElement>('[data-testid="pause"]')
      const writing = latest?.step === wanted && latest.episodes.some((e) => !e.finished && e.length > e.promptLength)
      if (!writing || !button || button.disabled) return false
      button.click()
      return true
    }, step)
    const { steps } = await until('paused')
    expect(steps.at(-1)).toMatchObject({ step, groups: null })
    await pace(null)
  }
  return {
    ...watched,
    state,
    until,
    after,
    pace,
    trainIntoStep,
    press: (testId) => page.getByTestId(testId).click(),
    text: async (testId) => (await page.getByTestId(testId).textContent()) ?? '',
    expectQuiet: () => {
      expect(watched.pageErrors).toEqual([])
      expect(watched.consoleErrors).toEqual([])
      expect(watched.failedRequests).toEqual([])
    },
    close: () => page.context().close(),
  }
}

/** Kills the tab of a run at random moments and goes on with it: the resumed run must equal one that nobody disturbed, bit for bit. */

import { createHash } from 'node:crypto'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { RandomStream } from '../../src/core/random'
import { linkOf } from './playground'

/** A run of some seconds: two groups, so that a kill also falls between them. */
export const SETTINGS = { env: 'lane', seed: 11, prompts_per_step: 2, num_generations: 4, max_steps: 8, backend: 'wasm' }

/** What of a run must not depend on whether it was interrupted: digests of the adapter with AdamW's moments, and of every step. */
export interface Outcome {
  state: string
  steps: string
  tokens: number
}

const TIMEOUT = 120_000

/** Opens the page in its own tab and waits until it is ready. */
async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${url}${linkOf(SETTINGS)}`)
  await page.waitForFunction(() => window.playground?.getState().run.state === 'ready', null, { timeout: TIMEOUT })
  return page
}

async function finished(page: Page): Promise<void> {
  const state = await page.waitForFunction(
    () => {
      const { run } = window.playground.getState()
      return run.state === 'finished' || run.state === 'failed' ? run : null
    },
    null,
    { timeout: TIMEOUT },
  )
  const run = await state.jsonValue()
  if (run?.state === 'failed') throw new Error(`The run failed: ${run.error}`)
}

/** What the archive holds of its only run, if there is one. */
export async function keptRun(page: Page): Promise<{ finished: boolean; name: string } | null> {
  return page.evaluate(
    () =>
      new Promise<{ finished: boolean; name: string } | null>((resolve, reject) => {
        const request = indexedDB.open('grpo-playground')
        request.onerror = () => reject(new Error(request.error?.message))
        request.onsuccess = () => {
          const runs = request.result.transaction('runs').objectStore('runs').getAll() as IDBRequest<{ finished: boolean; name: string }[]>
          runs.onsuccess = () => {
            request.result.close()
            resolve(runs.result[0] ?? null)
          }
        }
      }),
  )
}

/** Everything that the archive holds of its only run, as plain data; times are left out, since no two runs take equally long. */
async function outcome(page: Page): Promise<Outcome> {
  const kept = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('grpo-playground')
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(new Error(request.error?.message))
    })
    const all = <T>(store: string): Promise<T[]> =>
      new Promise((resolve, reject) => {
        const request = database.transaction(store).objectStore(store).getAll() as IDBRequest<T[]>
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(new Error(request.error?.message))
      })
    type Stored = { step: number; summary: { metrics: Record<string, number | null> }; episodes: ArrayBuffer }
    type State = { parameters: { name: string; data: Float32Array }[]; m: Float32Array[]; v: Float32Array[]; optimizerSteps: number; version: number }
    const runs = await all<{ id: string }>('runs')
    const steps = await all<Stored>('steps')
    const checkpoints = await all<{ step: number; num_tokens: number; state: State }>('checkpoints')
    database.close()
    const newest = checkpoints.sort((a, b) => b.step - a.step)[0]
    if (runs.length !== 1 || !newest) throw new Error(`The archive holds ${runs.length} runs and ${checkpoints.length} checkpoints.`)
    const { parameters, m, v, ...counts } = newest.state
    const bits = (data: Float32Array): number[] => [...new Uint32Array(data.buffer, data.byteOffset, data.length)]
    const unpack = async (packed: ArrayBuffer): Promise<unknown[]> =>
      JSON.parse(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text()) as unknown[]
    return {
      tokens: newest.num_tokens,
      state: JSON.stringify([newest.step, counts, parameters.map(({ name, data }) => [name, bits(data)]), m.map(bits), v.map(bits)]),
      steps: JSON.stringify(
        await Promise.all(
          steps.map(async ({ step, summary, episodes }) => [
            step,
            Object.entries(summary.metrics).filter(([name]) => !/time|latency|_ms|per_second/.test(name)),
            await unpack(episodes),
          ]),
        ),
        // How long an answer took, and what each slot did when, is no part of a run.
        (key, value: unknown) => (key === 'ms' || key === 'spans' ? undefined : value),
      ),
    }
  })
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
  return { state: digest(kept.state), steps: digest(kept.steps), tokens: kept.tokens }
}

/** The run from beginning to end. `seconds`: how long the training took. */
export async function undisturbed(browser: Browser, url: string): Promise<Outcome & { seconds: number }> {
  const context = await browser.newContext()
  try {
    const page = await openTab(context, url)
    const began = Date.now()
    await page.getByTestId('train').click()
    await finished(page)
    return { ...(await outcome(page)), seconds: (Date.now() - began) / 1000 }
  } finally {
    await context.close()
  }
}

/** The same run, whose tab's process is killed once at a random moment; `at`: after how many finished steps it went on. */
export async function killedOnce(browser: Browser, url: string, seconds: number, key: number): Promise<Outcome & { at: number; after: number }> {
  const random = new RandomStream(0x5107, key)
  for (;;) {
    const resumed = await attempt(browser, url, random.next() * seconds * 900)
    if (resumed) return resumed
  }
}

/** null when the moment was no good: before the first step nothing is kept yet, and after the last nothing is left to be done. */
async function attempt(browser: Browser, url: string, after: number): Promise<(Outcome & { at: number; after: number }) | null> {
  const context = await browser.newContext()
  try {
    let page = await openTab(context, url)
    await page.getByTestId('train').click()
    await page.waitForTimeout(after)
    const steps = await page.evaluate(() => window.playground.getState().history.length)
    if (steps === 0 || steps >= SETTINGS.max_steps) return null
    await crash(page)
    page = await openTab(context, url)
    const kept = await keptRun(page)
    if (!kept && steps > 1) throw new Error(`${steps} steps were done, and nothing is kept.`)
    // The tab died while its first step was being written, or after its last one.
    if (!kept || kept.finished) return null
    await page.getByTestId('resume-offered').click()
    const at = await page.waitForFunction(() => {
      const { run } = window.playground.getState()
      return run.state === 'paused' || run.state === 'failed' ? run : null
    }, null, { timeout: TIMEOUT })
    const state = await at.jsonValue()
    if (state?.state !== 'paused') throw new Error(`Not resumed: ${JSON.stringify(state)}`)
    await page.getByTestId('train').click()
    await finished(page)
    return { ...(await outcome(page)), at: state.step, after: after / 1000 }
  } finally {
    await context.close()
  }
}

/** Ends the tab's process as the system's out-of-memory killer would: nothing in it gets to say goodbye. */
async function crash(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const crashed = new Promise((resolve) => page.once('crash', resolve))
  session.send('Page.crash').catch(() => undefined)
  await crashed
  await page.close()
}

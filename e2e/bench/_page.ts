/** The built page in a Chromium of its own, as benchmarks drive it: the settings in its address, real clicks, one run a page. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { RunConfig } from '../../src/core/config'
import type { EngineReport } from '../../src/core/events'
import { writeLink } from '../../src/store/link'
import type { StepSummary } from '../../src/core/run-record'
import type { EvaluationResult, RunState } from '../../src/worker/protocol'
import { launchChromium, openPage, type WatchedPage } from '../browser/chromium'
import { buildSite, serveDist } from '../browser/server'
import type { BenchLog } from '../tools/bench-rows'

/** A page that shows no sign of life for this long is given up. */
const SILENCE_MS = 5 * 60_000
/** How often the page is looked at: the resolution of a run's seconds. */
const LOOK_MS = 200

export interface Site {
  url: string
  browser: Browser
}

/** What is read of the page at each look: small, so that looking costs nothing. */
interface Look {
  run: RunState
  engine: EngineReport | null
  history: StepSummary[]
  warnings: string[]
  /** Changes as long as anything goes on. */
  sign: string
}

/**
 * Builds the page as `npm run build` does, serves it with the isolation headers and opens a Chromium without WebGPU, for as
 * long as `work` takes. All three are gone afterwards, whatever happens.
 */
export async function withSite<Result>(work: (site: Site) => Promise<Result>): Promise<Result> {
  const outDir = await mkdtemp(join(tmpdir(), 'grpo-bench-'))
  try {
    await buildSite(outDir)
    const server = await serveDist({ outDir })
    try {
      const browser = await launchChromium({ args: ['--disable-backgrounding-occluded-windows'] })
      try {
        return await work({ url: server.url, browser })
      } finally {
        await browser.close()
      }
    } finally {
      await server.close()
    }
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}

/** Opens a fresh page with this run, waits until it is ready, and closes it after `work`. Throws the page's own sentence when it fails. */
export async function withRun<Result>(
  site: Site,
  config: RunConfig,
  log: BenchLog,
  work: (run: PageRun) => Promise<Result>,
  context: BrowserContextOptions = {},
): Promise<Result> {
  const watched = await openPage(site.browser, context)
  try {
    const run = new PageRun(watched, log)
    await run.open(`${site.url}${writeLink(config, 0)}`, config)
    return await work(run)
  } finally {
    await watched.page.context().close()
  }
}

export class PageRun {
  readonly page: Page
  private crashed = false
  private told = new Set<string>()

  constructor(
    private readonly watched: WatchedPage,
    private readonly log: BenchLog,
  ) {
    this.page = watched.page
    this.page.on('crash', () => (this.crashed = true))
  }

  async open(address: string, wanted: RunConfig): Promise<void> {
    await this.page.goto(address)
    await this.page.waitForFunction(() => 'playground' in globalThis, undefined, { timeout: 60_000 })
    const { engine } = await this.until('get ready', ({ run }) => run.state === 'ready')
    if (engine === null) throw new Error('The page is ready but does not say with which engine.')
    const { info, loadSeconds } = engine
    this.log(`${info.model} on ${info.backend}, ${info.threads} threads, ready after ${loadSeconds.toFixed(1)} s`)
    if (wanted.backend !== 'auto' && info.backend !== wanted.backend) throw new Error(`The page runs on ${info.backend}, not on ${wanted.backend}.`)
    const config = await this.page.evaluate(() => globalThis.window.playground.getState().config)
    if (JSON.stringify(config) !== JSON.stringify(wanted)) throw new Error(`The page did not take the settings of its address: ${address}`)
  }

  /** Success rates on both splits, over `episodes` fixed episodes each. */
  async evaluate(episodes: number): Promise<EvaluationResult> {
    let result: EvaluationResult | null = null
    let failure: unknown = null
    this.page.evaluate(count => globalThis.window.playground.evaluate(count), episodes).then(
      value => (result = value),
      (error: unknown) => (failure = error ?? 'unknown'),
    )
    await this.until('evaluate', () => {
      if (failure !== null) throw new Error(`The evaluation failed: ${failure instanceof Error ? failure.message : JSON.stringify(failure)}`)
      return result !== null
    })
    if (result === null) throw new Error('The evaluation gave no result.')
    return result
  }

  /**
   * Presses Train and waits until the page says that the run is finished. `onStep` hears of every finished step once.
   * Seconds count from the press to the end, to 0.2 s.
   */
  async train(onStep: (step: StepSummary) => void): Promise<{ steps: StepSummary[]; seconds: number }> {
    let seen = 0
    const began = performance.now()
    await this.page.getByTestId('train').click()
    const { history } = await this.until('train', ({ run, history }) => {
      for (const step of history) if (step.step > seen) onStep(step)
      seen = Math.max(seen, history.at(-1)?.step ?? 0)
      return run.state === 'finished'
    })
    return { steps: history, seconds: (performance.now() - began) / 1000 }
  }

  /** Presses Step and waits until the page rests after this step. */
  async step(number: number): Promise<void> {
    // Not by its button: while a recorded run is shown, that is the recorded run's.
    await this.page.evaluate(() => window.playground.send({ type: 'step' }))
    await this.until('train one step', ({ run }) => (run.state === 'paused' || run.state === 'finished') && run.step === number)
  }

  /**
   * Looks until `done`. Throws with what the page says when the run fails, when the tab dies, when nothing changes for five
   * minutes, and what `done` throws.
   */
  private async until(what: string, done: (look: Look) => boolean): Promise<Look> {
    let sign = ''
    let changed = performance.now()
    for (;;) {
      const look = await this.look(what)
      for (const text of look.warnings) if (!this.told.has(text)) this.log(`the page warns: ${text}`)
      for (const text of look.warnings) this.told.add(text)
      if (look.run.state === 'failed') throw new Error(`The page failed to ${what}: ${look.run.error} ${look.run.advice}${this.complaints()}`)
      if (done(look)) return look
      if (look.sign !== sign) changed = performance.now()
      sign = look.sign
      if (performance.now() - changed > SILENCE_MS) {
        throw new Error(`The page showed no progress for ${SILENCE_MS / 60_000} minutes (${what}; ${sign}).${this.complaints()}`)
      }
      await sleep(LOOK_MS)
    }
  }

  private async look(what: string): Promise<Look> {
    const late = sleep(SILENCE_MS, null, { ref: false })
    // No named functions inside: the program that runs this file would add a helper to them that the page does not have.
    const look = this.page.evaluate(() => {
      const { run, engine, history, notices, steps, evaluation } = globalThis.window.playground.getState()
      const latest = steps.at(-1)
      const tokens = latest?.episodes.reduce((sum, episode) => sum + episode.length, 0)
      return {
        run,
        engine,
        history: [...history],
        warnings: notices.filter(notice => notice.level === 'warning').map(notice => notice.text),
        sign: JSON.stringify([run, latest?.step, latest?.training, tokens, evaluation]),
      }
    })
    const seen = await Promise.race([look, late]).catch((error: unknown) => {
      throw this.crashed ? new Error(`The tab crashed (${what}).${this.complaints()}`, { cause: error }) : error
    })
    if (seen === null) throw new Error(`The page did not answer for ${SILENCE_MS / 60_000} minutes (${what}).${this.complaints()}`)
    return seen
  }

  private complaints(): string {
    const { pageErrors, consoleErrors, failedRequests } = this.watched
    const said = [...pageErrors, ...consoleErrors, ...failedRequests]
    return said.length === 0 ? '' : `\nThe page complained:\n  ${said.slice(0, 10).join('\n  ')}`
  }
}

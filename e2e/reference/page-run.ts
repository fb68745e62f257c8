/** A page in Chromium that trains a model of the local Hub or of the site for some steps, and what it gives away when it is asked to. */

import { unzipSync } from 'fflate'
import type { Browser, Page } from 'playwright-core'
import type { RunConfig } from '../../src/core/config'
import type { ExportKind, Message, StepRecord } from '../../src/worker/protocol'
import { linkOf, openPlayground, type Playground } from '../browser/playground'

type Exported = Extract<Message, { type: 'exported' }>['result']

/** What the page's worker said, in words that tests need. */
interface Heard {
  /** Engines that were made ready. */
  engines: number
  steps: StepRecord[]
  /** The run that is kept. */
  run: string | null
  exported: Record<number, Exported>
}

declare global {
  interface Window {
    heard: Heard
  }
}

/** Files of an export by their path in the folder that is taken away. */
export type TakenAway = Record<string, Uint8Array>

export interface RunningPage extends Playground {
  /** Loads what differs from the link's settings, with a fresh adapter. */
  configure(change: (config: RunConfig) => RunConfig): Promise<void>
  /** Hands over an adapter's two files, as a person who picks them; RunConfig.adapter then names them. */
  give(name: string, config: string, weights: Uint8Array): Promise<void>
  /** Trains one step and gives all of it back. */
  step(): Promise<StepRecord>
  /** The files of an archive, or the one file. */
  takeAway(kind: ExportKind): Promise<TakenAway>
}

/** Listens beside the page: tokens' log-probs stay in its worker's messages, and files in the downloads of its dialog. */
async function listen(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const heard: Heard = { engines: 0, steps: [], run: null, exported: {} }
    window.heard = heard
    window.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options)
        this.addEventListener('message', ({ data: messages }: MessageEvent<readonly Message[]>) => {
          for (const data of messages) {
            if (data.type === 'engine') heard.engines++
            else if (data.type === 'cleared') heard.steps = []
            else if (data.type === 'runs') heard.run = data.current
            else if (data.type === 'exported') heard.exported[data.requestId] = data.result
            else if (data.type === 'event' && data.event.type === 'step-finished') heard.steps.push(data.event.record)
          }
        })
      }
    }
  })
}

/** `settings` as in the address. */
export async function openRunningPage(browser: Browser, url: string, settings: Readonly<Record<string, string | number>>): Promise<RunningPage> {
  const playground = await openPlayground(browser, url, linkOf(settings), listen)
  const { page, until, press } = playground
  await until('ready')
  const { config } = await playground.state()
  if (!config) throw new Error('The page is ready without settings.')
  let requests = 9000
  return {
    ...playground,
    async configure(change) {
      const before = await page.evaluate((next) => {
        window.playground.send({ type: 'configure', config: next })
        return window.heard.engines
      }, change(config))
      await page.waitForFunction((count) => window.heard.engines > count || window.playground.getState().run.state === 'failed', before, { timeout: 120_000 })
      await until('ready')
    },
    async give(name, text, weights) {
      const given = { name, text, base64: Buffer.from(weights).toString('base64') }
      await page.evaluate((files) => {
        const bytes = Uint8Array.from(atob(files.base64), (letter) => letter.charCodeAt(0))
        window.playground.send({ type: 'give-adapter', name: files.name, config: files.text, weights: bytes.buffer })
      }, given)
    },
    async step() {
      const before = await page.evaluate(() => window.heard.steps.length)
      await press('step')
      await page.waitForFunction((count) => window.heard.steps.length > count || window.playground.getState().run.state === 'failed', before, { timeout: 120_000 })
      await until(['paused', 'finished'])
      const record = await page.evaluate(() => window.heard.steps.at(-1))
      if (!record) throw new Error('The step left no record.')
      return record
    },
    async takeAway(kind) {
      await page.waitForFunction(() => window.heard.run !== null, undefined, { timeout: 120_000 })
      const requestId = ++requests
      await page.evaluate((request) => window.playground.send({ type: 'export', id: window.heard.run ?? '', ...request }), { kind, requestId })
      await page.waitForFunction((id) => id in window.heard.exported, requestId, { timeout: 120_000 })
      const answer = await page.evaluate(async (id) => {
        const result = window.heard.exported[id] as Exported
        if (!result.ok) return { error: `${result.error} ${result.advice}` }
        const bytes = new Uint8Array(await result.file.arrayBuffer())
        let text = ''
        for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
        return { name: result.name, base64: btoa(text) }
      }, requestId)
      if (answer.base64 === undefined) throw new Error(answer.error)
      const bytes = Buffer.from(answer.base64, 'base64')
      if (!answer.name.endsWith('.zip')) return { [answer.name]: new Uint8Array(bytes) }
      const files = Object.entries(unzipSync(bytes))
      // The archive holds one folder.
      return Object.fromEntries(files.map(([path, content]) => [path.slice(path.indexOf('/') + 1), content]))
    },
  }
}

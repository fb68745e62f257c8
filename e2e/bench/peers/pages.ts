/** Harness pages for rows that compute in a browser: one page a side, so that neither's memory or threads are the other's. */

import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../browser/chromium'
import { openHarness, runInPage } from '../../browser/harness'
import { startDevServer } from '../../browser/server'
import type { Opened, OpenRequest } from './ours-run'

const OURS = 'e2e/bench/peers/ours-run.ts'
const TRANSFORMERS = 'e2e/bench/peers/transformers-run.ts'

/** Calls of a module in the worker of one page. */
export type Call = <Result>(name: string, arg?: unknown) => Promise<Result>

export interface Pages {
  /** A fresh page with our engine. */
  ours(): Promise<Call>
  /** A fresh page with transformers.js. */
  transformers(): Promise<Call>
}

/** The sources on a dev server and a Chromium without WebGPU, for as long as `work` takes. */
export async function withPages<Result>(work: (pages: Pages) => Promise<Result>): Promise<Result> {
  const server = await startDevServer()
  try {
    const browser = await launchChromium()
    try {
      const open = (module: string) => async (): Promise<Call> => callsIn(await harness(browser, server.url), module)
      return await work({ ours: open(OURS), transformers: open(TRANSFORMERS) })
    } finally {
      await browser.close()
    }
  } finally {
    await server.close()
  }
}

async function harness(browser: Browser, url: string): Promise<Page> {
  return (await openHarness(browser, url)).page
}

function callsIn(page: Page, module: string): Call {
  return <Result>(name: string, arg: unknown = null) => runInPage<Result>(page, module, name, arg, { worker: true })
}

/** Opens an engine in a page of `Pages.ours`. */
export function openEngine(ours: Call, request: OpenRequest): Promise<Opened> {
  return ours('open', request)
}

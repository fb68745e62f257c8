/** Runs a function of any module of the repository inside a Chromium page, or in a worker there, from a Node test. */

import type { Browser, Page } from 'playwright-core'
import { openPage, type WatchedPage } from './chromium'

/** What crosses into the page: the URL of a module, the name of an export, one argument of plain JSON. */
export interface HarnessCall {
  module: string
  name: string
  arg: unknown
}

export type HarnessReply = { id: number; value: unknown } | { id: number; error: string }

/** What harness-page.ts puts on `globalThis.harness`. */
export interface HarnessWindow {
  callHere(call: HarnessCall): Promise<unknown>
  callInWorker(call: HarnessCall): Promise<unknown>
}

/** Opens the harness page of a dev server (`server.url`) and waits until it can be called. */
export async function openHarness(browser: Browser, url: string): Promise<WatchedPage> {
  const watched = await openPage(browser)
  await watched.page.goto(`${url}e2e/browser/harness.html`)
  await watched.page.waitForFunction(() => 'harness' in globalThis, undefined, { timeout: 60_000 })
  return watched
}

/**
 * Calls `name(arg)` exported by `module` (a path from the repository's root, such as `src/runtime/engine.ts`) in the
 * page, or with `worker: true` in the page's one dedicated module worker. Argument and result must be plain JSON.
 * Throws what the function threw. A module is loaded once a page, so its variables outlive a call.
 */
export async function runInPage<Result>(
  page: Page,
  module: string,
  name: string,
  arg: unknown = null,
  options: { worker?: boolean } = {},
): Promise<Result> {
  const call: HarnessCall = { module: `/${module}`, name, arg }
  const value = await page.evaluate(
    async ({ call, worker }) => {
      const { harness } = globalThis as unknown as { harness: HarnessWindow }
      return worker ? harness.callInWorker(call) : harness.callHere(call)
    },
    { call, worker: options.worker ?? false },
  )
  return value as Result
}

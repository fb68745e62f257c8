/** A browser and the built page for all tests of a file: begun before the first, ended after the last. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { launchChromium } from './chromium'
import { startSite, type RunningServer } from './server'

/** Both are there once the tests run. */
export function onSite(): { readonly browser: Browser; readonly server: RunningServer } {
  const site = {} as { browser: Browser; server: RunningServer }
  beforeAll(async () => {
    ;[site.browser, site.server] = await Promise.all([launchChromium(), startSite()])
  })
  afterAll(async () => {
    await site.browser.close()
    await site.server.close()
  })
  return site
}

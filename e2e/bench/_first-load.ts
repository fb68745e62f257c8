/** How a first visit goes: when the page paints, what of its JavaScript comes before the recorded run moves, what shifts afterwards. */

import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page, Response } from 'playwright-core'

export interface FirstLoad {
  /** First contentful paint, ms after navigation. */
  paint: number
  /** The first token of the recorded run, ms after navigation. */
  token: number
  /** The curves of the recorded run, ms after navigation, the page being scrolled to them once that token is there. */
  curves: number
  /** JavaScript of the page that was asked for before the recorded run's first token was drawn: bytes, gzipped. */
  script: number
  /** Files of it, largest first. */
  files: { name: string; bytes: number }[]
  /** The same for what the engine's worker fetched meanwhile. */
  workerScript: number
  /** Cumulative layout shift until `watched` ms after that. */
  shift: number
  /** What shifted most, as CSS paths. */
  shifted: string[]
  /** Longest task of the page until then, ms. */
  longestTask: number
}

interface Watch {
  /** When that token came into the document, ms since 1970; Infinity before. */
  tokenAt: number
  shift: number
  shifted: { value: number; what: string }[]
  longest: number
}

declare global {
  interface Window {
    firstLoad: Watch
  }
}

/** Runs in the page before anything of it. No named functions: the program that runs this file would add a helper to them that the page lacks. */
function watchPage(token: string): void {
  const seen: Watch = { tokenAt: Infinity, shift: 0, shifted: [], longest: 0 }
  window.firstLoad = seen
  // A frame later, or whenever a busy machine looks, what is fetched after it is on its way.
  new MutationObserver((_, observer) => {
    if (!document.querySelector(token)) return
    seen.tokenAt = performance.timeOrigin + performance.now()
    observer.disconnect()
  }).observe(document, { childList: true, subtree: true })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] })[]) {
      if (entry.hadRecentInput) continue
      seen.shift += entry.value
      const nodes = entry.sources.map(({ node }) => (node instanceof Element ? `${node.tagName.toLowerCase()}.${node.className}` : String(node?.nodeName)))
      seen.shifted.push({ value: entry.value, what: nodes.join(', ') })
    }
  }).observe({ type: 'layout-shift', buffered: true })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration)
  }).observe({ type: 'longtask', buffered: true })
}

/** By what the recorded run is known to be there. */
const DRAWN = { token: '[data-testid="token"][data-author="model"]', curves: '[data-testid="reward-curve"] .recharts-line-curve' }

/** One visit with an empty cache, watched for `watched` ms more once all is drawn; `prepare` does what must be done before the page begins. */
export async function firstLoad(
  browser: Browser,
  url: string,
  watched: number,
  viewport = { width: 1440, height: 900 },
  prepare?: (context: BrowserContext) => Promise<void>,
): Promise<FirstLoad> {
  const context = await browser.newContext({ viewport, serviceWorkers: 'block' })
  try {
    await prepare?.(context)
    const page = await context.newPage()
    await page.addInitScript(watchPage, DRAWN.token)
    const scripts: { name: string; worker: boolean; asked: number; bytes: Promise<number> }[] = []
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (!/\.m?js$/.test(pathname)) return
      // What no frame asks for is a worker's.
      const worker = !belongsToFrame(response) || /worker-/.test(pathname)
      scripts.push({ name: pathname.split('/').at(-1) ?? pathname, worker, asked: response.request().timing().startTime, bytes: response.body().then((body) => gzipSync(body, { level: 9 }).length, () => 0) })
    })
    await page.goto(url, { waitUntil: 'commit' })
    const token = await drawn(page, DRAWN.token)
    // Charts are drawn once a person comes near them.
    await page.getByTestId('reward-curve').evaluate((element) => element.scrollIntoView())
    const curves = await drawn(page, DRAWN.curves)
    await page.waitForTimeout(watched)
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN)
    const { tokenAt, shift, shifted, longest } = await page.evaluate(() => window.firstLoad)
    const before = scripts.filter(({ asked }) => asked < tokenAt)
    const sized = await Promise.all(before.map(async ({ name, worker, bytes }) => ({ name, worker, bytes: await bytes })))
    const sum = (worker: boolean) => sized.filter((file) => file.worker === worker).reduce((total, { bytes }) => total + bytes, 0)
    return {
      paint,
      token,
      curves,
      script: sum(false),
      files: sized.filter(({ worker }) => !worker).map(({ name, bytes }) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes),
      workerScript: sum(true),
      shift,
      shifted: shifted.sort((a, b) => b.value - a.value).slice(0, 5).map(({ value, what }) => `${value.toFixed(4)} ${what}`),
      longestTask: longest,
    }
  } finally {
    await context.close()
  }
}

/** Whether the page itself asked, and not its worker, whose imports bear no name of the page among their referrers. */
function belongsToFrame(response: Response): boolean {
  const { referer = '' } = response.request().headers()
  return !/worker-[\w-]+\.js/.test(referer)
}

/** When the first element of the selector was there, ms after navigation. */
async function drawn(page: Page, selector: string): Promise<number> {
  const found = await page.waitForFunction((wanted) => (document.querySelector(wanted) ? performance.now() : null), selector, { polling: 'raf', timeout: 60_000 })
  return (await found.jsonValue()) ?? NaN
}

/** Starts the system's Chromium through playwright-core, with WebGPU in software when asked, and keeps what pages complain of. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type LaunchOptions, type Page } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Path of the Chromium to use: $CHROMIUM, else the first of the usual names on the PATH; null when there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  const given = env.CHROMIUM
  if (given) return isExecutable(given) ? given : null
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  const candidates = names.flatMap(name => folders.map(folder => join(folder, name)))
  return candidates.find(isExecutable) ?? null
}

export interface ChromiumOptions {
  /** Expose WebGPU on SwiftShader: right, but some hundred times slower than a GPU. Default false. */
  webgpu?: boolean
  /** Use the machine's own GPU for WebGPU instead of SwiftShader. Needs `webgpu`. */
  hardware?: boolean
  /** More command-line flags. */
  args?: string[]
}

/** Starts a headless Chromium. Close it in `afterAll`. Throws when none is installed. */
export async function launchChromium(options: ChromiumOptions = {}): Promise<Browser> {
  return chromium.launch(launchOptions(options))
}

/** The same with a profile in `folder`, whose storage is on the disk: other contexts keep theirs in the browser's memory. */
export async function launchProfile(folder: string, options: ChromiumOptions = {}): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, launchOptions(options))
}

/** WebGPU on a Linux machine's GPU without a screen: over Vulkan, which draws to no surface. */
const vulkan = ['--enable-features=Vulkan', '--use-angle=vulkan', '--disable-vulkan-surface']

function launchOptions(options: ChromiumOptions): LaunchOptions {
  const executablePath = findChromium()
  if (executablePath === null) {
    throw new Error(`No Chromium found. Install one (${names.join(', ')}) or set CHROMIUM to its path.`)
  }
  const gpu = options.hardware
    ? ['--enable-unsafe-webgpu', '--ignore-gpu-blocklist', ...(process.platform === 'linux' ? vulkan : [])]
    : options.webgpu
      ? ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']
      : ['--disable-gpu']
  return {
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-default-apps',
      '--disable-domain-reliability',
      '--no-pings',
      // A page that is not in front must not have its timers slowed down in the middle of a measurement.
      '--disable-background-timer-throttling',
      '--disable-renderer-backgrounding',
      ...gpu,
      ...(options.args ?? []),
    ],
  }
}

/** Longest wait of a page for what must come, ms: a machine with two cores may be doing other work. */
export const ENOUGH = 60_000

/** A page and everything it complained of so far; the arrays grow as it goes on. */
export interface WatchedPage {
  page: Page
  /** console.error, from the page and from its workers. */
  consoleErrors: string[]
  /** Exceptions nobody caught. */
  pageErrors: string[]
  /** Requests that failed or were answered with 400 and above, as `404 GET http://...`. */
  failedRequests: string[]
  /** Addresses of the documents that the tab has loaded: a reload adds one. */
  documents: string[]
}

/** Opens a page in a fresh context (own storage, no service worker unless `options` allows it). With GRPO_BROWSER_LOG=1 everything it logs goes to stderr. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ serviceWorkers: 'block', ...options })
  context.setDefaultTimeout(ENOUGH)
  const page = await context.newPage()
  const watched: WatchedPage = { page, consoleErrors: [], pageErrors: [], failedRequests: [], documents: [] }
  const echo = process.env.GRPO_BROWSER_LOG === '1'
  page.on('console', message => {
    if (echo) process.stderr.write(`[page ${message.type()}] ${message.text()}\n`)
    if (message.type() === 'error') watched.consoleErrors.push(message.text())
  })
  page.on('pageerror', error => {
    if (echo) process.stderr.write(`[page error] ${error.stack ?? error.message}\n`)
    watched.pageErrors.push(error.message)
  })
  page.on('domcontentloaded', () => watched.documents.push(page.url()))
  page.on('requestfailed', request => {
    watched.failedRequests.push(`${request.failure()?.errorText ?? 'failed'} ${request.method()} ${request.url()}`)
  })
  page.on('response', response => {
    if (response.status() >= 400) watched.failedRequests.push(`${response.status()} ${response.request().method()} ${response.url()}`)
  })
  return watched
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The built page and its service worker on a plain static host: threads after one reload, training without a network, updates. */

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { ISOLATION_HEADERS } from '../../src/service-worker/isolation'
import { launchChromium } from './chromium'
import { linkOf, openPlayground, type Playground } from './playground'
import { buildSite } from './server'
import { serveStatic, type StaticHost, type StaticHostOptions } from './static-host'

const PATH = 'some/deep/path/'
const SETTINGS = { env: 'echo', seed: 7, prompts_per_step: 1, num_generations: 4, max_steps: 1 }

let browser: Browser
let root: string
/** How many files the service worker keeps. */
let kept: number
beforeAll(async () => {
  browser = await launchChromium()
  root = await mkdtemp(join(tmpdir(), 'grpo-offline-'))
  await buildSite(join(root, PATH))
  kept = [...(await readFile(join(root, PATH, 'sw.js'), 'utf8')).matchAll(/sha256-[\w+/]{43}=/g)].length
})
afterAll(async () => {
  await browser.close()
  await rm(root, { recursive: true, force: true })
})

async function host(options: StaticHostOptions = {}, folder = root): Promise<StaticHost> {
  const server = await serveStatic(folder, options)
  onTestFinished(() => server.stop().catch(() => undefined))
  return server
}

async function visit(server: StaticHost, settings: Record<string, string | number> = SETTINGS): Promise<Playground> {
  const page = await openPlayground(browser, `${server.url}${PATH}`, linkOf(settings), undefined, { serviceWorkers: 'allow' })
  onTestFinished(() => page.close())
  return page
}

const isolated = ({ page }: Playground) => page.evaluate(() => crossOriginIsolated)

/** Waits until the service worker has kept everything. */
async function untilKept({ page }: Playground): Promise<void> {
  const count = () =>
    page.evaluate(async () => {
      const caches = await Promise.all((await window.caches.keys()).map(async name => (await (await window.caches.open(name)).keys()).length))
      return navigator.serviceWorker.controller === null ? -1 : Math.max(...caches, 0)
    })
  await expect.poll(count).toBe(kept)
}

/** Waits for a page that reloads by itself: what is asked of the old document meanwhile fails. */
async function untilIsolated(page: Playground): Promise<void> {
  const drawn = () => page.page.evaluate(() => crossOriginIsolated && 'playground' in window)
  await expect.poll(() => drawn().catch(() => false)).toBe(true)
}

it('has threads after one reload, and trains when the host is gone', async () => {
  const server = await host()
  const page = await visit(server)
  await untilIsolated(page)
  const ready = await page.until('ready')
  const cores = await page.page.evaluate(() => navigator.hardwareConcurrency)
  expect(ready.engine?.info).toMatchObject({ backend: 'wasm', threads: Math.min(cores, 4) })
  await untilKept(page)
  expect(page.documents).toHaveLength(2)

  await server.stop()
  await expect(fetch(server.url)).rejects.toThrow()
  const before = server.requests.length
  await page.page.context().setOffline(true)
  await page.page.reload()
  expect(await isolated(page)).toBe(true)
  await page.until('ready')
  await page.press('train')
  const { history, engine } = await page.until('finished')
  expect(history).toHaveLength(1)
  expect(engine?.info).toMatchObject({ backend: 'wasm', threads: Math.min(cores, 4) })
  expect(server.requests).toHaveLength(before)
  expect(page.documents).toHaveLength(3)
  await page.press('offline')
  expect(await page.text('offline-says')).toContain('need a network')
  expect(page.pageErrors).toEqual([])
})

it('leaves other origins, secrets and ranges alone', async () => {
  const other = await host({ headers: { 'Access-Control-Allow-Origin': '*' } })
  const server = await host()
  const page = await visit(server)
  await untilIsolated(page)
  await page.until('ready')
  await untilKept(page)
  const file = `${server.url}${PATH}models/tiny-qwen3/config.json`
  const asked = async (url: string, headers: Record<string, string> = {}) => {
    const [response] = await Promise.all([
      page.page.waitForResponse(url),
      page.page.evaluate(([address, more]) => fetch(address, { headers: more }).then(r => r.arrayBuffer()), [url, headers] as const),
    ])
    return { fromServiceWorker: response.fromServiceWorker(), added: 'cross-origin-embedder-policy' in (await response.allHeaders()) }
  }
  expect(await asked(file)).toEqual({ fromServiceWorker: true, added: true })
  const untouched = { fromServiceWorker: false, added: false }
  expect(await asked(`${other.url}${PATH}models/tiny-qwen3/config.json`)).toEqual(untouched)
  expect(await asked(file, { Range: 'bytes=0-9' })).toEqual(untouched)
  expect(await asked(file, { Authorization: 'Bearer secret' })).toEqual(untouched)
  const arrived = server.requests.filter(({ path }) => path.endsWith('config.json')).map(({ headers }) => headers.range ?? headers.authorization)
  expect(arrived).toEqual(expect.arrayContaining(['bytes=0-9', 'Bearer secret']))
  expect(other.requests.map(({ path }) => path)).toEqual([`/${PATH}models/tiny-qwen3/config.json`])
})

it('does not reload where the host sends the headers', async () => {
  const server = await host({ headers: ISOLATION_HEADERS })
  const page = await visit(server)
  expect(await isolated(page)).toBe(true)
  await page.until('ready')
  await untilKept(page)
  await page.press('train')
  expect((await page.until('finished')).history).toHaveLength(1)
  expect(page.documents).toHaveLength(1)
  page.expectQuiet()
})

it('does not reload a page that trains', async () => {
  let release = (): void => {}
  const released = new Promise<void>(done => (release = done))
  const server = await host({ hold: path => (path.endsWith('/sw.js') ? released : Promise.resolve()) })
  const page = await visit(server, { ...SETTINGS, max_steps: 3 })
  await page.until('ready')
  // A script, not a click: a person's touch alone would do. The second token would take longer than anything here is waited for.
  await page.pace(0.01)
  await page.page.evaluate(() => window.playground.send({ type: 'train' }))
  await page.until('running')
  release()
  await page.page.waitForFunction(() => navigator.serviceWorker.controller !== null)
  expect((await page.state()).run.state).toBe('running')
  await page.pace(null)
  expect((await page.until('finished')).history).toHaveLength(3)
  expect(await isolated(page)).toBe(false)
  expect(page.documents).toHaveLength(1)
})

it('tells of a new version, changes over on a press and forgets the old one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'grpo-update-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(root, folder, { recursive: true })
  const server = await host({ headers: ISOLATION_HEADERS }, folder)
  const page = await visit(server)
  await page.until('ready')
  await untilKept(page)
  const [first] = await page.page.evaluate(() => caches.keys())
  const version = first?.split(' ').at(-1) ?? ''
  const program = join(folder, PATH, 'sw.js')
  await writeFile(program, (await readFile(program, 'utf8')).replace(version, 'a-new-version'))
  const fetched = server.requests.length
  await page.page.evaluate(async () => void (await navigator.serviceWorker.ready).update())
  await page.press('update')
  expect(await page.text('update-says')).toContain('new version')
  // Files with the same hash are not downloaded again.
  expect(server.requests.slice(fetched).map(({ path }) => path)).toEqual([`/${PATH}sw.js`, `/${PATH}`])
  await Promise.all([page.page.waitForEvent('load'), page.press('update-reload')])
  await page.until('ready')
  await untilKept(page)
  await expect.poll(() => page.page.evaluate(() => caches.keys())).toEqual([first?.replace(version, 'a-new-version')])
  expect(await page.page.getByTestId('update').count()).toBe(0)
  page.expectQuiet()
})

it('makes way for another program at its address, and stays while the host is only down', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'grpo-gone-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(root, folder, { recursive: true })
  // However busy the machine: the visitor waits until the host has said what it is.
  const program = join(folder, PATH, 'sw.js')
  const [before, after, ...more] = (await readFile(program, 'utf8')).split(/=1e3\b/)
  if (before === undefined || after === undefined || more.length > 0) throw new Error('sw.js must name the visitor\'s patience once.')
  await writeFile(program, `${before}=1e5${after}`)
  let down = false
  const server = await host({ headers: ISOLATION_HEADERS, fails: () => (down ? 503 : undefined) }, folder)
  const page = await visit(server)
  await page.until('ready')
  await untilKept(page)
  const kept = () => page.page.evaluate(async () => ({ caches: (await caches.keys()).length, workers: (await navigator.serviceWorker.getRegistrations()).length }))

  down = true
  await page.page.reload()
  await page.until('ready')
  expect(await kept()).toEqual({ caches: 1, workers: 1 })

  // Another program is started on the same port.
  down = false
  await rm(join(folder, PATH), { recursive: true })
  await mkdir(join(folder, PATH))
  // An icon of its own: the browser would ask the host for one whenever it finds the time.
  await writeFile(join(folder, PATH, 'index.html'), '<!doctype html><title>Another program</title><link rel="icon" href="data:," /><h1>Another program</h1>')
  await page.page.reload()
  expect(await page.page.title()).toBe('Another program')
  await expect.poll(kept).toEqual({ caches: 0, workers: 0 })
  const asked = server.requests.length
  await page.page.goto(`${server.url}${PATH}`)
  expect(await page.page.title()).toBe('Another program')
  // The service worker is not asked any more, nor does it ask.
  expect(server.requests.slice(asked).map(({ path }) => path)).toEqual([`/${PATH}`])
})

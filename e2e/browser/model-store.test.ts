/** The store of models on the browser's own file system: a killed page, a resumed download, bits that turned, two tabs, a full disk. */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest'
import { bf16Ramp, safetensorsFile } from '../../src/hub/testing/counted-bytes'
import { startHub, type Hub } from '../hub/server'
import { launchChromium } from './chromium'
import { openHarness, runInPage } from './harness'
import { checksum, type LoadRequest, type LoadResult } from './modules/model-store'
import { startDevServer, type RunningServer } from './server'

const module = 'e2e/browser/modules/model-store.ts'
const REPO = 'me/model'
const [BODY, HEAD, TAIL] = [bf16Ramp(6_000_000, 7), bf16Ramp(500_000, 3), bf16Ramp(900_000, 11)]
const weights = safetensorsFile([
  { name: 'body', dtype: 'BF16', dims: [6000, 1000], bytes: BODY.bytes },
  // The copy of a tied head: nobody wants it.
  { name: 'lm_head.weight', dtype: 'BF16', dims: [500, 1000], bytes: HEAD.bytes },
  { name: 'tail', dtype: 'BF16', dims: [900, 1000], bytes: TAIL.bytes },
])
const small = { 'config.json': '{"model_type":"qwen3"}', 'tokenizer.json': '{"model":{}}', 'tokenizer_config.json': '{}' }
const smallBytes = Object.values(small).reduce((sum, text) => sum + text.length, 0)
const wantedBytes = weights.length - HEAD.bytes.length
const tailBegin = weights.length - TAIL.bytes.length
/** The pieces of `body` are two: the checksum goes on from one to the next. */
const tensors = { body: checksum(BODY.values), tail: checksum(TAIL.values) }
const right = { error: '', tensors, config: { model_type: 'qwen3' }, done: wantedBytes + smallBytes, total: wantedBytes + smallBytes }

let browser: Browser
let server: RunningServer
let hub: Hub
let page: Page
let key: string

beforeAll(async () => {
  browser = await launchChromium()
  server = await startDevServer()
})
afterAll(async () => {
  await browser.close()
  await server.close()
})
beforeEach(async () => {
  hub = await startHub({ repos: { [REPO]: { files: { ...small, 'model.safetensors': weights } } } })
  key = `${REPO}@${hub.sha(REPO)}`
  page = (await openHarness(browser, server.url)).page
})
afterEach(async () => {
  await page.context().close()
  await hub.stop()
})

const call = <T>(name: string, arg: unknown = null, on = page) => runInPage<T>(on, module, name, arg, { worker: true })
const load = (more: Partial<LoadRequest> = {}, on = page) => call<LoadResult>('load', { endpoint: hub.endpoint, repo: REPO, wanted: ['body', 'tail'], ...more }, on)
const list = async (on = page) => (await call<{ models: unknown[] }>('list', null, on)).models
const parts = () => call<Record<string, number>>('parts', key)
const PART = (begin: number) => `model.safetensors.${begin}.part`

/** Another tab of the same profile. */
async function tab(): Promise<Page> {
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.waitForFunction(() => 'harness' in globalThis)
  return other
}

/** A reload that loses everything but the disk. */
async function reopen(opened?: Page): Promise<void> {
  const next = opened ?? (await tab())
  await page.close()
  page = next
}

/** Ranges of the weights that reached the CDN, those that were cut too. */
const ranges = () => hub.requests.filter(({ at, file, method }) => at === 'cdn' && file === 'model.safetensors' && method === 'GET').map(({ range }) => range)

describe('the store of models in Chromium', () => {
  it('goes on at the byte after the page was closed in mid-download, then needs no network', async () => {
    // Opened before: the download goes on until this page is closed.
    const next = await tab()
    hub.fault({ kind: 'creep', byte: 5_000_000, on: 'model.safetensors', at: 'cdn', times: 9 })
    const first = load().catch(() => null)
    await expect.poll(async () => (await parts())[PART(0)] ?? 0).toBeGreaterThan(3_000_000)
    await reopen(next)
    await first
    const stored = (await parts())[PART(0)] as number
    expect(stored).toBeLessThan(BODY.bytes.length)
    expect(await list()).toMatchObject([{ key, model: REPO, revision: hub.sha(REPO), complete: false }])
    hub.clearFaults()
    hub.requests.length = 0
    expect(await load()).toMatchObject({ ...right, offline: false, notices: [], fromDisk: false })
    // The first megabyte and what follows it came from the disk.
    expect(ranges()).toEqual([`bytes=${stored}-${tailBegin - HEAD.bytes.length - 1}`, `bytes=${tailBegin}-`])
    expect(await list()).toMatchObject([{ key, complete: true }])

    await hub.stop()
    await reopen()
    expect(await load()).toMatchObject({ ...right, offline: true, notices: [], fromDisk: true })
    expect(await call('remove', key)).toBe('')
    expect(await list()).toEqual([])
    expect((await load()).error).toContain('could not be reached')
  })

  it('goes on after a connection that dropped, within the same load', async () => {
    // Of the header's range all comes before the end; of the next two megabytes.
    hub.fault({ kind: 'drop', afterBytes: 2_000_000, on: 'model.safetensors', at: 'cdn', times: 2 })
    expect(await load({ maxTries: 2 })).toMatchObject({ ...right, notices: [] })
    expect(ranges()).toHaveLength(4)
    expect((await parts())[PART(0)]).toBe(tailBegin - HEAD.bytes.length)
    expect((await parts())[PART(tailBegin)]).toBe(TAIL.bytes.length)
  })

  it('finds a bit that turned on the disk, and downloads that range anew', async () => {
    expect(await load()).toMatchObject(right)
    await call('damage', { key, part: PART(tailBegin), at: 1_234_567 })
    const found = await load()
    expect(found.error).toMatch(/What was stored of me\/model\/model\.safetensors \(bytes \d+ to \d+\) does not match its checksum any more\. It was deleted: load the model again/)
    expect(await parts()).not.toHaveProperty(PART(tailBegin))
    hub.requests.length = 0
    expect(await load()).toMatchObject(right)
    expect(ranges()).toEqual([`bytes=${tailBegin}-`])
  })

  it('leaves a model to the tab that uses it, which may delete it', async () => {
    expect(await load({ keep: true })).toMatchObject(right)
    const other = await tab()
    const theirs = await load({}, other)
    expect(theirs).toMatchObject(right)
    expect(theirs.notices).toEqual([expect.stringContaining('Another tab uses the stored files of me/model')])
    expect(await list(other)).toMatchObject([{ key, complete: true }])
    expect(await call('remove', key, other)).toBe('me/model cannot be deleted: another tab uses it.')
    expect(await call('remove', key)).toBe('')
    expect(await list(other)).toEqual([])
    await call('release')
    expect((await load({}, other)).notices).toEqual([])
  })

  it('goes on from the network when the disk is full, and says so', async () => {
    const session = await page.context().newCDPSession(page)
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(server.url).origin, quotaSize: 5_000_000 })
    const full = await load()
    expect(full).toMatchObject(right)
    expect(full.notices).toEqual([expect.stringContaining("The browser's storage is full: me/model is used without being stored any further")])
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(server.url).origin })
    const stored = (await parts())[PART(0)] as number
    expect(stored).toBeGreaterThan(1_000_000)
    hub.requests.length = 0
    expect(await load()).toMatchObject({ ...right, notices: [] })
    expect(ranges()[0]).toBe(`bytes=${stored}-${tailBegin - HEAD.bytes.length - 1}`)
  })
})

/** A person trains, signs in at a local Hub and publishes, in Chromium: what arrives is what was trained, and the token is nowhere but in its place. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPeftAdapter } from '../../src/hub/peft-adapter'
import { parseModelConfig } from '../../src/model/config'
import { tinyConfig } from '../hub/models'
import { startHub, type Hub, type OAuthApp } from '../hub/server'
import { launchChromium } from './chromium'
import { SMALL } from './hub-page'
import { linkOf, openPlayground, type Playground } from './playground'
import { startDevServer, type RunningServer } from './server'

const TOKEN_KEY = 'grpo-playground:hub'
const SCOPES = ['openid', 'profile', 'contribute-repos', 'write-repos', 'write-discussions']
/** Enough episodes for a step that changes something; what stands in the address must be back after signing in. */
const SETTINGS = { ...SMALL, max_steps: 50, prompts_per_step: 2, num_generations: 8, max_completion_length: 256, learning_rate: 0.0017 }

let hub: Hub
let browser: Browser
let server: RunningServer
let play: Playground
let page: Page
/** Every address that the browser asked for, and every line that it logged. */
const seen: string[] = []
beforeAll(async () => {
  const apps: Record<string, OAuthApp> = {}
  hub = await startHub({ repos: { 'you/model': { files: { 'README.md': 'theirs' } } }, oauth: apps })
  ;[browser, server] = await Promise.all([launchChromium(), startDevServer({ hub: hub.endpoint })])
  apps['my-app'] = { redirectUris: [server.url], scopes: SCOPES, user: 'ada', orgs: ['lovelace'] }
  play = await openPlayground(browser, server.url, linkOf(SETTINGS), async (opened) => {
    opened.on('request', (request) => void seen.push(`${request.method()} ${request.url()} ${request.headers()['referer'] ?? ''}`))
    opened.on('console', (message) => void seen.push(message.text()))
  })
  page = play.page
  await play.until('ready')
})
afterAll(async () => {
  await play?.close()
  await browser?.close()
  await server?.close()
  await hub?.stop()
})

const signedIn = () => page.evaluate((key) => JSON.parse(sessionStorage.getItem(key) ?? 'null') as { token: string; user: string; scopes: string[] } | null, TOKEN_KEY)
/** Notes every sentence of an upload, so that none is missed for being short. */
async function heardSentences(): Promise<() => Promise<string[]>> {
  const notes = await page.evaluateHandle(() => {
    const heard = new Set<string>()
    new MutationObserver(() => heard.add(document.querySelector('[data-testid="publish-progress"]')?.textContent ?? '')).observe(document.body, { childList: true, subtree: true, characterData: true })
    return heard
  })
  return () => notes.evaluate((heard) => [...heard])
}
/** Fills the form and publishes. */
async function publish(repo: string): Promise<void> {
  if (await page.getByTestId('publish-another').count()) await play.press('publish-another')
  await page.getByTestId('publish-repo').fill(repo)
  await play.press('publish')
}
/** Everything that the page has stored, as text, but for the token's own place. */
async function stored(): Promise<string> {
  return page.evaluate(async (key) => {
    const parts: string[] = [JSON.stringify(localStorage), document.cookie, location.href, document.documentElement.outerHTML]
    parts.push(JSON.stringify(Object.entries(sessionStorage).filter(([name]) => name !== key)))
    parts.push(JSON.stringify(performance.getEntries().map(({ name }) => name)))
    // Bytes as letters, so that a token in a buffer is found as well.
    const letters = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes)
    const walk = async (value: unknown): Promise<void> => {
      if (value instanceof Blob) parts.push(letters(new Uint8Array(await value.arrayBuffer())))
      else if (ArrayBuffer.isView(value)) parts.push(letters(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)))
      else if (value instanceof ArrayBuffer) parts.push(letters(new Uint8Array(value)))
      else if (typeof value === 'object' && value !== null) for (const [name, each] of Object.entries(value)) {
        parts.push(name)
        await walk(each)
      }
      else parts.push(String(value))
    }
    const of = <T>(request: IDBRequest<T>) => new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error ?? new Error('refused'))
    })
    let records = 0
    for (const { name } of await indexedDB.databases()) {
      const base = await of(indexedDB.open(name ?? ''))
      for (const store of base.objectStoreNames) {
        const all: unknown[] = await of(base.transaction(store).objectStore(store).getAll())
        records += all.length
        await walk(all)
      }
      base.close()
    }
    const folder = async (handle: FileSystemDirectoryHandle): Promise<void> => {
      for await (const entry of handle.values()) {
        parts.push(entry.name)
        if (entry.kind === 'directory') await folder(entry)
        else await walk(await entry.getFile())
      }
    }
    await folder(await navigator.storage.getDirectory())
    for (const name of await caches.keys()) for (const { url } of await (await caches.open(name)).keys()) parts.push(url)
    if (records === 0) throw new Error('the run is not in the database that was searched')
    return parts.join('\n')
  }, TOKEN_KEY)
}

it('signing in goes to the Hub and back: settings, run and dialog are there again', async () => {
  await play.press('step')
  await play.until('paused')
  await play.press('take-away-open')
  await page.getByTestId('own-application').evaluate((details: HTMLDetailsElement) => (details.open = true))
  await page.getByTestId('client-id').fill('my-app')
  await page.getByTestId('own-application').getByTestId('sign-in').click()
  await expect.poll(() => play.documents.length > 1 && page.url().startsWith(server.url)).toBe(true)
  await expect.poll(() => play.text('signed-in')).toContain('ada')
  expect(page.url()).toContain('learning_rate=0.0017')
  expect(page.url()).not.toMatch(/code=|state=/)
  expect(await signedIn()).toMatchObject({ user: 'ada', scopes: ['openid', 'profile', 'contribute-repos'] })
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('oauth')))).toEqual([])
  await page.getByTestId('publish').waitFor()
})

describe('publishing the adapter of the step', () => {
  it('goes through a rate limit and a connection that drops in mid-file', async () => {
    hub.fault({ kind: 'status', status: 429, retryAfter: 1, on: 'preupload' })
    hub.fault({ kind: 'drop', afterBytes: 40_000, on: 'uploads' })
    const heard = await heardSentences()
    await publish('ada/lane-lora')
    await page.getByTestId('published').waitFor()
    expect(await heard()).toContainEqual(expect.stringContaining('the Hub asks to wait (429)'))
    expect(await page.getByTestId('published-link').getAttribute('href')).toBe(`${hub.endpoint}/ada/lane-lora`)
    expect(hub.repo('ada/lane-lora')).toMatchObject({ private: true, titles: [expect.any(String)] })
    const puts = hub.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/uploads/'))
    expect(puts.length).toBeGreaterThanOrEqual(3)
    // The preflight that a browser makes for a PUT.
    expect(hub.requests.some(({ method, path }) => method === 'OPTIONS' && path.includes('/uploads/'))).toBe(true)
  })

  it('puts there what PEFT reads, a card of the run and the picture of its reward', async () => {
    const there = await hub.contents('ada/lane-lora')
    const text = (path: string) => new TextDecoder().decode(there[path])
    const adapter = readPeftAdapter(JSON.parse(text('adapter_config.json')), there['adapter_model.safetensors'] as Uint8Array, parseModelConfig(await tinyConfig()))
    expect(adapter.tensors.some(({ name, data }) => name.includes('lora_B') && data.some((x) => x !== 0))).toBe(true)
    expect(text('README.md')).toContain('for one step in a browser')
    expect(text('README.md')).toContain('snapshot_download("ada/lane-lora")')
    expect(text('README.md')).toContain('![Mean reward of every step, with the least and the most](reward.png)')
    expect(text('README.md')).toContain('| `learning_rate` | `0.0017` |')
    expect([...(there['reward.png'] ?? []).slice(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    expect(there['base/model.safetensors']?.length).toBeGreaterThan(1e6)
    const inks = await page.evaluate(async (bytes) => {
      const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }))
      const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d') as OffscreenCanvasRenderingContext2D
      context.drawImage(picture, 0, 0)
      const { data } = context.getImageData(0, 0, picture.width, picture.height)
      const found = new Set<string>()
      for (let i = 0; i < data.length; i += 4) found.add(`${data[i]},${data[i + 1]},${data[i + 2]}`)
      return { size: [picture.width, picture.height], corner: [...data.slice(0, 3)], mean: found.has('11,98,176'), grid: found.has('216,222,228') }
    }, [...(there['reward.png'] ?? [])])
    expect(inks).toEqual({ size: [960, 480], corner: [255, 255, 255], mean: true, grid: true })
  })

  it('is refused with a sentence and a way out where it may not, and works elsewhere', async () => {
    await publish('you/model')
    expect(await play.text('publish-refused')).toMatch(/ada may not write under “you”.*Nothing is lost/)
    expect(hub.repo('you/model').titles).toEqual([])
    await publish('lovelace/lane-lora')
    await page.getByTestId('published').waitFor()
    expect(hub.repo('lovelace/lane-lora').titles).toHaveLength(1)
  })

  it('can be cancelled in mid-file: nothing is committed', async () => {
    hub.forgetUploads()
    hub.fault({ kind: 'slow', bytesPerSecond: 20_000, on: 'uploads', times: 9 })
    await publish('ada/cancelled')
    await expect.poll(() => play.text('publish-progress')).toMatch(/B of|kB|MB/)
    await play.press('publish-cancel')
    await expect.poll(() => page.getByTestId('publish-state').textContent()).toContain('was stopped before the commit')
    hub.clearFaults()
    expect(hub.repo('ada/cancelled').titles).toEqual([])
  })
})

it('the token is in no address, no line, no storage, no file', async () => {
  const token = (await signedIn())?.token ?? ''
  expect(token).toMatch(/^hf_oauth_\w{20,}$/)
  const folder = await mkdtemp(join(tmpdir(), 'taken-'))
  try {
    const coming = page.waitForEvent('download')
    await play.press('export-everything')
    const path = join(folder, 'everything.zip')
    await (await coming).saveAs(path)
    const files = unzipSync(new Uint8Array(await readFile(path)))
    expect(Object.keys(files).length).toBeGreaterThan(10)
    const taken = Object.entries(files).map(([name, bytes]) => name + Buffer.from(bytes).toString('latin1'))
    const published = await Promise.all(hub.repos().map(async (repo) => Object.values(await hub.contents(repo)).map((bytes) => Buffer.from(bytes).toString('latin1'))))
    // Something to be found in the places that may be empty, so that the search is known to look there.
    await page.evaluate(async () => {
      localStorage.setItem('decoy', 'decoy in localStorage')
      const file = await (await navigator.storage.getDirectory()).getFileHandle('decoy', { create: true })
      const writer = await file.createWritable()
      await writer.write('decoy in a file')
      await writer.close()
    })
    const places = { taken: taken.join(), published: published.flat().join(), stored: await stored(), seen: seen.join('\n'), asked: hub.requests.map(({ url }) => url).join('\n') }
    // What is searched is there.
    expect(places.seen).toContain('/oauth/authorize')
    for (const part of ['tiny-qwen3', 'decoy in localStorage', 'decoy in a file']) expect(places.stored).toContain(part)
    for (const [place, text] of Object.entries(places)) expect(text.includes(token.slice(9)), place).toBe(false)
    expect(hub.requests.filter(({ at, authorization }) => at === 'cdn' && authorization)).toEqual([])
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('signing out forgets it', async () => {
  await play.press('sign-out')
  expect(await signedIn()).toBeNull()
  expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('grpo-playground')))).toEqual([])
  await play.press('publish-another')
  expect(await page.getByTestId('publish').isDisabled()).toBe(true)
  expect(play.pageErrors).toEqual([])
})

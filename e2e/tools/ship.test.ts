/** What the build hands to the service worker and to hosts. Whether Hugging Face's library reads the front matter: e2e/reference/space.test.ts. */

import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scopesFor } from '../../src/hub/sign-in'
import { hostFiles, siteManifest } from './ship'

const sri = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'grpo-ship-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

it('lists what a page needs by its hash, small files first, and nothing else', async () => {
  await write({ 'index.html': 'page', 'assets/a-1.wasm': 'much larger', 'assets/b-2.js': 'larger', 'models/m/config.json': '{}', 'models/m/README.md': 'card' })
  await write({ 'README.md': '1', 'deploy.md': '1', 'readme.png': '1', _headers: '1', '.nojekyll': '', '404.html': '1', 'sw.js': '1', 'assets/b-2.js.map': '1' })
  await write({ 'models/large/model.safetensors': '' })
  await truncate(join(folder, 'models/large/model.safetensors'), 65e6)
  const { version, entry, files } = await siteManifest(folder, 'assets/b-2.js')
  expect(entry).toBe('assets/b-2.js')
  expect(Object.entries(files)).toEqual([
    ['models/m/config.json', sri('{}')],
    ['', sri('page')],
    ['models/m/README.md', sri('card')],
    ['assets/b-2.js', sri('larger')],
    ['assets/a-1.wasm', sri('much larger')],
  ])
  expect((await siteManifest(folder, entry)).version).toBe(version)
  await write({ 'models/m/config.json': '[]' })
  expect((await siteManifest(folder, entry)).version).not.toBe(version)
})

it('sends the isolation headers where a host reads _headers', () => {
  const [all] = (hostFiles()['_headers'] ?? '').split('\n\n')
  expect(all?.split('\n')).toEqual(['/*', '  Cross-Origin-Opener-Policy: same-origin', '  Cross-Origin-Embedder-Policy: require-corp'])
})

it('begins README.md with the front matter of a static Space', () => {
  const [before, matter] = (hostFiles()['README.md'] ?? '').split(/^---$/m)
  expect(before).toBe('')
  // Keys with one plain value, a list or a list of keys: other YAML is not written.
  for (const line of (matter ?? '').trim().split('\n')) expect(line).toMatch(/^([\w-]+:( [^:#'"]+)?| {2}- [\w-]+| {2}[a-z-]+: [a-z-]+)$/)
})

it('lets the page of a Space ask for every scope that its sign-in asks for', () => {
  const wishes = [true, false].flatMap(toExisting => [true, false].map(asPullRequest => ({ toExisting, asPullRequest })))
  const asked = new Set(wishes.flatMap(scopesFor).filter(scope => scope !== 'openid' && scope !== 'profile'))
  const listed = [...(hostFiles()['README.md'] ?? '').matchAll(/^ {2}- (.*)$/gm)].map(([, scope]) => scope)
  expect(listed.sort()).toEqual([...asked].sort())
})

/** The local Hub answers as the real one was seen to answer, and spoils what it is asked to spoil. */

import { createHash } from 'node:crypto'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HubApiError, listFiles, modelInfo } from '@huggingface/hub'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { folderFiles, startHub, type Hub } from './server'

const weights = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7) & 255)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const small = { 'config.json': '{"a":1}', 'sub/deep/x.txt': 'deep' }

let hub: Hub
let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hub-'))
  await mkdir(join(dir, 'onnx'))
  await writeFile(join(dir, 'onnx', 'a.onnx'), weights)
  await writeFile(join(dir, 'README.md'), 'hello')
  hub = await startHub({
    repos: {
      'me/open': { files: { ...small, 'model.safetensors': weights }, revisions: { 'refs/pr/1': { 'config.json': '{"a":2}' }, v1: { 'config.json': '{}' } } },
      'me/secret': { files: small, private: true },
      'me/gated': { files: small, gated: 'manual' },
      'me/folder': { files: await folderFiles(dir) },
      'me/huge': { files: { 'model.safetensors': { size: 1_200_000_000, sha256: 'f'.repeat(64), read: (begin, end) => Uint8Array.from({ length: end - begin }, (_, i) => (begin + i) & 255) } } },
    },
    tokens: { hf_reader: { reads: ['me/secret'], accepted: ['me/gated'] }, hf_other: {}, hf_narrow: { noGatedScope: true } },
    pageSize: 2,
  })
})
afterAll(async () => {
  await hub.stop()
  await rm(dir, { recursive: true })
})
beforeEach(() => {
  hub.clearFaults()
  hub.requests.length = 0
})

const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => fetch(hub.endpoint + path, { headers, ...init })
const as = (token: string) => ({ Authorization: `Bearer ${token}` })
const codes = (response: Response) => [response.status, response.headers.get('x-error-code')]

describe('listings', () => {
  it("are what @huggingface/hub's modelInfo and listFiles read, page by page", async () => {
    const info = await modelInfo({ name: 'me/open', hubUrl: hub.endpoint, additionalFields: ['sha', 'filePaths'] })
    expect(info).toMatchObject({ name: 'me/open', private: false, gated: false, sha: hub.sha('me/open') })
    expect(info.filePaths).toEqual(['config.json', 'sub/deep/x.txt', 'model.safetensors'])
    const files = []
    for await (const file of listFiles({ repo: 'me/open', hubUrl: hub.endpoint, recursive: true, revision: hub.sha('me/open') })) files.push(file)
    expect(files.map(({ type, path, size }) => [type, path, size])).toEqual([
      ['file', 'config.json', 7],
      ['file', 'model.safetensors', weights.length],
      ['directory', 'sub', 0],
      ['directory', 'sub/deep', 0],
      ['file', 'sub/deep/x.txt', 4],
    ])
    // `git hash-object` of the seven bytes {"a":1}.
    expect(files[0]?.oid).toBe(createHash('sha1').update('blob 7\0{"a":1}').digest('hex'))
    expect(files[0]?.lfs).toBeUndefined()
    expect(files[1]?.lfs).toEqual({ oid: sha256(weights), size: weights.length, pointerSize: 131 })
    expect(hub.requests.filter((r) => r.path.includes('/tree/'))).toHaveLength(3)
    const top = []
    for await (const file of listFiles({ repo: 'me/open', hubUrl: hub.endpoint, path: 'sub', expand: true })) top.push(file)
    expect(top).toMatchObject([{ type: 'directory', path: 'sub/deep', lastCommit: { id: hub.sha('me/open') } }])
  })

  it('know branches, tags, pull requests and commits, and keep old commits', async () => {
    const body = async (revision: string) => (await get(`/me/open/resolve/${encodeURIComponent(revision)}/config.json`)).text()
    expect(await Promise.all(['main', 'HEAD', 'v1', 'refs/pr/1', hub.sha('me/open', 'v1')].map(body))).toEqual(['{"a":1}', '{"a":1}', '{}', '{"a":2}', '{}'])
    const before = hub.sha('me/folder')
    const after = await hub.commit('me/folder', { 'README.md': 'other' })
    expect(after).not.toBe(before)
    const read = async (revision: string) => (await get(`/me/folder/resolve/${revision}/README.md`)).text()
    expect([await read('main'), await read(before), await read(after)]).toEqual(['other', 'hello', 'other'])
    expect(sha256(new Uint8Array(await (await get(`/me/folder/resolve/${before}/onnx/a.onnx`)).arrayBuffer()))).toBe(sha256(weights))
  })
})

describe('files', () => {
  it('go by 307 to the same host when small, by 302 to the CDN when in LFS', async () => {
    const plain = await get('/me/open/resolve/main/config.json', {}, { redirect: 'manual' })
    expect([plain.status, plain.headers.get('location')]).toEqual([307, expect.stringMatching(/^\/api\/resolve-cache\/models\/me\/open\//)])
    const lfs = await get('/me/open/resolve/main/model.safetensors', {}, { redirect: 'manual' })
    expect(lfs.status).toBe(302)
    expect(lfs.headers.get('location')).toContain(`${hub.cdn}/xet-bridge-us/`)
    expect(Object.fromEntries(['x-linked-size', 'x-linked-etag', 'x-repo-commit'].map((name) => [name, lfs.headers.get(name)]))).toEqual({
      'x-linked-size': '100000',
      'x-linked-etag': `"${sha256(weights)}"`,
      'x-repo-commit': hub.sha('me/open'),
    })
    const pointer = await (await get('/me/open/raw/main/model.safetensors')).text()
    expect(pointer).toBe(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(weights)}\nsize 100000\n`)
    expect(await (await get('/me/open/raw/main/config.json')).text()).toBe('{"a":1}')
  })

  it('are served by single and open-ended ranges, and refused by others', async () => {
    const range = async (value: string, path = 'model.safetensors') => {
      const response = await get(`/me/open/resolve/main/${path}`, { Range: value })
      return [response.status, response.headers.get('content-range'), new Uint8Array(await response.arrayBuffer())]
    }
    expect(await range('bytes=3-5')).toEqual([206, 'bytes 3-5/100000', weights.subarray(3, 6)])
    expect(await range('bytes=99998-')).toEqual([206, 'bytes 99998-99999/100000', weights.subarray(99998)])
    expect(await range('bytes=2-3', 'config.json')).toEqual([206, 'bytes 2-3/7', new TextEncoder().encode('a"')])
    expect((await range('bytes=100000-')).slice(0, 2)).toEqual([416, 'bytes */100000'])
    expect((await range('bytes=-8'))[0]).toBe(400)
    expect((await range('bytes=0-1,4-5'))[0]).toBe(400)
  })

  it('may be larger than any memory', async () => {
    const response = await get('/me/huge/resolve/main/model.safetensors', { Range: 'bytes=1199999996-' })
    expect(response.headers.get('content-range')).toBe('bytes 1199999996-1199999999/1200000000')
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(Uint8Array.of(252, 253, 254, 255))
  })

  it('never see the token at the CDN, and their signed addresses expire and cannot be forged', async () => {
    expect((await get('/me/open/resolve/main/model.safetensors', as('hf_reader'))).status).toBe(200)
    expect(hub.requests.map(({ at, authorization, status, file }) => [at, authorization, status, file])).toEqual([
      ['hub', true, 302, 'model.safetensors'],
      ['cdn', false, 200, 'model.safetensors'],
    ])
    const signed = (await get('/me/open/resolve/main/model.safetensors', {}, { redirect: 'manual' })).headers.get('location') as string
    expect((await fetch(signed, { headers: as('hf_reader') })).status).toBe(400)
    expect((await fetch(signed.replace(/Expires=\d+/, 'Expires=99999999999999'))).status).toBe(403)
    const brief = await startHub({ repos: { 'a/b': { files: { 'x.bin': 'x' } } }, signedUrlSeconds: -1 })
    const response = await fetch(`${brief.endpoint}/a/b/resolve/main/x.bin`)
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, '*'])
    await brief.stop()
  })
})

describe('refusals', () => {
  it.each<[string, string, string | null, number, string | null]>([
    ['an unknown repository, a stranger', '/api/models/no/body', null, 401, 'RepoNotFound'],
    ['an unknown repository, someone', '/api/models/no/body', 'hf_other', 404, 'RepoNotFound'],
    ['a private one, a stranger', '/me/secret/resolve/main/config.json', null, 401, 'RepoNotFound'],
    ['a private one, someone else', '/me/secret/resolve/main/config.json', 'hf_other', 404, 'RepoNotFound'],
    ['a private one, its reader', '/me/secret/resolve/main/config.json', 'hf_reader', 200, null],
    ['a bad token', '/me/open/resolve/main/config.json', 'hf_bad', 401, null],
    ['a gated one, its info', '/api/models/me/gated', null, 200, null],
    ['a gated one, a stranger', '/me/gated/resolve/main/config.json', null, 401, 'GatedRepo'],
    ['a gated one, not accepted', '/me/gated/resolve/main/config.json', 'hf_other', 403, 'GatedRepo'],
    ['a gated one, no scope', '/me/gated/resolve/main/config.json', 'hf_narrow', 403, null],
    ['a gated one, accepted', '/me/gated/resolve/main/config.json', 'hf_reader', 200, null],
    ['a revision', '/me/open/resolve/v9/config.json', null, 404, 'RevisionNotFound'],
    ['a file', '/me/open/resolve/main/nothing.json', null, 404, 'EntryNotFound'],
  ])('%s', async (_, path, token, status, code) => {
    const response = await get(path, token === null ? {} : as(token))
    expect(codes(response)).toEqual([status, code])
    if (!response.ok) expect(response.headers.get('x-error-message')).toBeTruthy()
  })

  it("reach @huggingface/hub as its own errors", async () => {
    const error = await modelInfo({ name: 'no/body', hubUrl: hub.endpoint }).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(HubApiError)
    expect(error).toMatchObject({ statusCode: 401, data: { error: 'Invalid username or password.' } })
  })
})

describe('browsers', () => {
  const origin = { Origin: 'http://page.test' }
  it('are told the origin and the headers by the endpoint, also on redirects and refusals', async () => {
    for (const path of ['/me/open/resolve/main/config.json', '/me/open/resolve/main/model.safetensors', '/api/models/no/body']) {
      const { headers } = await get(path, origin, { redirect: 'manual' })
      expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual(['http://page.test', 'Origin'])
      expect(headers.get('access-control-expose-headers')).toContain('X-Error-Code')
      expect(headers.get('access-control-expose-headers')).not.toContain('Retry-After')
    }
    const preflight = await get('/me/open/resolve/main/config.json', { ...origin, 'Access-Control-Request-Headers': 'authorization' }, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'authorization'])
  })

  it('are let in by the CDN, but not with a preflight', async () => {
    const response = await get('/me/open/resolve/main/model.safetensors', { ...origin, Range: 'bytes=0-0' })
    expect([response.headers.get('access-control-allow-origin'), response.headers.get('access-control-expose-headers')]).toEqual(['*', '*'])
    const preflight = await fetch(response.url, { method: 'OPTIONS', headers: origin })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })
})

describe('faults', () => {
  const path = '/me/open/resolve/main/model.safetensors'
  const read = async (range = 'bytes=10-') => {
    const response = await get(path, { Range: range })
    const parts: Uint8Array[] = []
    let broken = false
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) parts.push(chunk)
    } catch {
      broken = true
    }
    return { response, bytes: Buffer.concat(parts), broken }
  }

  it('cut, shorten and tamper with a body, each for the asked number of requests', async () => {
    hub.fault({ kind: 'drop', afterBytes: 500, on: 'model.safetensors' })
    const dropped = await read()
    expect([dropped.broken, dropped.bytes.length]).toEqual([true, 500])
    expect((await read()).bytes.length).toBe(99_990)
    hub.fault({ kind: 'truncate', bytes: 7, times: 2 })
    for (const length of [7, 7, 99_990]) expect(await read().then(({ broken, bytes }) => [broken, bytes.length])).toEqual([false, length])
    hub.fault({ kind: 'tamper', byte: 12 })
    const tampered = (await read()).bytes
    expect([tampered[1], tampered[2], tampered[3]]).toEqual([weights[11], (weights[12] as number) ^ 255, weights[13]])
  })

  it('lie about the range, the size and the kind of answer', async () => {
    hub.fault({ kind: 'ignore-range' })
    hub.fault({ kind: 'wrong-range', shift: 5 })
    hub.fault({ kind: 'wrong-size', size: 3 })
    hub.fault({ kind: 'web-page' })
    hub.fault({ kind: 'expired' })
    expect((await read()).bytes.length).toBe(100_000)
    expect((await read()).response.headers.get('content-range')).toBe('bytes 15-100004/100000')
    expect((await read()).response.headers.get('content-range')).toBe('bytes 10-99999/3')
    expect((await read()).bytes.toString()).toContain('<!doctype html>')
    expect((await read()).response.status).toBe(403)
  })

  it('refuse for a while, at the endpoint or at the CDN', async () => {
    hub.fault({ kind: 'status', status: 429, retryAfter: 3, times: 2, at: 'hub' })
    const refused = await get('/api/models/me/open')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
    expect((await get(path)).status).toBe(429)
    hub.fault({ kind: 'status', status: 503, at: 'cdn' })
    expect(await read().then(({ response }) => [response.status, new URL(response.url).origin])).toEqual([503, hub.cdn])
    expect((await read()).response.status).toBe(206)
  })

  it('slow down, and stop delivering without an end', async () => {
    hub.fault({ kind: 'slow', bytesPerSecond: 400 })
    const start = performance.now()
    expect((await read('bytes=0-99')).bytes.length).toBe(100)
    expect(performance.now() - start).toBeGreaterThan(200)
    hub.fault({ kind: 'stall', afterBytes: 30 })
    const response = await get(path)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    expect((await reader.read()).value?.length).toBe(30)
    const next = await Promise.race([reader.read(), new Promise((resolve) => setTimeout(() => resolve('nothing'), 100))])
    expect(next).toBe('nothing')
    await reader.cancel()
  })
})

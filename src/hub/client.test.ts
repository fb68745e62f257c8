import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startHub, type Hub } from '../../e2e/hub/server'
import { describeError, PlaygroundError } from '../core/errors'
import { readAll } from './bytes'
import { checkToken } from './check-token'
import { HubClient, type HubClientOptions } from './client'

const weights = Uint8Array.from({ length: 5000 }, (_, i) => i & 255)
const files = {
  'config.json': '{"model_type":"qwen3"}',
  'page.json': '  <!doctype html>',
  'broken.json': '{"a":',
  'chat template (ü).jinja': 'héllo',
  'sub/a b.bin': weights,
  'model.safetensors': weights,
}
const SECRET = 'hf_reader'

let hub: Hub
beforeAll(async () => {
  hub = await startHub({
    repos: {
      'me/open': { files, revisions: { dev: { 'config.json': '{"model_type":"qwen2"}' } } },
      'me/secret': { files, private: true },
      'me/gated': { files, gated: 'manual' },
    },
    tokens: { [SECRET]: { reads: ['me/secret'], accepted: ['me/gated'] }, hf_other: {}, hf_narrow: { noGatedScope: true } },
    pageSize: 3,
  })
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.clearFaults()
  hub.requests.length = 0
})
/** Wherever the token was sent, it was the endpoint. */
afterEach(() => expect(hub.requests.filter(({ at, authorization }) => at === 'cdn' && authorization)).toEqual([]))

function client(token: string | null = null, more: Partial<HubClientOptions> = {}) {
  const waits: number[] = []
  const options: HubClientOptions = { endpoint: `${hub.endpoint}/`, token: () => token, sleep: async (ms) => void waits.push(ms / 1000), random: () => 1, ...more }
  return Object.assign(new HubClient(options), { waits })
}
const failure = async (promise: Promise<unknown>) => {
  const error = await promise.then(() => { throw new Error('it worked') }, (e: unknown) => e as PlaygroundError)
  expect(error).toBeInstanceOf(PlaygroundError)
  return error
}

describe('repo', () => {
  it('finds the commit and every file with size and sha256, over all pages', async () => {
    const repo = await client().repo('me/open', 'main')
    const sha256 = createHash('sha256').update(weights).digest('hex')
    expect(repo).toEqual({
      repo: 'me/open',
      revision: 'main',
      sha: hub.sha('me/open'),
      private: false,
      gated: false,
      files: [
        { path: 'broken.json', size: 5, sha256: null },
        { path: 'chat template (ü).jinja', size: 6, sha256: null },
        { path: 'config.json', size: 22, sha256: null },
        { path: 'model.safetensors', size: 5000, sha256 },
        { path: 'page.json', size: 17, sha256: null },
        { path: 'sub/a b.bin', size: 5000, sha256 },
      ],
    })
    expect(hub.requests.map(({ path }) => path.replace(/[0-9a-f]{40}/, 'SHA'))).toEqual([
      '/api/models/me/open/revision/main',
      ...Array<string>(3).fill('/api/models/me/open/tree/SHA'),
    ])
  })

  it('reads a branch, and stays at its commit when the branch moves on', async () => {
    const hubClient = client()
    const repo = await hubClient.repo('me/open', 'dev')
    await hub.commit('me/open', { 'config.json': '{"model_type":"other"}' }, 'dev')
    expect(await hubClient.json(repo, 'config.json')).toEqual({ model_type: 'qwen2' })
  })

  it('reads private and gated repositories with a token that may', async () => {
    for (const id of ['me/secret', 'me/gated']) {
      const repo = await client(`  ${SECRET}\n`).repo(id)
      expect([repo.private, repo.gated]).toEqual(id === 'me/secret' ? [true, false] : [false, 'manual'])
      expect(await client(SECRET).json(repo, 'config.json')).toEqual({ model_type: 'qwen3' })
      expect(Buffer.from(await client(SECRET).bytesOf(repo, 'model.safetensors')).equals(weights)).toBe(true)
    }
    expect(hub.requests.filter(({ at }) => at === 'hub').every(({ authorization }) => authorization)).toBe(true)
    expect(hub.requests.filter(({ at }) => at === 'cdn')).toHaveLength(2)
  })

  it.each<[string, string, string, string | null, string, string]>([
    ['an unknown model', 'no/body', 'main', null, 'The Hub shows no model no/body to strangers (401)', 'Check the spelling'],
    ['an unknown model, with a token', 'no/body', 'main', 'hf_other', 'has no model no/body that this token may see (404)', 'Check the spelling'],
    ['a private model', 'me/secret', 'main', null, 'the id is wrong or the repository is private', 'needs a token'],
    ['a private model of others', 'me/secret', 'main', 'hf_other', 'no model me/secret that this token may see', 'account of this token'],
    ['a token that is not valid', 'me/open', 'main', 'hf_revoked', 'The Hub does not accept this token (401)', 'revoked'],
    ['an unknown revision', 'me/open', 'v9', null, "me/open has no revision 'v9' (404)", 'Take main'],
    ['no id', 'me', 'main', null, "'me' is no id of a model", 'owner/name'],
    ['an id that would leave the path', 'me/../../x', 'main', null, 'is no id of a model', 'owner/name'],
  ])('says what is wrong with %s', async (_, id, revision, token, message, advice) => {
    const error = await failure(client(token).repo(id, revision))
    expect(error.kind).toBe('model')
    expect(error.message).toContain(message)
    expect(error.advice).toContain(advice)
  })

  it.each<[string, string | null, string, string]>([
    ['no token', null, 'me/gated is gated, and the Hub does not know who asks (401)', 'Accept its licence at https://huggingface.co/me/gated'],
    ['an account that has not accepted', 'hf_other', 'account of this token has no access to it yet (403)', 'Accept its licence at https://huggingface.co/me/gated'],
    ['a token without the scope', 'hf_narrow', 'lacks a permission for me/gated (403)', 'fine-grained'],
  ])('lists a gated model, and says at its files what is missing: %s', async (_, token, message, advice) => {
    const repo = await client(token).repo('me/gated')
    expect(repo.files).toHaveLength(6)
    const error = await failure(client(token).json(repo, 'config.json'))
    expect(error.message).toContain(message)
    expect(error.advice).toContain(advice)
  })

  it('tries again what may pass, and says how often it tried', async () => {
    hub.fault({ kind: 'status', status: 429, retryAfter: 2 })
    hub.fault({ kind: 'status', status: 502 })
    const patient = client()
    expect((await patient.repo('me/open')).files).toHaveLength(6)
    expect(patient.waits).toEqual([3, 1])
    hub.fault({ kind: 'status', status: 429, times: 9 })
    const error = await failure(client(null, { maxTries: 3 }).repo('me/open'))
    expect(error.message).toBe('The Hub refuses more requests for now (429) for me/open, tried 3 times.')
  })

  it('says that it could not be reached, did not answer, or was not the Hub', async () => {
    const nobody = client(null, { endpoint: 'http://127.0.0.1:9', maxTries: 2 })
    expect((await failure(nobody.repo('me/open'))).message).toMatch(/^127\.0\.0\.1:9 could not be reached for me\/open/)
    const silent = client(null, { stallMs: 30, maxTries: 2, fetch: (_, { signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))) })
    expect((await failure(silent.repo('me/open'))).message).toContain('nothing came for 0.03 s, tried 2 times')
    const page = client(null, { fetch: async () => new Response('<html>') })
    expect((await failure(page.repo('me/open'))).message).toBe('The answer about me/open is not one that the Hub gives.')
    const odd = client(null, { fetch: async () => Response.json({ id: 'me/open', sha: '../x', private: false, gated: false }) })
    expect((await failure(odd.repo('me/open'))).message).toBe('The answer about me/open is not one that the Hub gives.')
  })

  it('ends as stopped', async () => {
    const stop = new AbortController()
    hub.fault({ kind: 'status', status: 503 })
    const error = await failure(client(null, { sleep: async () => stop.abort() }).repo('me/open', 'main', { signal: stop.signal }))
    expect(error.kind).toBe('stopped')
  })
})

describe('files', () => {
  it('are read whole, as text, as JSON and by ranges, whatever their names', async () => {
    const hubClient = client()
    const repo = await hubClient.repo('me/open')
    expect(await hubClient.json(repo, 'config.json')).toEqual({ model_type: 'qwen3' })
    expect(await hubClient.text(repo, 'chat template (ü).jinja')).toBe('héllo')
    expect(Buffer.from(await hubClient.bytesOf(repo, 'sub/a b.bin')).equals(weights)).toBe(true)
    let reported = 0
    const source = hubClient.open(repo, 'model.safetensors', { onProgress: (bytes) => void (reported += bytes) })
    expect([source.name, source.size]).toEqual(['me/open/model.safetensors', 5000])
    expect(await readAll(source, 4000, 4003)).toEqual(weights.slice(4000, 4003))
    expect(reported).toBe(3)
    const resolved = hub.requests.filter(({ path }) => path.includes('/resolve/'))
    expect(new Set(resolved.map(({ path }) => path.split('/')[4]))).toEqual(new Set([hub.sha('me/open')]))
  })

  it.each<[string, string]>([
    ['page.json', 'page.json of me/open is a web page, not JSON.'],
    ['broken.json', 'broken.json of me/open is not JSON.'],
    ['nothing.json', "me/open has no file 'nothing.json' at revision 'main' (404)."],
  ])('are refused as JSON: %s', async (path, sentence) => {
    const hubClient = client()
    const repo = await hubClient.repo('me/open')
    hub.requests.length = 0
    const error = await failure(hubClient.json(repo, path))
    expect(error.message).toBe(sentence)
    expect(hub.requests.length).toBe(path === 'nothing.json' ? 0 : 2)
  })

  it('are refused when a network gives its sign-in page, when they are damaged, and when they are another size', async () => {
    const hubClient = client()
    const repo = await hubClient.repo('me/open')
    hub.fault({ kind: 'web-page' })
    expect((await failure(hubClient.json(repo, 'config.json'))).message).toBe('Instead of me/open/config.json came a web page.')
    hub.fault({ kind: 'tamper', byte: 100 })
    expect((await failure(hubClient.bytesOf(repo, 'model.safetensors'))).message).toMatch(/^me\/open\/model\.safetensors arrived damaged: its sha256 is/)
    const lying = { ...repo, files: [{ path: 'config.json', size: 23, sha256: null }] }
    expect((await failure(hubClient.json(lying, 'config.json'))).message).toBe('me/open/config.json should have 23 bytes, but the server has 22.')
  })

  it('go on after broken connections, and give up as the client says', async () => {
    const hubClient = client()
    const repo = await hubClient.repo('me/open')
    hub.fault({ kind: 'drop', afterBytes: 100, times: 3 })
    expect(Buffer.from(await hubClient.bytesOf(repo, 'model.safetensors')).equals(weights)).toBe(true)
    hub.fault({ kind: 'status', status: 503, times: 99 })
    expect((await failure(hubClient.bytesOf(repo, 'model.safetensors', { maxTries: 2 }))).message).toContain('tried 2 times')
  })
})

describe('the token', () => {
  it('is refused before any request when it is none, without being shown', async () => {
    const bad = 'sk-very-secret'
    const error = await failure(client(bad).repo('me/open'))
    expect(error.kind).toBe('config')
    expect(error.message).toContain('does not start with hf_')
    expect(describeError(error)).not.toContain('secret')
    expect(describeError(await failure(client('hf_abc\r\nX-Evil: 1').repo('me/open')))).not.toContain('Evil')
    expect(hub.requests).toEqual([])
    expect([checkToken(null), checkToken('  '), checkToken(' hf_x1 ')]).toEqual([null, null, 'hf_x1'])
  })

  it('goes to no other origin, not even where the list of files points there', async () => {
    const sent: [string, boolean][] = []
    const evil = 'http://evil.test'
    const hubClient = client(SECRET, {
      fetch: async (url, init) => {
        sent.push([new URL(url).origin, new Headers(init.headers).has('Authorization')])
        if (url.startsWith(evil)) return Response.json([])
        const answer = await fetch(url, init)
        if (!url.includes('/tree/')) return answer
        return new Response(answer.body, { headers: { Link: `<${evil}/next>; rel="next"` } })
      },
    })
    await hubClient.repo('me/open')
    expect(sent).toEqual([[hub.endpoint, true], [hub.endpoint, true], [evil, false]])
  })

  it('is in no address and no error', async () => {
    const urls: string[] = []
    const hubClient = client(SECRET, { maxTries: 1, fetch: (url, init) => (urls.push(url), fetch(url, init)) })
    const repo = await hubClient.repo('me/secret')
    const source = hubClient.open(repo, 'model.safetensors', { maxTries: 1 })
    const errors: unknown[] = []
    for (const status of [429, 503] as const) {
      hub.fault({ kind: 'status', status, at: 'hub' })
      errors.push(await failure(readAll(source)))
      hub.fault({ kind: 'status', status, at: 'hub' })
      errors.push(await failure(hubClient.repo('me/secret')))
    }
    errors.push(await failure(client(SECRET, { endpoint: 'http://127.0.0.1:9', maxTries: 1 }).repo('me/secret')))
    for (const error of errors) {
      const { message, advice, stack, cause } = error as PlaygroundError
      expect([message, advice, stack, String(cause), JSON.stringify(cause)].join('\n')).not.toContain(SECRET)
    }
    expect([...urls, source.name].join('\n')).not.toContain(SECRET)
    expect(hub.requests.filter(({ authorization }) => authorization).length).toBeGreaterThan(4)
  })
})

import { afterEach, describe, expect, it, vi } from 'vitest'
import { waitSeconds } from './retry'
import { cleaned, failureOf, hubError, missingFile, retryAfterSeconds, type HubContext, type HubFailure } from './sentences'

const url = 'https://huggingface.co/me/m/resolve/main/config.json'
const status = (code: number, error: string | null = null, more: Partial<Extract<HubFailure, { kind: 'status' }>> = {}): HubFailure => ({
  kind: 'status',
  status: code,
  code: error,
  message: null,
  url,
  retryAfter: null,
  ...more,
})
const anyone: HubContext = { repo: 'me/m', revision: 'main', hasToken: false }
const someone: HubContext = { ...anyone, hasToken: true }
afterEach(() => vi.unstubAllGlobals())

describe('hubError', () => {
  it.each<[string, HubFailure, HubContext, string, string]>([
    ['401 for a stranger', status(401, 'RepoNotFound'), anyone, 'the id is wrong or the repository is private', 'read access'],
    ['401 of a gated repository', status(401, 'GatedRepo'), anyone, 'me/m is gated', 'Accept its licence at https://huggingface.co/me/m, then paste a token'],
    ['401 of a bad token', status(401, null, { message: 'Invalid credentials' }), someone, 'does not accept this token (401)', 'expired or revoked'],
    ['403 gated', status(403, 'GatedRepo'), someone, 'me/m is gated, and the account of this token has no access', 'Accept its licence at https://huggingface.co/me/m'],
    ['403 scope', status(403, null, { message: 'Please enable access to public gated' }), someone, 'lacks a permission for me/m (403) (“Please enable access', 'fine-grained token needs read access'],
    ['403 for a stranger', status(403), anyone, 'The Hub refused me/m (403)', 'Load the model again'],
    ['403 of the storage', status(403, null, { url: 'https://cdn.test/x?Expires=1&Signature=abc' }), { ...someone, path: 'model.safetensors' }, 'The Hub refused model.safetensors of me/m (403)', 'again'],
    ['404 repository', status(404, 'RepoNotFound'), anyone, 'The Hub has no model me/m (404)', 'Check the spelling'],
    ['404 repository, with a token', status(404, 'RepoNotFound'), someone, 'no model me/m that this token may see', 'account of this token'],
    ['404 revision', status(404, 'RevisionNotFound'), { ...anyone, revision: 'v9' }, "me/m has no revision 'v9' (404)", 'Take main'],
    ['404 file', status(404, 'EntryNotFound'), { ...anyone, path: 'config.json', revision: 'v1' }, "me/m has no file 'config.json' at revision 'v1' (404)", 'tree/v1'],
    ['404 file, headers hidden', status(404), { ...anyone, path: 'a.json' }, "me/m has no file 'a.json'", 'tree/main'],
    ['429, time known', status(429, null, { retryAfter: 17 }), { ...anyone, tries: 5 }, 'refuses more requests for now (429) for me/m, tried 5 times', 'Wait 17 s'],
    ['429, time unknown', status(429), someone, '(429)', 'Wait a few minutes'],
    ['503', status(503), { ...anyone, tries: 8 }, 'a fault of its own (503) at me/m, tried 8 times', 'status.huggingface.co'],
    ['another', status(418, null, { message: 'teapot' }), { ...anyone, revision: 'v1' }, 'refused me/m at v1 with 418 (“teapot”)', 'Check the id'],
    ['a failed fetch', { kind: 'network', cause: new TypeError('Failed to fetch'), url }, { ...anyone, tries: 3 }, 'huggingface.co could not be reached for me/m (Failed to fetch, tried 3 times)', 'blocker'],
    ['a broken connection', { kind: 'broken', what: 'nothing came for 30 s', url }, { ...anyone, path: 'a.bin' }, 'The download of a.bin of me/m broke off: nothing came for 30 s', 'Check the connection'],
  ])('%s', (_, failure, context, message, advice) => {
    const error = hubError(failure, context)
    expect(error.kind).toBe('model')
    expect(error.message).toContain(message)
    expect(error.advice).toContain(advice)
  })

  it('advises a token against 429 only where there is none', () => {
    expect(hubError(status(429), anyone).advice).toContain('token')
    expect(hubError(status(429), someone).advice).not.toContain('token')
  })

  it('knows an offline computer, where the browser says so', () => {
    vi.stubGlobal('navigator', { onLine: false })
    const error = hubError({ kind: 'network', cause: new TypeError('Failed to fetch'), url }, anyone)
    expect(error.message).toBe('me/m could not be downloaded: this computer is offline.')
  })

  it('shows no token and no signature of what others wrote', () => {
    const said = 'Token hf_abcDEF123 may not\nread https://x.test/a?Signature=s3cret now'
    const error = hubError(status(403, null, { message: said }), someone)
    expect(error.message).toContain('Token hf_… may not read https://x.test/a now')
    expect(error.message + error.advice).not.toMatch(/abcDEF|s3cret/)
    expect(cleaned('x'.repeat(999))).toHaveLength(300)
  })

  it('names a file that a listing lacks in the same words', () => {
    const served = hubError(status(404, 'EntryNotFound'), { ...anyone, path: 'config.json' })
    expect(missingFile('me/m', 'main', 'config.json').message).toBe(served.message)
  })
})

describe('failureOf', () => {
  it('reads the headers of the Hub', () => {
    const headers = { 'X-Error-Code': 'GatedRepo', 'X-Error-Message': 'no', 'Retry-After': '5' }
    expect(failureOf(new Response('', { status: 403, headers }))).toEqual({ kind: 'status', status: 403, code: 'GatedRepo', message: 'no', url: '', retryAfter: 5 })
  })

  it('reads Retry-After in both forms', () => {
    const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT')
    expect(['12', ' 0 ', 'Wed, 21 Oct 2026 07:28:30 GMT', 'Wed, 21 Oct 2026 07:00:00 GMT', 'soon', '', null].map((v) => retryAfterSeconds(v, now))).toEqual([12, 0, 30, 0, null, null, null])
  })
})

describe('waitSeconds', () => {
  const waits = (failure: HubFailure, random: number) => Array.from({ length: 8 }, (_, i) => waitSeconds(failure, i + 1, random))
  it('doubles up to 30 s, for a rate limit up to 120 s, with half of it jitter', () => {
    expect(waits(status(503), 1)).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30])
    expect(waits(status(503), 0)).toEqual([0.25, 0.5, 1, 2, 4, 8, 15, 15])
    expect(waits(status(429), 1)).toEqual([5, 10, 20, 40, 80, 120, 120, 120])
    // Seven waits outlast the Hub's window.
    expect(waits(status(429), 0.6).slice(0, 7).reduce((a, b) => a + b)).toBeGreaterThan(300)
  })

  it('does what Retry-After says, up to the window of the Hub', () => {
    expect(waitSeconds(status(429, null, { retryAfter: 12 }), 1, 0.5)).toBe(12.5)
    expect(waitSeconds(status(503, null, { retryAfter: 9999 }), 1, 0)).toBe(300)
  })
})

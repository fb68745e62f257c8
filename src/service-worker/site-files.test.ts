/** Which requests are the service worker's business, what it keeps of a host's answers, and what it does when the host errs. */

import { describe, expect, it } from 'vitest'
import type { SiteManifest } from './messages'
import { ownPath, SiteFiles } from './site-files'
import { memoryCaches } from './testing/memory-caches'

const SCOPE = 'https://host.test/some/path/'
const START = '<html><script src="./assets/index-1.js"></script>'
const V1: SiteManifest = { version: 'v1', entry: 'assets/index-1.js', files: { '': 'sha256-s1', 'assets/index-1.js': 'sha256-i1', 'models/m.bin': 'sha256-m' } }
const V2: SiteManifest = { version: 'v2', entry: 'assets/index-2.js', files: { '': 'sha256-s2', 'assets/index-2.js': 'sha256-i2', 'models/m.bin': 'sha256-m' } }

/** A host with these files; what differs from the built ones is refused as a browser refuses a wrong `integrity`. */
function host(files: Record<string, string>, damaged: string[] = []) {
  const asked: string[] = []
  const load = async (url: string, init: RequestInit = {}) => {
    const path = url.slice(SCOPE.length)
    asked.push(path)
    const text = files[path]
    if (text === undefined) return new Response('no such file', { status: 404 })
    if (init.integrity !== undefined && damaged.includes(path)) throw new TypeError('Failed to fetch')
    return new Response(text, { headers: { 'Content-Type': 'text/x', 'Content-Encoding': 'gzip', 'Content-Length': '3', Vary: 'Origin' } })
  }
  return { asked, load }
}

const FILES = { '': START, 'assets/index-1.js': 'program 1', 'models/m.bin': 'weights' }

function site(manifest: SiteManifest, load: ReturnType<typeof host>['load'], memory = memoryCaches()) {
  return { files: new SiteFiles(manifest, { scope: SCOPE, caches: memory.caches, fetch: load }), memory }
}

const noFallback = () => Promise.reject(new TypeError('offline'))

describe('ownPath', () => {
  const request = (url: string, headers: Record<string, string> = {}, method = 'GET') => ({ url, method, headers: new Headers(headers) })

  it.each([
    [SCOPE, ''],
    [`${SCOPE}?code=1&state=2`, ''],
    [`${SCOPE}index.html`, ''],
    [`${SCOPE}assets/a.js`, 'assets/a.js'],
  ])('%s is its own: %j', (url, path) => {
    expect(ownPath(request(url), SCOPE)).toBe(path)
  })

  it.each([
    ['another origin', request('https://huggingface.co/some/path/assets/a.js')],
    ['another port', request('https://host.test:8443/some/path/')],
    ['another folder', request('https://host.test/some/other/')],
    ['a range', request(`${SCOPE}models/m.bin`, { Range: 'bytes=0-9' })],
    ['a secret', request(`${SCOPE}models/m.bin`, { Authorization: 'Bearer x' })],
    ['an upload', request(SCOPE, {}, 'POST')],
    ['a question about a file', request(SCOPE, {}, 'HEAD')],
  ])('leaves %s alone', (_, it) => {
    expect(ownPath(it, SCOPE)).toBeNull()
  })
})

describe('SiteFiles', () => {
  it('answers with the kept file and both headers, unpacked, when the host is gone', async () => {
    const { asked, load } = host(FILES)
    const { files, memory } = site(V1, load)
    await files.keepAll()
    expect(asked).toEqual(['', 'assets/index-1.js', 'models/m.bin'])
    expect(Object.keys(memory.listing())).toEqual(['grpo-playground /some/path/ v1'])
    const answer = await files.answer('models/m.bin', noFallback)
    expect(await answer.text()).toBe('weights')
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'text/x',
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-opener-policy': 'same-origin',
    })
    expect(asked).toHaveLength(3)
  })

  it('keeps what is asked for before it was kept, and asks the host once for two at a time', async () => {
    const { asked, load } = host(FILES)
    const { files } = site(V1, load)
    const [a, b] = await Promise.all([files.answer('models/m.bin', noFallback), files.answer('models/m.bin', noFallback)])
    expect([await a.text(), await b.text()]).toEqual(['weights', 'weights'])
    expect(asked).toEqual(['models/m.bin'])
  })

  it('does not keep a file that is not what was built, passes it on as it is, and says so when all is to be kept', async () => {
    const { load } = host(FILES, ['models/m.bin'])
    const { files, memory } = site(V1, load)
    const answer = await files.answer('models/m.bin', () => Promise.resolve(new Response('other weights')))
    expect(await answer.text()).toBe('other weights')
    expect(answer.headers.get('Cross-Origin-Embedder-Policy')).toBe('require-corp')
    await expect(files.keepAll()).rejects.toThrow('Failed to fetch')
    expect(memory.listing()['grpo-playground /some/path/ v1']).toHaveLength(2)
  })

  it('does without a file that the host does not have', async () => {
    const { load } = host({ '': START, 'assets/index-1.js': 'program 1' })
    const { files, memory } = site(V1, load)
    await files.keepAll()
    expect(memory.listing()['grpo-playground /some/path/ v1']).toHaveLength(2)
  })

  it('keeps the start page with what the host put into it, and takes it anew at each visit', async () => {
    const mine: Record<string, string> = { ...FILES, '': `${START}<script>client_id</script>` }
    const { load } = host(mine)
    const { files } = site(V1, load)
    await files.keepAll()
    mine[''] = `${START}<script>another</script>`
    await files.keepAll()
    expect(await (await files.answer('', noFallback)).text()).toContain('another')
  })

  it('keeps no start page of another version', async () => {
    const mine: Record<string, string> = { ...FILES }
    const { load } = host(mine)
    const { files } = site(V1, load)
    await files.keepAll()
    mine[''] = START.replace('index-1', 'index-2')
    await files.keepAll()
    expect(await (await files.answer('', noFallback)).text()).toBe(START)
  })

  it('downloads of a new version only what changed, serves both, and forgets the old one alone', async () => {
    const first = site(V1, host(FILES).load)
    await first.files.keepAll()
    await first.memory.caches.open('grpo-playground /some/other/ v1')
    const { asked, load } = host({ '': START.replace('index-1', 'index-2'), 'assets/index-2.js': 'program 2' })
    const { files, memory } = site(V2, load, first.memory)
    await files.keepAll()
    expect(asked).toEqual(['', 'assets/index-2.js'])
    // A tab that runs the old version and has not loaded all of it.
    expect(await (await files.answer('assets/index-1.js', noFallback)).text()).toBe('program 1')
    await files.forgetOthers()
    expect(Object.keys(memory.listing())).toEqual(['grpo-playground /some/other/ v1', 'grpo-playground /some/path/ v2'])
    await expect(files.answer('assets/index-1.js', noFallback)).rejects.toThrow('offline')
    expect(await (await files.answer('models/m.bin', noFallback)).text()).toBe('weights')
  })

  it('forgets all its versions, and nothing of another site', async () => {
    const first = site(V1, host(FILES).load)
    await first.files.keepAll()
    await first.memory.caches.open('grpo-playground /some/other/ v1')
    const { files, memory } = site(V2, host(FILES).load, first.memory)
    await files.answer('models/m.bin', noFallback)
    await files.forgetAll()
    expect(Object.keys(memory.listing())).toEqual(['grpo-playground /some/other/ v1'])
  })

  it('knows its files and nothing else of the folder', () => {
    const { files } = site(V1, host(FILES).load)
    expect(['', 'models/m.bin', 'assets/old.js', 'models/other.bin', 'constructor', 'no-such-page'].map((path) => files.knows(path))).toEqual([true, true, true, false, false, false])
  })
})

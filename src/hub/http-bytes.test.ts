import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startHub, type Hub } from '../../e2e/hub/server'
import { PlaygroundError } from '../core/errors'
import { readAll } from './bytes'
import { HttpBytes, type HttpBytesOptions } from './http-bytes'

const file = Uint8Array.from({ length: 1_000_003 }, (_, i) => (i * 31 + (i >> 8)) & 255)

let hub: Hub
beforeAll(async () => {
  hub = await startHub({ repos: { 'me/m': { files: { 'model.safetensors': file, 'small.json': '{"a":1}', 'empty.json': '', 'empty.bin': '' } } } })
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.clearFaults()
  hub.requests.length = 0
})

afterEach(() => void vi.useRealTimers())
/** From here on only the test lets time pass for the reader; the Hub and the network keep theirs. */
const holdTheClock = () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

/** Options with a clock that notes the waits instead of waiting. */
function options(more: Partial<HttpBytesOptions> = {}, path = 'model.safetensors') {
  const waits: number[] = []
  const base: HttpBytesOptions = {
    url: `${hub.endpoint}/me/m/resolve/main/${path}`,
    name: `me/m/${path}`,
    context: { repo: 'me/m', revision: 'main', path, hasToken: false },
    sleep: async (ms) => void waits.push(ms / 1000),
    random: () => 1,
  }
  return { waits, options: { ...base, ...more } }
}
const ranges = () => hub.requests.filter(({ at }) => at === 'hub').map(({ range }) => range)
/** toEqual on a megabyte takes seconds. */
const equal = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0
const failure = (promise: Promise<unknown>) => promise.then(() => { throw new Error('it worked') }, (e: unknown) => e as PlaygroundError)

describe('HttpBytes', () => {
  it('reads the whole file and any range, in one request each, by open-ended or single ranges', async () => {
    const source = new HttpBytes(file.length, options().options)
    expect(source.name).toBe('me/m/model.safetensors')
    expect(equal(await readAll(source), file)).toBe(true)
    expect(await readAll(source, 5, 9)).toEqual(file.slice(5, 9))
    expect(await readAll(source, 1_000_000)).toEqual(file.slice(1_000_000))
    expect(await readAll(source, 7, 7)).toEqual(new Uint8Array(0))
    expect(ranges()).toEqual(['bytes=0-', 'bytes=5-8', 'bytes=1000000-'])
    expect(hub.requests.map(({ status }) => status)).toEqual([302, 206, 302, 206, 302, 206])
  })

  it('asks for an unknown size', async () => {
    const source = await HttpBytes.open(options().options)
    expect([source.size, ranges()]).toEqual([file.length, ['bytes=0-0']])
    expect(await readAll(source, 0, 3)).toEqual(file.slice(0, 3))
    hub.fault({ kind: 'ignore-range' })
    hub.fault({ kind: 'status', status: 503 })
    const late = options()
    expect((await HttpBytes.open(late.options)).size).toBe(file.length)
    expect(late.waits).toEqual([0.5])
    const empty = await HttpBytes.open(options({}, 'empty.bin').options)
    expect([empty.size, (await readAll(empty)).length]).toEqual([0, 0])
    hub.fault({ kind: 'web-page' })
    expect((await failure(HttpBytes.open(options({}, 'small.json').options))).message).toBe('Instead of me/m/small.json came a web page.')
    expect((await failure(HttpBytes.open(options({}, 'nothing.json').options))).message).toContain("no file 'nothing.json'")
    const silent = options({ fetch: async () => new Response('abc') })
    expect((await failure(HttpBytes.open(silent.options))).message).toContain('does not say how large')
  })

  it('gives chunks that are their own arrays, and reports each of their bytes', async () => {
    let reported = 0
    const source = new HttpBytes(file.length, options({ onProgress: (bytes) => void (reported += bytes) }).options)
    hub.fault({ kind: 'drop', afterBytes: 300_000 })
    const chunks: Uint8Array[] = []
    for await (const chunk of source.read(0, file.length)) {
      chunks.push(chunk.slice())
      chunk.fill(0)
    }
    expect(Buffer.concat(chunks).equals(file)).toBe(true)
    expect(reported).toBe(file.length)
  })

  it('goes on at the last byte after broken connections, short bodies, 5xx and 429, resolving anew each time', async () => {
    hub.fault({ kind: 'drop', afterBytes: 1000 })
    hub.fault({ kind: 'truncate', bytes: 2000 })
    const notices: { tries: number; reason: string }[] = []
    const { waits, options: all } = options({ onRetry: ({ tries, reason }) => notices.push({ tries, reason }) })
    hub.fault({ kind: 'status', status: 503, at: 'cdn' })
    expect(equal(await readAll(new HttpBytes(file.length, all)), file)).toBe(true)
    expect(ranges()).toEqual(['bytes=0-', 'bytes=0-', 'bytes=1000-', 'bytes=3000-'])
    expect(hub.requests.filter(({ at }) => at === 'cdn').map(({ status }) => status)).toEqual([503, 206, 206, 206])
    expect(notices.map(({ tries }) => tries)).toEqual([1, 1, 1])
    expect(notices[0]?.reason).toBe('the server answered 503')
    expect(notices[2]?.reason).toBe('it ended at byte 3000 of 1000003')
    expect(waits).toEqual([0.5, 0.5, 0.5])
  })

  it('waits as long as Retry-After says, else longer each time, and starts counting anew after progress', async () => {
    hub.fault({ kind: 'status', status: 429, retryAfter: 7 })
    hub.fault({ kind: 'status', status: 429, times: 2 })
    const { waits, options: all } = options({ maxTries: 4 })
    hub.fault({ kind: 'drop', afterBytes: 10 })
    const source = new HttpBytes(file.length, all)
    const reader = source.read(0, file.length)
    let at = 0
    for await (const chunk of reader) {
      if (at === 0) hub.fault({ kind: 'status', status: 502, times: 2 })
      at += chunk.length
    }
    expect(at).toBe(file.length)
    // 7 + 1 of jitter; 10 and 20 as failures 2 and 3; then the dropped connection is number 1 again.
    expect(waits).toEqual([8, 10, 20, 0.5, 1, 2])
  })

  it.each([
    ['429', { kind: 'status', status: 429, times: 9 }, 'refuses more requests for now (429) for model.safetensors of me/m, tried 3 times'],
    ['503', { kind: 'status', status: 503, times: 9 }, '(503) at model.safetensors of me/m, tried 3 times'],
    ['no byte at all', { kind: 'drop', afterBytes: 0, times: 9 }, 'could not be reached|broke off'],
    ['wrong ranges', { kind: 'wrong-range', shift: 3, times: 9 }, 'byte 0 was asked for and byte 3 came, tried 3 times'],
    ['expired addresses', { kind: 'expired', times: 9 }, 'The Hub refused model.safetensors of me/m (403)'],
  ] as const)('gives up after a number of tries: %s', async (_, fault, sentence) => {
    hub.fault(fault)
    const error = await failure(readAll(new HttpBytes(file.length, options({ maxTries: 3 }).options)))
    expect(error).toBeInstanceOf(PlaygroundError)
    expect(sentence.split('|').some((part) => error.message.includes(part)), error.message).toBe(true)
    expect(error.advice).not.toBe('')
    expect(ranges()).toHaveLength(3)
  })

  it('takes a new address when the signed one has expired', async () => {
    hub.fault({ kind: 'expired', times: 2 })
    expect(equal(await readAll(new HttpBytes(file.length, options().options)), file)).toBe(true)
    expect(ranges()).toHaveLength(3)
  })

  it('skips to the beginning where the server ignores ranges, also after a broken connection', async () => {
    hub.fault({ kind: 'ignore-range', times: 3 })
    let reported = 0
    const source = new HttpBytes(file.length, options({ onProgress: (bytes) => void (reported += bytes) }).options)
    expect(await readAll(source, 700_000, 700_010)).toEqual(file.slice(700_000, 700_010))
    expect(equal(await readAll(source, 999_000), file.slice(999_000))).toBe(true)
    expect(equal(await readAll(source), file)).toBe(true)
    expect(reported).toBe(10 + 1003 + file.length)
  })

  it.each([
    ['a wrong Content-Range once', { kind: 'wrong-range', shift: -1 }],
    ['a wrong Content-Range twice', { kind: 'wrong-range', shift: 100, times: 2 }],
  ] as const)('does not take bytes from elsewhere: %s', async (_, fault) => {
    hub.fault(fault)
    expect(await readAll(new HttpBytes(file.length, options().options), 50, 90)).toEqual(file.slice(50, 90))
  })

  it('refuses at once a file whose size has changed, and a web page in its place', async () => {
    hub.fault({ kind: 'wrong-size', size: 77 })
    const source = new HttpBytes(file.length, options().options)
    expect((await failure(readAll(source))).message).toBe('me/m/model.safetensors should have 1000003 bytes, but the server has 77.')
    hub.fault({ kind: 'web-page' })
    expect((await failure(readAll(source))).message).toBe('Instead of me/m/model.safetensors came a web page.')
    const tooLong = new HttpBytes(2_000_000, options().options)
    expect((await failure(readAll(tooLong, 1_500_000))).message).toContain('should have 2000000 bytes, but the server has 1000003')
    hub.fault({ kind: 'ignore-range' })
    expect((await failure(readAll(new HttpBytes(1000, options().options)))).message).toContain('should have 1000 bytes')
    expect(ranges()).toHaveLength(4)
    expect((await failure(readAll(source, 5, file.length + 1))).message).toContain('bytes 5 to 1000004 were asked for')
    expect(ranges()).toHaveLength(4)
  })

  it('gives up a connection that delivers nothing, and goes on', async () => {
    holdTheClock()
    hub.fault({ kind: 'stall', afterBytes: 4000 })
    const reasons: string[] = []
    let came = 0
    const source = new HttpBytes(file.length, options({ stallMs: 80, onProgress: (bytes) => (came += bytes), onRetry: ({ reason }) => reasons.push(reason) }).options)
    const whole = readAll(source)
    while (came < 4000) await turn()
    // The reader has taken them and waits for more.
    await turn()
    await vi.advanceTimersByTimeAsync(80)
    expect(equal(await whole, file)).toBe(true)
    expect(ranges()).toEqual(['bytes=0-', 'bytes=4000-'])
    expect(reasons).toEqual(['nothing came for 0.08 s'])
    vi.useRealTimers()
    const never = options({ stallMs: 30, maxTries: 2, fetch: () => new Promise(() => undefined) })
    expect((await failure(readAll(new HttpBytes(9, never.options)))).message).toContain('broke off: nothing came for 0.03 s, tried 2 times')
  })

  it('does not take a busy reader for a stalled connection', async () => {
    holdTheClock()
    const source = new HttpBytes(file.length, options({ stallMs: 60 }).options)
    let at = 0
    for await (const chunk of source.read(0, file.length)) {
      if (at === 0) await vi.advanceTimersByTimeAsync(150)
      at += chunk.length
    }
    expect([at, ranges().length]).toEqual([file.length, 1])
  })

  it.each(['before', 'between chunks', 'during a stall', 'during a wait'])('ends as stopped on the signal: %s', async (when) => {
    const stop = new AbortController()
    let came = 0
    const slow = options({
      signal: stop.signal,
      onProgress: (bytes) => {
        // The reader takes them first, and waits for more.
        if ((came += bytes) === 100 && when === 'during a stall') setTimeout(() => stop.abort())
      },
      sleep: async () => {
        stop.abort()
      },
    })
    const source = new HttpBytes(file.length, slow.options)
    if (when === 'before') stop.abort()
    if (when === 'during a stall') hub.fault({ kind: 'stall', afterBytes: 100 })
    if (when === 'during a wait') hub.fault({ kind: 'status', status: 503 })
    const read = async () => {
      for await (const _ of source.read(0, file.length)) if (when === 'between chunks') stop.abort()
    }
    expect(await failure(read())).toMatchObject({ kind: 'stopped', message: 'The download of me/m/model.safetensors was stopped.' })
    expect(ranges()).toHaveLength(when === 'before' ? 0 : 1)
  })

  it('ends the connection of a reader that leaves early', async () => {
    let signal: AbortSignal | null | undefined
    const watched = options({ fetch: (url, init) => fetch(url, { ...init, signal: (signal = init.signal) }) })
    for await (const _ of new HttpBytes(file.length, watched.options).read(0, file.length)) break
    expect(signal?.aborted).toBe(true)
  })

  it('does not repeat what no other try would cure', async () => {
    for (const [path, sentence] of [['nothing.bin', "me/m has no file 'nothing.bin'"]] as const) {
      const error = await failure(readAll(new HttpBytes(4, options({}, path).options)))
      expect(error.message).toContain(sentence)
      expect(ranges()).toHaveLength(1)
    }
  })

  it('says what was wrong when there is no connection at all', async () => {
    const nowhere = options({ url: 'http://127.0.0.1:9/me/m', maxTries: 2 })
    const error = await failure(readAll(new HttpBytes(4, nowhere.options)))
    expect(error.message).toMatch(/^127.0.0.1:9 could not be reached for model.safetensors of me\/m \(.*tried 2 times\)\.$/)
    expect(nowhere.waits).toEqual([0.5])
  })
})

/** The sandbox page's own script, and the programs of its workers, run here with a worker that is no thread. */

import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { NUMBER_GAME, OWN_LOOP } from './examples'
import { customEnvironment } from './environment'
import { liveSource } from './live-source'
import { sandboxClient } from './sandbox-client'
import { sandboxPage, workerSource } from './sandbox-source'

// Seconds pass only where a test says so: a busy machine lets nobody's time run out.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())
/** Whatever was posted so far has been heard, and what follows from it has happened. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}
async function tenSeconds(): Promise<void> {
  await settled()
  vi.advanceTimersByTime(10_000)
}

interface Heard {
  data: unknown
}
type Listener = (event: object) => void

/** Runs a worker's program in this thread. What would loop for ever is written as a promise that never ends. */
class FakeWorker {
  static made: FakeWorker[] = []
  onmessage: ((event: Heard) => void) | null = null
  onerror: ((event: object) => void) | null = null
  ended = false
  private deaf = false
  private readonly heard: Listener[] = []
  private readonly inside: object

  constructor(source: string) {
    FakeWorker.made.push(this)
    this.inside = {
      postMessage: (data: unknown) => void Promise.resolve().then(() => this.ended || this.onmessage?.({ data: structuredClone(data) })),
      addEventListener: (type: string, listen: Listener) => void (type === 'message' && this.heard.push(listen)),
      close: () => (this.deaf = true),
      dispatchEvent: (event: object) => this.heard.forEach((listen) => listen(event)),
    }
    try {
      runInNewContext(source, { self: this.inside, console: {} })
    } catch (error) {
      void Promise.resolve().then(() => this.onerror?.({ message: `Uncaught ${String(error)}`, lineno: 3, preventDefault: () => undefined }))
    }
  }

  postMessage(data: unknown): void {
    void Promise.resolve().then(() => this.ended || this.deaf || this.heard.forEach((listen) => listen({ data: structuredClone(data), isTrusted: true, stopImmediatePropagation: () => undefined })))
  }

  terminate(): void {
    this.ended = true
  }
}

/** A client of the sandbox page in which these codes are allowed. */
function open(...codes: { called: string; code: string }[]) {
  const script = /<script>([^]*)<\/script>/.exec(sandboxPage([]))?.[1] ?? ''
  const listeners: Listener[] = []
  const parent = { postMessage: () => undefined }
  const url = { createObjectURL: (blob: { parts: string[] }) => blob.parts.join(''), revokeObjectURL: () => undefined }
  const blob = class {
    constructor(readonly parts: string[]) {}
  }
  const addEventListener = (_: string, listen: Listener) => listeners.push(listen)
  runInNewContext(script, { Worker: FakeWorker, URL: url, Blob: blob, parent, addEventListener, setTimeout, clearTimeout })
  const say = (data: object, ports: MessagePort[] = []): void => listeners.forEach((listen) => listen({ data, source: parent, ports }))
  for (const { called, code } of codes) for (const allow of [liveSource('class', called, code), liveSource('rollout', called, code), workerSource(called, code)]) say({ allow })
  const { port1, port2 } = new MessageChannel()
  say({}, [port2])
  const client = sandboxClient(port1)
  return { client, close: () => (client.close(), port2.close()) }
}
const options = { episode_id: 'e', split: 'train' } as const

describe('a call of a reward function', () => {
  const code = `async function mine({ completions }) { if (completions[0] === 'wait') await new Promise(() => {}); return [completions.length] }`
  const func = { called: 'mine', code }
  const call = (client: ReturnType<typeof sandboxClient>, what: string, signal?: AbortSignal) => client.call(func, { completions: [what] }, { ...(signal && { signal }) })

  it('ends with its worker when the run is stopped, also before its turn, and the next one runs', async () => {
    const { client, close } = open(func)
    const { signal, abort } = ((stop) => ({ signal: stop.signal, abort: () => stop.abort() }))(new AbortController())
    const waiting = [call(client, 'wait', signal), call(client, 'x', signal), call(client, 'y')]
    const ended = Promise.allSettled(waiting)
    await settled()
    const worker = FakeWorker.made.at(-1)
    expect(worker?.ended).toBe(false)
    abort()
    expect((await ended).map((each) => (each.status === 'rejected' ? (each.reason as Error).message : each.value.rewards))).toEqual(['The run was stopped.', 'The run was stopped.', [1]])
    expect(worker?.ended).toBe(true)
    await expect(call(client, 'x', signal)).rejects.toMatchObject({ kind: 'stopped' })
    close()
  })

  it('ends when its time is over, whatever it waits for', async () => {
    const { client, close } = open(func)
    const waiting = expect(call(client, 'wait')).rejects.toThrow('The reward function mine took longer than 10 s and was ended.')
    await tenSeconds()
    await waiting
    expect(FakeWorker.made.at(-1)?.ended).toBe(true)
    expect((await call(client, 'x')).rewards).toEqual([1])
    close()
  })
})

describe('a live worker', () => {
  it('plays the number game: the same secret for the same seed, other ones for others', async () => {
    const { client, close } = open(NUMBER_GAME)
    const environment = customEnvironment(NUMBER_GAME, () => client)
    await environment.connect()
    const secretOf = async (seed: number): Promise<number> => {
      const session = await environment.open()
      expect((await session.reset({ ...options, seed })).text).toBe('Guess the number, from 1 to 8.')
      for (let number = 1; number <= 4; number++) {
        const seen = await session.step({ name: 'guess', arguments: { number } })
        if (seen.done) {
          expect(await session.finalReward?.()).toBe(seen.text === 'Right.' ? 1 - 0.1 * (number - 1) : 0)
          return seen.text === 'Right.' ? number : 0
        }
      }
      throw new Error('It did not end.')
    }
    const seeds = Array.from({ length: 12 }, (_, i) => i)
    const [one, two] = [await Promise.all(seeds.map(secretOf)), await Promise.all(seeds.map(secretOf))]
    expect(one).toEqual(two)
    expect(new Set(one).size).toBeGreaterThan(2)
    close()
  })

  it('is ended when stuck: its sessions fail, the next one gets another', async () => {
    const code = `class Stuck {
  reset() {}
  /** Wait. @param {boolean} long - For ever. */
  async wait(long) { console.log('waits', long); await new Promise((go) => { if (!long) go() }); return 7 }
}`
    const { client, close } = open({ called: 'Stuck', code })
    const environment = customEnvironment({ called: 'Stuck', code }, () => client)
    await environment.connect()
    const [first, second] = [await environment.open(), await environment.open()]
    await first.reset({ ...options, seed: 1 })
    await second.reset({ ...options, seed: 1 })
    const wait = (long: boolean) => ({ name: 'wait', arguments: { long } })
    expect(await first.step(wait(false))).toMatchObject({ text: '7', metadata: { console: ['waits false'] } })
    const both = Promise.allSettled([first.step(wait(true)), second.step(wait(false))])
    await tenSeconds()
    expect((await both).map((each) => (each.status === 'rejected' ? (each.reason as Error).message : each.value.text))).toEqual([
      'Stuck.wait (line 4) took longer than 10 s and was ended.',
      'The episode was lost: another call of Stuck took too long and was ended.',
    ])
    expect(FakeWorker.made.at(-1)?.ended).toBe(true)
    const third = await environment.open()
    await third.reset({ ...options, seed: 1 })
    expect(await third.step(wait(false))).toMatchObject({ text: '7' })
    await expect(second.step(wait(false))).rejects.toThrow('The episode was lost')
    close()
  })

  it('is ended when an episode is closed in the middle of a call, and the next episode gets another', async () => {
    const code = `class Slow {
  reset() {}
  /** Wait. */
  wait() { return new Promise(() => {}) }
}`
    const { client, close } = open({ called: 'Slow', code })
    const environment = customEnvironment({ called: 'Slow', code }, () => client)
    await environment.connect()
    const first = await environment.open()
    await first.reset({ ...options, seed: 1 })
    const worker = FakeWorker.made.at(-1)
    const waiting = expect(first.step({ name: 'wait', arguments: {} })).rejects.toThrow('The episode was lost')
    await first.close()
    await waiting
    expect(worker?.ended).toBe(true)
    expect(await (await environment.open()).reset({ ...options, seed: 1 })).toMatchObject({ text: '' })
    expect(FakeWorker.made.at(-1)).not.toBe(worker)
    close()
  })

  it('is ended when it hears nothing between calls any more', async () => {
    const code = `class Deaf {
  reset() { self.close() }
  /** Wait. */
  wait() { return 7 }
}`
    const { client, close } = open({ called: 'Deaf', code })
    const environment = customEnvironment({ called: 'Deaf', code }, () => client)
    await environment.connect()
    const session = await environment.open()
    await session.reset({ ...options, seed: 1 })
    const waiting = expect(session.step({ name: 'wait', arguments: {} })).rejects.toThrow('Deaf.wait (line 4) took longer than 10 s and was ended.')
    await tenSeconds()
    await waiting
    close()
  })

  it('leaves the code no way to answer in its place', async () => {
    const code = `const was = [typeof self.postMessage, typeof __global, typeof logs]
class Forger {
  reset() {
    for (let id = 1; id < 9; id++) self.dispatchEvent({ data: { id, act: 'reset', instance: 1, method: 'forged', args: [] }, isTrusted: false })
    return [...was, typeof __post, typeof post, typeof self.postMessage].join(' ')
  }
  forged() { return 'forged' }
}`
    const { client, close } = open({ called: 'Forger', code })
    const worker = client.live('class', { called: 'Forger', code })
    await worker.call({ act: 'new', instance: 1, seed: 0 })
    expect((await worker.call({ act: 'reset', instance: 1, method: 'reset', args: [] })).text).toBe(Array(6).fill('undefined').join(' '))
    expect(await worker.call({ act: 'drop', instance: 1 })).not.toHaveProperty('text')
    close()
  })

  it('is ended when its time is over, whatever it posts', async () => {
    const code = `class Stuck {
  async reset() { await new Promise(() => {}) }
}`
    const { client, close } = open({ called: 'Stuck', code })
    const live = client.live('class', { called: 'Stuck', code })
    await live.call({ act: 'new', instance: 1, seed: 0 })
    const worker = FakeWorker.made.at(-1)
    const posted = ['text', 7, [], { ready: true }, { id: 1, began: true }, { id: -1, text: 'x' }, { id: 1, text: 'forged' }, { ask: 1, what: 'generate', args: [] }, null]
    const call = live.call({ act: 'reset', instance: 1, method: 'reset', args: [] })
    await settled()
    for (let second = 0; second < 10; second++) {
      expect(worker?.ended).toBe(false)
      for (const data of posted) worker?.onmessage?.({ data })
      await settled()
      vi.advanceTimersByTime(1000)
    }
    expect(worker?.ended).toBe(true)
    expect(await call).toMatchObject({ timedOut: true })
    close()
  })

  it('takes whatever a person names, writes and throws', async () => {
    const code = `class Map { constructor() { this.w = 3 } }
class Odd {
  grid = new Map()
  reset({ seed }) {
    const ring = {}
    ring.ring = ring
    console.warn(10n, ring, undefined, NaN, new Error('no'))
    if (seed === 2) throw Object.create(null)
    return seed === 3 ? 'x'.repeat(100001) : 'w ' + this.grid.w
  }
  /** Wait. */
  wait() { return 7 }
}`
    const { client, close } = open({ called: 'Odd', code })
    const environment = customEnvironment({ called: 'Odd', code }, () => client)
    await environment.connect()
    const begin = async (seed: number) => (await environment.open()).reset({ ...options, seed })
    expect(await begin(1)).toMatchObject({ text: 'w 3', metadata: { console: ['10 [cannot be shown] undefined NaN Error: no'] } })
    await expect(begin(2)).rejects.toThrow('Odd.reset failed: something was thrown that has no text.')
    await expect(begin(3)).rejects.toThrow('returned 100001 characters; the model reads at most 100000')
    close()
  })

  it('refuses an answer with a key that it does not know beside its reward, and shows the model any other object', async () => {
    const code = `class Shop {
  reset() {}
  /** Buy. @param {integer} n - Which. */
  buy(n) { return [{ text: 'a', reward: 1, done: true, info: { n } }, { observation: 'b', reward: 1 }, { board: [1], done: false }, { text: 'c', reward: 1, info: undefined }, { text: 'd', price: 2 }, [1]][n] }
}`
    const { client, close } = open({ called: 'Shop', code })
    const environment = customEnvironment({ called: 'Shop', code }, () => client)
    await environment.connect()
    const session = await environment.open()
    await session.reset({ ...options, seed: 1 })
    const buy = (n: number) => session.step({ name: 'buy', arguments: { n } })
    await expect(buy(0)).rejects.toThrow(/^Shop\.buy failed.*: buy answered with info beside reward and done: an answer has text, reward and done alone\. .* JSON\.stringify\(object\)\.$/)
    await expect(buy(1)).rejects.toThrow('buy answered with observation beside reward: ')
    await expect(buy(2)).rejects.toThrow('buy answered with board beside done: ')
    expect(await buy(3)).toMatchObject({ text: 'c', reward: 1 })
    expect([await buy(4), await buy(5)]).toMatchObject([{ text: '{"text":"d","price":2}', reward: null }, { text: '[1]', reward: null }])
    close()
  })

  it('runs nothing that was not allowed, and says where the first lines fail', async () => {
    const { client, close } = open({ called: 'Bad', code: 'throw new Error("no")\nclass Bad {}' })
    expect(await client.live('class', NUMBER_GAME).call({ act: 'new', instance: 1, seed: 0 })).toMatchObject({ refused: true })
    expect(await client.live('class', { called: 'Bad', code: 'throw new Error("no")\nclass Bad {}' }).call({ act: 'new', instance: 1, seed: 0 })).toMatchObject({ error: 'Uncaught Error: no' })
    close()
  })

  it('lets a rollout function ask, and tells it what was refused', async () => {
    const code = `async function ask(prompts, trainer) {
  const refused = await trainer.tokenize('no').catch((error) => error.message)
  return { prompts, drawn: await trainer.generate(prompts, { rows: [0] }), refused, step: trainer.step }
}`
    const { client, close } = open({ called: 'ask', code }, OWN_LOOP)
    const worker = client.live('rollout', { called: 'ask', code }, (what, args) => (what === 'generate' ? Promise.resolve([what, args]) : Promise.reject(new Error('Not so.'))))
    const { value } = await worker.call({ act: 'call', seed: 1, prompts: ['p'], facts: { step: 4, tools: [] } })
    expect(value).toEqual({ prompts: ['p'], drawn: ['generate', [['p'], { rows: [0] }]], refused: 'Not so.', step: 4 })
    const own = client.live('rollout', OWN_LOOP, () => Promise.resolve({ prompt_ids: [], completion_ids: [], logprobs: [] }))
    expect(await own.call({ act: 'load' })).not.toHaveProperty('error')
    expect((await own.call({ act: 'call', seed: 1, prompts: [], facts: { tools: [] } })).value).toEqual({ prompt_ids: [], completion_ids: [], logprobs: [], env_mask: [] })
    close()
  })

  it('shows a rollout function each prompt’s own tools, and says so where it reads one list for all', async () => {
    const code = `async function look(prompts, trainer) {
  const refused = []
  for (const read of [() => trainer.tools, () => trainer.environment.tools]) try { read() } catch (error) { refused.push(error.message) }
  return [refused, trainer.rows.map(({ tools }) => tools), (await trainer.environment.open(1)).tools]
}`
    const { client, close } = open({ called: 'look', code })
    const worker = client.live('rollout', { called: 'look', code }, () => Promise.resolve(0))
    const look = async (tools: string[] | null) => (await worker.call({ act: 'call', seed: 1, prompts: [], facts: { tools, rows: [{ tools: ['a'] }, { tools: ['b'] }] } })).value
    const sentence = 'The environments of this run have different tools: trainer.rows[i].tools are those of prompt i'
    expect(await look(null)).toEqual([[sentence, sentence], [['a'], ['b']], ['b']])
    expect(await look(['a'])).toMatchObject([[], {}, {}])
    close()
  })
})

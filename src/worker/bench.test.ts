/** What is measured, in which order, how often, and that nothing stays open; and the desk, which measures only while nothing is trained. */

import { describe, expect, it } from 'vitest'
import { BENCH_FIGURES } from '../core/bench-report'
import type { TrainSequence } from '../core/engine'
import type { Command, Message } from './protocol'
import { BENCH_SEQUENCES, BENCH_TOKENS, type BenchOptions, type Measured, runBench } from './bench'
import { BenchDesk } from './bench-desk'
import type { BenchEngines } from './bench-engines'

const DEVICE = { backend: 'wasm', adapter: null, software: false, threads: 2, ortVersion: '1.30.0' } as const

/** An engine whose work takes milliseconds of a clock that only it moves: a token 2 + slots, a training pass 10 a sequence. */
function fake(gpu: boolean) {
  let clock = 0
  let dispatches = 0
  const open = new Set<object>()
  const trained: number[] = []
  const calls = { copies: 0, tokens: 0 }
  const options = (signal = new AbortController().signal, onProgress: BenchOptions['onProgress'] = () => undefined): BenchOptions => ({
    device: DEVICE,
    signal,
    onProgress,
    now: () => clock,
    open: async (_, slots) => {
      const measured = {
        engine: {
          slots,
          info: { vocabSize: 1024 },
          reset: () => undefined,
          prefill: async () => void (clock += 1),
          copy: async () => void calls.copies++,
          sample: async (requests: readonly { slot: number }[]) => requests.map(({ slot }) => ({ id: slot })),
          decode: async (tokens: readonly unknown[]) => {
            calls.tokens += tokens.length
            clock += 2 + slots
            dispatches += 30
          },
          accumulate: async (batch: readonly TrainSequence[], _: unknown, loss: (i: number[], s: { logprobs: Float64Array }[]) => unknown) => {
            loss(batch.map((_, i) => i), batch.map(({ ids }) => ({ logprobs: new Float64Array(ids.length) })))
            trained.push(batch.length)
            clock += 10 * batch.length
            dispatches += 200
          },
          optimizerStep: async () => ({ grad_norm: 1 }),
        },
        bytes: () => 5e6,
        idle: async () => undefined,
        dispatches: () => (gpu ? dispatches : null),
        dispose: async () => void open.delete(measured),
      }
      open.add(measured)
      return measured as unknown as Measured
    },
  })
  return { options, open, trained, calls }
}

describe('runBench', () => {
  it('measures both models, each figure several times, and closes every engine', async () => {
    const { options, open, trained } = fake(true)
    const progress: number[][] = []
    const { device, figures } = await runBench(options(undefined, (done, total, _, report) => progress.push([done, total, report.figures.length])))
    expect(device).toEqual(DEVICE)
    expect(figures.map(({ model, name }) => `${model} ${name}`).sort()).toEqual(['tiny-qwen3', 'random-30m'].flatMap((model) => BENCH_FIGURES.map((name) => `${model} ${name}`)).sort())
    const of = (name: string) => figures.find((figure) => figure.name === name)
    expect(of('decode1')).toMatchObject({ value: 1000 / 3, repeats: 5 })
    expect(of('decode8')?.value).toBeCloseTo(800)
    expect(of('batching')?.value).toBeCloseTo(10 / 3)
    expect(of('training')).toMatchObject({ value: 0.01 * BENCH_SEQUENCES, range: [0.08, 0.08], repeats: 5 })
    expect(of('step')?.value).toBeCloseTo((1 + BENCH_TOKENS * 10 + 80) / 1000)
    expect(of('dispatchesToken')).toMatchObject({ value: 30, range: null, repeats: 1 })
    expect(of('dispatchesTraining')?.value).toBe(200)
    expect(of('memory')?.value).toBe(5e6)
    expect(open.size).toBe(0)
    expect(trained).toContain(BENCH_SEQUENCES)
    // What is known grows as it goes.
    expect(progress).toEqual([0, 1, 3, 4, 8, 9, 11, 12].map((known, done) => [done, 8, known]))
  })

  it('counts no dispatches where there is no GPU', async () => {
    const { figures } = await runBench(fake(false).options())
    expect(figures.filter(({ name }) => name.startsWith('dispatches'))).toEqual([])
  })

  it('repeats slow figures less often', async () => {
    const slow = fake(false)
    const { options } = slow
    let shift = 0
    const usual = options()
    const { figures } = await runBench({ ...usual, now: () => (usual.now?.() ?? 0) * 200 + shift++ })
    expect(figures.find(({ name }) => name === 'training')?.repeats).toBe(1)
  })

  it('ends between two tokens when it is stopped, with its engine closed', async () => {
    const stop = new AbortController()
    const { options, open, calls } = fake(true)
    const given = options(stop.signal, (done) => done === 1 && stop.abort())
    await expect(runBench(given)).rejects.toMatchObject({ kind: 'stopped' })
    expect(open.size).toBe(0)
    // What the engine of one slot wrote, after 1.5 s of warming up, and nothing of eight.
    expect(calls.tokens).toBe((Math.ceil(1500 / (3 * BENCH_TOKENS)) + 5) * BENCH_TOKENS)
  })
})

describe('BenchDesk', () => {
  const start: Command = { type: 'bench', requestId: 1, backend: 'auto' }
  const setUp = () => {
    const said: Message[] = []
    let closed = 0
    let answered = (): void => undefined
    const done = new Promise<void>((resolve) => (answered = resolve))
    const engines = async (): Promise<BenchEngines> => {
      const { open, now } = fake(false).options()
      return { device: DEVICE, open, close: () => void closed++, ...(now && { now }) }
    }
    const desk = new BenchDesk((message) => {
      said.push(message)
      if (message.type === 'bench-done') answered()
    }, engines)
    const result = () => said.flatMap((message) => (message.type === 'bench-done' ? [message.result] : []))
    return { desk, said, done, result, closed: () => closed }
  }

  it('measures, tells how far it is, and gives its counter back', async () => {
    const { desk, said, done, result, closed } = setUp()
    expect(desk.take(start)).toBe(true)
    await done
    expect(result()).toMatchObject([{ ok: true, report: { device: DEVICE } }])
    expect(said.filter(({ type }) => type === 'bench-progress').length).toBe(8)
    await Promise.resolve()
    expect(closed()).toBe(1)
  })

  it.each([
    [{ type: 'state', state: { state: 'running', until: 'limit' } }],
    [{ type: 'state', state: { state: 'loading', what: 'engine', done: 0, total: null } }],
    [{ type: 'stage-state', kind: 'sft', state: { state: 'training' } }],
  ] as [Message][])('refuses while the machine is needed: %j', async (message) => {
    const { desk, done, result } = setUp()
    desk.hear(message)
    desk.take(start)
    await done
    expect(result()).toEqual([{ ok: false, error: 'A run is being trained or loaded. Pause it, or let it finish, then measure.' }])
    // A paused run leaves the machine free.
    desk.hear({ type: 'state', state: { state: 'paused', step: 3 } })
    desk.hear({ type: 'stage-state', kind: 'sft', state: { state: 'ended', steps: 1, error: '' } })
    desk.take(start)
    await expect.poll(() => result().at(-1)).toMatchObject({ ok: true })
  })

  it('gives way to a run, whose command goes on to where it belongs', async () => {
    const { desk, done, result } = setUp()
    desk.take(start)
    expect(desk.take({ type: 'train' })).toBe(false)
    await done
    expect(result()).toEqual([{ ok: false, error: 'The benchmark was stopped.' }])
  })

  it('can be stopped, and takes one wish at a time', async () => {
    const { desk, done, result } = setUp()
    desk.take(start)
    desk.take({ ...start, requestId: 2 })
    await done
    expect(result()[0]).toEqual({ ok: false, error: 'This machine is being measured already.' })
    desk.take({ type: 'bench-stop' })
    await expect.poll(() => result().length).toBe(2)
    expect(result()[1]).toEqual({ ok: false, error: 'The benchmark was stopped.' })
  })

  it('leaves other commands alone', () => {
    const { desk, said } = setUp()
    for (const type of ['pause', 'bench-stop', 'reset'] as const) expect(desk.take({ type })).toBe(type === 'bench-stop')
    expect(said).toEqual([])
  })
})

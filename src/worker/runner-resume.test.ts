/** Runs that survive: each step is kept as it is trained, and another worker goes on from where one stopped. */
import 'fake-indexeddb/auto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { PlaygroundError } from '../core/errors'
import type { BanditOptions } from '../train/testing/bandit'
import { RunArchive } from './archive'
import type { Message } from './protocol'
import { open as openRunner } from './testing/open-runner'

let count = 0
let archive: RunArchive
beforeEach(async () => {
  archive = await RunArchive.open(`runs-${++count}`)
})
/** A worker of its own over the same archive. */
const open = (options: BanditOptions = {}) => openRunner(options, async () => archive)
type Opened = ReturnType<typeof open>
const only = async () => (await archive.list())[0]!
const theta = (page: Opened) => [...(page.engines.at(-1)?.theta ?? [])].map((x) => Number(x.toFixed(5)))
const ids = (page: Opened) => page.records().map(({ step, episodes }) => [step, episodes.map((episode) => episode.ids)])
const errorOf = (page: Opened) => page.states().findLast((state) => state.state === 'failed')

describe('a run', () => {
  it('is kept from its first step on, with episodes, numbers and a checkpoint', async () => {
    const page = open()
    await page.configure({ max_steps: 3 })
    expect(await archive.list()).toEqual([])
    await page.untilState('paused', { type: 'step' })
    const run = await only()
    expect(run).toMatchObject({ step: 1, checkpoint: 1, finished: false, config: { grpo: { max_steps: 3 } }, environment: { name: 'Bandit' } })
    expect(page.journal?.current).toEqual(run)
    expect((await archive.history(run.id))[0]?.metrics).toEqual(page.records()[0]?.metrics)
    for await (const step of archive.episodes(run.id)) {
      expect(step.map(({ ids, reward, advantage }) => ({ ids, reward, advantage }))).toEqual(page.records()[0]?.episodes.map(({ ids, reward, advantage }) => ({ ids, reward, advantage })))
      expect(step.every(({ texts, ids }) => texts.length === ids.length && texts.every((text) => text !== ''))).toBe(true)
    }
    await page.untilState('finished', { type: 'train' })
    expect(await only()).toMatchObject({ id: run.id, step: 3, finished: true })
  })

  it('goes on in another worker as if nothing had happened', async () => {
    const straight = open()
    await straight.configure({ max_steps: 5, beta: 0.1 })
    await straight.untilState('finished', { type: 'train' })
    const whole = await only()

    const first = open()
    await first.configure({ max_steps: 5, beta: 0.1 })
    for (let i = 0; i < 2; i++) await first.untilState('paused', { type: 'step' })
    const { id } = (await archive.list()).find((run) => run.id !== whole.id)!

    const second = open()
    const restored = second.until((m) => m.type === 'restored')
    second.resume(id)
    expect(await second.untilState('paused')).toEqual({ state: 'paused', step: 2 })
    expect(await restored).toMatchObject({ run: { id }, history: [{ step: 1 }, { step: 2 }] })
    await second.untilState('finished', { type: 'train' })
    expect([...ids(first), ...ids(second)]).toEqual(ids(straight))
    expect(theta(second)).toEqual(theta(straight))
    const numbers = async (run: string) => (await archive.history(run)).map(({ step, metrics: { kl, reward, num_tokens } }) => ({ step, reward, num_tokens, kl: kl?.toFixed(5) }))
    expect(await numbers(id)).toEqual(await numbers(whole.id))
    expect((await archive.list()).map((run) => run.step)).toEqual([5, 5])
  })

  describe('with an adaptive entropy bonus', () => {
    const ADAPTIVE = { max_steps: 4, use_adaptive_entropy: true, entropy_coef: 0.01, entropy_coef_delta: 0.05, entropy_target: 5 }
    const coefficients = (...pages: Opened[]) => pages.flatMap((page) => page.records().map(({ step, metrics }) => [step, metrics['entropy_coef']]))
    const begun = async () => {
      const page = open()
      await page.configure(ADAPTIVE)
      for (let i = 0; i < 2; i++) await page.untilState('paused', { type: 'step' })
      return page
    }
    const straight = async () => {
      const page = open()
      await page.configure(ADAPTIVE)
      await page.untilState('finished', { type: 'train' })
      return coefficients(page)
    }
    const notices = (page: Opened) => page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'notice' && m.event.level === 'warning' ? [m.event.text] : []))

    it('goes on with the bonus where it stood', async () => {
      const first = await begun()
      const second = open()
      second.resume((await only()).id)
      await second.untilState('paused')
      await second.untilState('finished', { type: 'train' })
      const expected = await straight()
      expect(new Set(expected.map(([, coefficient]) => coefficient)).size).toBe(4)
      expect(coefficients(first, second)).toEqual(expected)
      expect(notices(second)).toEqual([])
    })

    it('goes on so after a lost GPU, too', async () => {
      const page = await begun()
      page.engines[0]!.fail = () => new PlaygroundError('device-lost', 'The GPU was taken away.')
      await page.untilState('failed', { type: 'train' })
      await page.untilState('finished', { type: 'train' })
      expect(coefficients(page)).toEqual(await straight())
    })

    it('begins the bonus anew where an earlier version did not keep it, and says so', async () => {
      const first = await begun()
      const { id } = await only()
      const { entropy, ...earlier } = (await archive.checkpoint(id))!
      expect(entropy).toBeDefined()
      await archive.addCheckpoint(id, earlier)
      const second = open()
      second.resume(id)
      await second.untilState('paused')
      expect(notices(second)).toEqual([expect.stringContaining('begins anew, so the next steps differ')])
      await second.untilState('finished', { type: 'train' })
      expect(coefficients(second).map(([, coefficient]) => coefficient)).toEqual(coefficients(first).map(([, coefficient]) => coefficient))
    })
  })

  it('trains again what lies beyond its checkpoint', async () => {
    const page = open()
    await page.configure({ max_steps: 4 })
    for (let i = 0; i < 2; i++) await page.untilState('paused', { type: 'step' })
    const run = await only()
    const { summary, keptStep } = await import('./testing/kept')
    await archive.addStep({ ...run, step: 3 }, summary(3), keptStep(3), null)
    const again = open()
    again.resume(run.id)
    await again.untilState('paused')
    await vi.waitFor(async () => expect(await only()).toMatchObject({ step: 2 }), 30_000)
    await again.untilState('paused', { type: 'step' })
    expect(again.records().map(({ step }) => step)).toEqual([3])
    expect((await archive.history(run.id))[2]?.metrics['num_tokens']).toBe(again.records()[0]?.metrics['num_tokens'])
  })

  it('begins a record of its own after Reset and after its record was forgotten', async () => {
    const page = open()
    await page.configure({ max_steps: 9 })
    await page.untilState('paused', { type: 'step' })
    await page.untilState('ready', { type: 'reset' })
    await page.untilState('paused', { type: 'step' })
    expect(await archive.list()).toHaveLength(2)
    await page.journal?.forget()
    await page.untilState('paused', { type: 'step' })
    expect((await archive.list()).map(({ step }) => step).sort()).toEqual([1, 1, 2])
  })
})

it('a finished run goes on to another end, as if that had been its end from the start', async () => {
  const straight = open()
  await straight.configure({ max_steps: 3 })
  await straight.untilState('finished', { type: 'train' })
  const page = open()
  await page.configure({ max_steps: 2 })
  await page.untilState('finished', { type: 'train' })
  const { id } = (await archive.list())[0]!
  page.runner.handle({ type: 'extend', max_steps: 3, target_reward: null })
  expect(await page.untilState('finished', { type: 'train' })).toEqual({ state: 'finished', step: 3, reason: 'step-limit' })
  expect(ids(page)).toEqual(ids(straight))
  expect(await archive.get(id)).toMatchObject({ step: 3, finished: true, config: { grpo: { max_steps: 3 } } })
})

it('a run that is going on ends at a lowered max_steps, after the step it is in at the latest', async () => {
  const ended = async (max_steps: number) => {
    const page = open()
    await page.configure({ max_steps: 9 })
    const begun = (m: Message) => m.type === 'event' && m.event.type === 'step-started' && m.event.step === 3
    void page.until(begun).then(() => page.runner.handle({ type: 'extend', max_steps, target_reward: null }))
    return page.untilState('finished', { type: 'train' })
  }
  expect(await ended(4)).toEqual({ state: 'finished', step: 4, reason: 'step-limit' })
  expect(await ended(1)).toEqual({ state: 'finished', step: 3, reason: 'step-limit' })
})

describe('what cannot be gone on with', () => {
  it('is said, and the run before it stays', async () => {
    const page = open()
    await page.configure()
    page.resume('nothing')
    expect(await page.untilState('failed')).toMatchObject({ error: 'This run is not kept here any more.', recoverable: true })
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })

  it('a checkpoint that does not fit leaves the run before it as it was', async () => {
    const first = open()
    await first.configure()
    await first.untilState('paused', { type: 'step' })
    const { id } = await only()
    const page = open()
    await page.configure({ max_steps: 3, seed: 5 })
    await page.untilState('paused', { type: 'step' })
    const trained = theta(page)
    const engine = page.engines[0]!
    const { importState } = engine
    engine.importState = async (state) => {
      engine.importState = importState
      await importState.call(engine, { ...state, parameters: [] })
      throw new PlaygroundError('config', 'The adapter has no theta.')
    }
    page.resume(id)
    expect(await page.untilState('failed')).toMatchObject({ error: 'The adapter has no theta.', recoverable: true })
    expect(theta(page)).toEqual(trained)
    expect(page.environments.map(({ closed }) => closed)).toEqual([0, 1])
    await page.untilState('paused', { type: 'step' })
    expect(page.records().map(({ step }) => step)).toEqual([1, 2])
    expect((await archive.list()).map(({ step }) => step).sort()).toEqual([1, 2])
  })

  it('a run that another tab has', async () => {
    const locks = new Set<string>()
    vi.stubGlobal('navigator', {
      locks: {
        request: async (name: string, _: unknown, work: (lock: unknown) => Promise<void>) => {
          if (locks.has(name)) return work(null)
          locks.add(name)
          await work({ name })
          locks.delete(name)
        },
        query: async () => ({ held: [...locks].map((name) => ({ name })) }),
      },
    })
    try {
      const first = open()
      await first.configure({ max_steps: 9 })
      await first.untilState('paused', { type: 'step' })
      const { id } = await only()
      const second = open()
      second.resume(id)
      expect(await second.untilState('failed')).toMatchObject({ error: '"Bandit · replies" is open in another tab.' })
      // The tab that has it may take it up again itself; once it is done with it, others may.
      first.resume(id)
      await first.untilState('paused')
      second.resume(id)
      await second.untilState('failed')
      await first.untilState('ready', { type: 'configure', config: first.prepared[0]! })
      await vi.waitFor(() => expect(locks.size).toBe(0), 30_000)
      second.resume(id)
      await second.untilState('paused')
      await second.untilState('paused', { type: 'step' })
      expect(locks.size).toBe(1)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('a run that stands on another base, for measuring, is not trained', async () => {
    const page = open()
    await page.configure()
    await page.untilState('paused', { type: 'step' })
    const { id } = await only()
    const other = open()
    other.resume(id, 'int4')
    await other.untilState('paused')
    other.runner.handle({ type: 'train' })
    await other.untilState('failed')
    expect(errorOf(other)).toMatchObject({ error: expect.stringContaining('another base') as string, recoverable: true })
    const answer = other.until((m) => m.type === 'evaluation')
    other.runner.handle({ type: 'evaluate', requestId: 1, episodes: 8 })
    await answer
    await vi.waitFor(async () => expect((await only()).evaluations).toMatchObject([{ step: 1, split: 'train', scorable: 8, precision: 'int4' }]), 30_000)
    // Reset begins a run with the settings that the page shows.
    await other.untilState('ready', { type: 'reset' })
    expect(other.prepared.map(({ precision }) => precision)).toEqual(['int4', 'float32'])
  })
})

it('a storage that refuses costs one notice, not the run; when it works again, keeping goes on', async () => {
  let broken = true
  const page = openRunner({}, async () => {
    if (broken) throw new DOMException('no room', 'QuotaExceededError')
    return archive
  })
  await page.configure({ max_steps: 3 })
  for (let i = 0; i < 2; i++) await page.untilState('paused', { type: 'step' })
  expect(page.complaints).toEqual([expect.stringContaining('storage for the page is full')])
  broken = false
  await page.untilState('finished', { type: 'train' })
  expect(await only()).toMatchObject({ step: 3, checkpoint: 3 })
})

describe('a run whose checkpoint is large', () => {
  const large = () => openRunner({}, async () => archive, 0)
  const checkpoints = async () => (await archive.list()).map(({ step, checkpoint }) => [step, checkpoint])

  it('has one of its last step when it is finished, reset, or resumed', async () => {
    const page = large()
    await page.configure({ max_steps: 3 })
    await page.untilState('paused', { type: 'step' })
    expect(await checkpoints()).toEqual([[1, null]])
    await page.untilState('finished', { type: 'train' })
    expect(await checkpoints()).toEqual([[3, 3]])
    await page.untilState('ready', { type: 'reset' })
    for (let i = 0; i < 2; i++) await page.untilState('paused', { type: 'step' })
    await page.untilState('ready', { type: 'reset' })
    await vi.waitFor(async () => expect(await checkpoints()).toEqual([[2, 2], [3, 3]]), 30_000)
    await page.untilState('paused', { type: 'step' })
    const { id } = (await archive.list())[0]!
    page.resume(id)
    expect(await page.untilState('paused')).toEqual({ state: 'paused', step: 1 })
  })
})

it('steps that could not be kept leave no gap: their numbers are kept later', async () => {
  let broken = false
  const page = openRunner({}, async () => {
    if (broken) throw new Error('The connection is gone.')
    return archive
  })
  await page.configure({ max_steps: 4 })
  await page.untilState('paused', { type: 'step' })
  broken = true
  await page.untilState('paused', { type: 'step' })
  broken = false
  await page.untilState('paused', { type: 'step' })
  const run = await only()
  expect(run).toMatchObject({ step: 3, checkpoint: 3, droppedSteps: 1 })
  expect((await archive.history(run.id)).map(({ step, metrics }) => [step, metrics])).toEqual(page.records().map(({ step, metrics }) => [step, metrics]))
})

it('remembers both engines where it goes on in another one from a checkpoint that lies before its last step', async () => {
  const page = openRunner({}, async () => archive, 0)
  await page.configure({ max_steps: 8 })
  for (let i = 0; i < 6; i++) await page.untilState('paused', { type: 'step' })
  expect(await only()).toMatchObject({ step: 6, checkpoint: 5 })
  const other = openRunner({}, async () => archive, 0)
  const { prepare } = other.keeper
  other.keeper.prepare = async (config, callbacks) => {
    const setup = await prepare(config, callbacks)
    Object.assign(setup.engine, { info: { ...setup.engine.info, threads: 7 } })
    return setup
  }
  other.resume((await only()).id)
  expect(await other.untilState('paused')).toEqual({ state: 'paused', step: 5 })
  await vi.waitFor(() => expect(other.journal?.current?.step).toBe(5), 30_000)
  await other.untilState('finished', { type: 'train' })
  expect(await only()).toMatchObject({ step: 8, engine: { threads: 7 }, earlierEngines: [{ threads: 1 }] })
})

it('says what is not as it was: tools, engine, version', async () => {
  const page = open()
  await page.configure()
  await page.untilState('paused', { type: 'step' })
  const { id } = await only()
  const other = open()
  const { prepare } = other.keeper
  other.keeper.prepare = async (config, callbacks) => {
    const setup = await prepare(config, callbacks)
    Object.assign(setup.environment, { tools: [] })
    Object.assign(setup.engine, { info: { ...setup.engine.info, backend: 'wasm', threads: 7 } })
    return setup
  }
  other.resume(id)
  await other.untilState('paused')
  const notices = other.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'notice' ? [m.event.text] : []))
  expect(notices).toEqual([expect.stringContaining('WASM with 7 threads'), expect.stringContaining('other tools or prompts')])
  await other.untilState('finished', { type: 'train' })
  expect(await only()).toMatchObject({ engine: { threads: 7 }, earlierEngines: [page.engines[0]?.info], environment: { tools: [] } })
})

/** A run that evaluates itself: its numbers are those of one that does not, and pausing, failing and dying lose no evaluation and make none twice. */
import 'fake-indexeddb/auto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../core/config'
import { runEvaluations } from '../core/evaluation'
import { PlaygroundError } from '../core/errors'
import type { BanditOptions } from '../train/testing/bandit'
import { RunArchive } from './archive'
import type { Message } from './protocol'
import { open as openRunner } from './testing/open-runner'

let count = 0
let archive: RunArchive
beforeEach(async () => {
  archive = await RunArchive.open(`evaluating-${++count}`)
})
const open = (options: BanditOptions = {}) => openRunner(options, async () => archive)
type Opened = ReturnType<typeof open>

const SELF: Partial<GrpoConfig> = { max_steps: 5, eval_strategy: 'steps', eval_steps: 2, eval_episodes: 6 }
/** What a clock measured differs from run to run. */
const CLOCKS = /^(step_time|eval_runtime|tokens_per_second\/.*|(eval_)?environment\/latency_ms)$/
const timeless = (metrics: Record<string, number | null>) => Object.fromEntries(Object.entries(metrics).filter(([name]) => !CLOCKS.test(name)))
const numbers = (page: Opened) =>
  page.records().map(({ step, episodes, version, metrics, groups }) => ({ step, version, groups, metrics: timeless(metrics), episodes: episodes.map(({ ids, logprobs, reward, advantage, trainLogprobs }) => ({ ids, logprobs, reward, advantage, trainLogprobs })) }))
/** The stand-in for an engine keeps its state as float32: what went through a checkpoint has the same tokens. */
const tokens = (page: Opened) => page.records().map(({ step, episodes }) => ({ step, episodes: episodes.map(({ ids, reward }) => ({ ids, reward })) }))
const adapter = async (page: Opened) => (await page.engines.at(-1)?.exportParameters())?.map(({ data }) => [...data])
const evaluated = (page: Opened) => page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'evaluated' ? [m.event.records] : [])).flat()
const figures = (page: Opened) => evaluated(page).map((record) => ({ ...record, metrics: timeless(record.metrics) }))
const isProgress = (m: Message) => m.type === 'event' && m.event.type === 'evaluation'
const keptSteps = async () => (await archive.list()).map(({ evaluations }) => evaluations.map(({ step }) => step))

async function straight(grpo: Partial<GrpoConfig>, options: BanditOptions = {}) {
  const page = open(options)
  await page.configure(grpo)
  await page.untilState('finished', { type: 'train' })
  return page
}

describe('a run that evaluates itself', () => {
  it('does so before the first step, every eval_steps steps and after the last, and is otherwise the same number for number', async () => {
    const [without, self] = [await straight({ max_steps: 5 }), await straight(SELF)]
    expect(evaluated(without)).toEqual([])
    expect(evaluated(self).map(({ step, split, scorable }) => [step, split, scorable])).toEqual([0, 2, 4, 5].map((step) => [step, 'train', 6]))
    expect(numbers(self)).toEqual(numbers(without))
    expect(await adapter(self)).toEqual(await adapter(without))
    const [before] = evaluated(self)
    expect(before?.metrics).toMatchObject({ eval_reward: before?.reward, eval_success: (before?.solved ?? NaN) / 6, 'eval_rewards/Bandit/mean': before?.reward, 'eval_exit/env_done': 1 })
    expect(before?.metrics).toHaveProperty('eval_completions/mean_length')
    expect(Object.keys(before?.metrics ?? {}).every((name) => name.startsWith('eval_'))).toBe(true)
    expect(runEvaluations((await archive.list())[0]?.evaluations ?? [])).toEqual(evaluated(self))
    // One started later plays the same scenarios: equal adapters give equal figures.
    expect(figures(await straight({ ...SELF, max_steps: 2 })).slice(0, 2)).toEqual(figures(self).slice(0, 2))
  })

  it('greedy and without the start where that is asked for', async () => {
    const self = await straight({ ...SELF, max_steps: 2, eval_on_start: false, eval_greedy: true })
    expect(evaluated(self).map(({ step, greedy }) => [step, greedy])).toEqual([[2, true]])
    expect(evaluated(await straight({ ...SELF, max_steps: 2, eval_on_start: false }))[0]).not.toHaveProperty('greedy')
  })

  it('rests in the middle of an evaluation, and goes on there', async () => {
    const page = open({ delay: () => 3 })
    await page.configure(SELF)
    await page.until(isProgress, { type: 'train' })
    expect(await page.untilState('paused', { type: 'pause' })).toEqual({ state: 'paused', step: 0 })
    const at = page.messages.length
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(page.messages.slice(at).filter((m) => m.type === 'event' && m.event.type !== 'evaluation')).toEqual([])
    await page.untilState('finished', { type: 'train' })
    const other = await straight(SELF)
    expect(numbers(page)).toEqual(numbers(other))
    expect(figures(page)).toEqual(figures(other))
  })

  it.each(['token', 'episode', 'step'] as const)('goes by %s as it does undisturbed', async (grain) => {
    const page = open()
    await page.configure({ ...SELF, max_steps: 2 })
    const rests = []
    for (;;) {
      const message = await page.until((m) => m.type === 'state' && m.state.state !== 'running', { type: 'step', grain })
      if (message.type !== 'state' || message.state.state === 'finished') break
      rests.push(message.state)
      if (rests.length > 300) throw new Error('It does not end.')
    }
    expect(rests.some((state) => state.state === 'paused' && state.step === 1 && state.at === undefined)).toBe(true)
    const other = await straight({ ...SELF, max_steps: 2 })
    expect(numbers(page)).toEqual(numbers(other))
    expect(figures(page)).toEqual(figures(other))
  })

  it('is reset out of an evaluation, and evaluates anew', async () => {
    const page = open({ delay: () => 3 })
    await page.configure(SELF)
    await page.until(isProgress, { type: 'train' })
    await page.untilState('ready', { type: 'reset' })
    expect(evaluated(page)).toEqual([])
    await page.untilState('finished', { type: 'train' })
    expect(evaluated(page).map(({ step }) => step)).toEqual([0, 2, 4, 5])
  })

  it('tells of an environment that fails, and trains on', async () => {
    const page = await straight(SELF, { fails: (session) => session < 6 })
    expect(evaluated(page).map(({ step }) => step)).toEqual([2, 4, 5])
    const notices = page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'notice' ? [m.event.text] : []))
    expect(notices[0]).toBe(
      'The evaluation before the first step has no result, and the run goes on without it. None of 6 evaluation episodes in "Bandit" could be scored: The bandit is out of order. Check that the environment is running, then evaluate again.',
    )
    expect(numbers(page)).toEqual(numbers(await straight({ max_steps: 5 })))
  })

  it('whose engine dies in an evaluation is evaluated when it goes on', async () => {
    const page = open()
    await page.configure(SELF)
    await page.untilState('paused', { type: 'step' })
    const engine = page.engines[0]!
    const sample = engine.sample.bind(engine)
    page.until((m) => m.type === 'event' && m.event.type === 'step-finished').then(() => (engine.sample = () => Promise.reject(new PlaygroundError('device-lost', 'The GPU was lost.')))).catch(() => undefined)
    await page.untilState('failed', { type: 'step' })
    engine.sample = sample
    expect(evaluated(page).map(({ step }) => step)).toEqual([0])
    await page.untilState('finished', { type: 'train' })
    expect(evaluated(page).map(({ step }) => step)).toEqual([0, 2, 4, 5])
    expect(tokens(page)).toEqual(tokens(await straight({ max_steps: 5 })))
  })
})

describe('a run that goes on in another tab', () => {
  it('makes the evaluation that the first one died in, and none again', async () => {
    const other = await straight(SELF)
    const whole = (await archive.list())[0]!
    const first = open({ delay: () => 2 })
    await first.configure(SELF)
    await first.untilState('paused', { type: 'step' })
    // It is killed in the evaluation after step 2: nothing more is written.
    await first.until((m) => m.type === 'event' && m.event.type === 'evaluation' && m.event.step === 2 && m.event.done === 1, { type: 'step' })
    first.runner.handle({ type: 'pause' })
    const kept = (await archive.list()).find(({ id }) => id !== whole.id)!
    expect([kept.step, kept.evaluations.map(({ step }) => step)]).toEqual([2, [0]])

    const second = open()
    const restored = second.until((m) => m.type === 'restored')
    second.resume(kept.id)
    await second.untilState('paused')
    expect(await restored).toMatchObject({ run: { evaluations: [{ step: 0 }] } })
    await second.untilState('finished', { type: 'train' })
    expect(evaluated(second).map(({ step }) => step)).toEqual([2, 4, 5])
    expect([...tokens(first), ...tokens(second)]).toEqual(tokens(other))
    expect([...figures(first), ...figures(second)]).toEqual(figures(other))
    expect(await keptSteps()).toEqual([[0, 2, 4, 5], [0, 2, 4, 5]])
  })

  it('makes the last evaluation of a run whose last step is done', async () => {
    const page = open()
    await page.configure({ ...SELF, max_steps: 3 })
    for (let i = 0; i < 2; i++) await page.untilState('paused', { type: 'step' })
    await page.until((m) => m.type === 'event' && m.event.type === 'evaluation' && m.event.step === 3, { type: 'step' })
    page.runner.handle({ type: 'pause' })
    await page.untilState('paused')
    const [kept] = await archive.list()
    const again = open()
    again.resume(kept!.id)
    await again.untilState('paused')
    expect(await again.untilState('finished', { type: 'train' })).toEqual({ state: 'finished', step: 3, reason: 'step-limit' })
    expect(again.records()).toEqual([])
    expect(evaluated(again).map(({ step }) => step)).toEqual([3])
    expect((await archive.list())[0]).toMatchObject({ finished: true, evaluations: [{ step: 0 }, { step: 2 }, { step: 3 }] })
  })
})

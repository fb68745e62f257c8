/** Step by token, by episode and by GRPO step, and the pace for reading along: the run's numbers are those of an undisturbed run. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GrpoConfig } from '../core/config'
import type { Grain, Message, RunState } from './protocol'
import { open } from './testing/open-runner'

type Opened = ReturnType<typeof open>
const numbers = (page: Opened) =>
  page.records().map(({ step, episodes, version, metrics }) => ({ step, version, episodes: episodes.map((e) => [e.ids, e.reward, e.advantage]), loss: metrics['grad_norm'] }))
const adapter = async (page: Opened) => (await page.engines[0]?.exportParameters())?.map(({ data }) => [...data])
const isSampled = (m: Message) => m.type === 'event' && m.event.type === 'tokens' && m.event.tokens[0]?.author === 'model'
const isEnd = (m: Message) => m.type === 'event' && m.event.type === 'episode-finished'

/** Presses Step until the run is over; what it rested at each time, with what had come since the press. */
async function walk(page: Opened, grain: Grain) {
  const rests: { state: RunState; sampled: number[]; ended: number }[] = []
  for (;;) {
    const from = page.messages.length
    const state = ((await page.until((m) => m.type === 'state' && m.state.state !== 'running', { type: 'step', grain })) as Extract<Message, { type: 'state' }>).state
    if (state.state === 'finished') return rests
    const since = page.messages.slice(from)
    const sampled = since.filter(isSampled).map((m) => (m.type === 'event' && m.event.type === 'tokens' ? m.event.index : -1))
    rests.push({ state, sampled, ended: since.filter(isEnd).length })
    if (rests.length > 500) throw new Error('It does not end.')
  }
}

async function straight(grpo: Partial<GrpoConfig> = {}) {
  const page = open()
  await page.configure(grpo)
  await page.untilState('finished', { type: 'train' })
  return page
}

describe('Step', () => {
  it('by token writes one token in every slot that is being written, and rests', async () => {
    const page = open()
    await page.configure()
    expect(await page.untilState('paused', { type: 'step', grain: 'token' })).toEqual({ state: 'paused', step: 0, at: 'token' })
    expect(page.states().at(-2)).toEqual({ state: 'running', until: 'one-token' })
    expect(page.messages.filter(isSampled)).toHaveLength(4)
    const rests = await walk(page, 'token')
    const inMidStep = rests.filter(({ state }) => state.state === 'paused' && state.at === 'token')
    expect(inMidStep.length).toBeGreaterThan(20)
    for (const { sampled } of inMidStep) expect([sampled.length >= 1, new Set(sampled).size]).toEqual([true, sampled.length])
  })

  it('by episode rests once the next episode has ended', async () => {
    const page = open({ delay: (session) => 3 * (session % 4) })
    await page.configure()
    const rests = await walk(page, 'episode')
    const inMidStep = rests.filter(({ state }) => state.state === 'paused' && state.at === 'episode')
    expect(inMidStep.length).toBeGreaterThan(2)
    for (const { ended } of inMidStep) expect(ended).toBeGreaterThan(0)
  })

  it.each(['token', 'episode'] as const)('by %s ends with the GRPO step, after its update, and leaves the run that an undisturbed one would', async (grain) => {
    const page = open()
    await page.configure()
    const rests = await walk(page, grain)
    expect(rests.filter(({ state }) => state.state === 'paused' && state.at === undefined).map(({ state }) => state)).toEqual([{ state: 'paused', step: 1 }])
    const other = await straight()
    expect(numbers(page)).toEqual(numbers(other))
    expect(await adapter(page)).toEqual(await adapter(other))
    expect(numbers(page)).toHaveLength(2)
  })

  it('by another grain goes on from where it stands', async () => {
    const page = open()
    await page.configure({ max_steps: 3 })
    await page.untilState('paused', { type: 'step', grain: 'token' })
    expect(await page.untilState('paused', { type: 'step', grain: 'episode' })).toEqual({ state: 'paused', step: 0, at: 'episode' })
    expect(await page.untilState('paused', { type: 'step' })).toEqual({ state: 'paused', step: 1 })
    await page.untilState('paused', { type: 'step', grain: 'token' })
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 3 })
  })

  it('can be reset from the middle of a token step, and the next run has no trace of it', async () => {
    const page = open()
    await page.configure()
    await page.untilState('paused', { type: 'step', grain: 'token' })
    await page.untilState('ready', { type: 'reset' })
    await page.untilState('finished', { type: 'train' })
    expect(numbers(page)).toEqual(numbers(await straight()))
  })
})

describe('the pace', () => {
  // By a clock that goes on only when it is told to, whatever the machine takes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  const times = (page: Opened) => {
    const at: number[] = []
    const post = page.messages.push.bind(page.messages)
    page.messages.push = (...messages) => {
      if (messages.some(isSampled)) at.push(performance.now())
      return post(...messages)
    }
    return at
  }

  it('leaves at least its interval between two tokens of a slot, and the measured times as they are', async () => {
    const page = open()
    page.runner.handle({ type: 'pace', tokensPerSecond: 40 })
    await page.configure({ prompts_per_step: 1 })
    const at = times(page)
    let over = false
    void page.untilState('paused', { type: 'step' }).then(() => (over = true))
    while (!over) await vi.advanceTimersByTimeAsync(1)
    const ticks = [...new Set(at)]
    expect(ticks.length).toBeGreaterThan(15)
    for (const [i, tick] of ticks.slice(1).entries()) expect(tick - (ticks[i] ?? NaN)).toBe(25)
    expect(page.records()[0]?.seconds.sampling).toBe(0)
    page.runner.handle({ type: 'pace', tokensPerSecond: null })
    await page.untilState('finished', { type: 'train' })
    expect(numbers(page)).toEqual(numbers(await straight({ prompts_per_step: 1 })))
  })

  it('is left at once by a pause, by another pace and by Reset', async () => {
    const page = open()
    await page.configure()
    page.runner.handle({ type: 'pace', tokensPerSecond: 0.01 })
    const from = performance.now()
    await page.until(isSampled, { type: 'train' })
    await vi.advanceTimersByTimeAsync(20)
    await page.untilState('paused', { type: 'pause' })
    page.runner.handle({ type: 'train' })
    await vi.advanceTimersByTimeAsync(20)
    expect(page.messages.filter(isSampled)).toHaveLength(4)
    await page.until(isSampled, { type: 'pace', tokensPerSecond: 1000 })
    page.runner.handle({ type: 'pace', tokensPerSecond: 0.01 })
    await page.untilState('ready', { type: 'reset' })
    // No more time has passed than was let pass.
    expect(performance.now() - from).toBe(40)
  })
})

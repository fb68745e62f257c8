/** The run as the page drives it, on the real training loop over a bandit and a policy of three replies. */
import { describe, expect, it } from 'vitest'
import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { banditConfig } from '../train/testing/bandit'
import type { Command, Message } from './protocol'
import { open } from './testing/open-runner'

type Opened = ReturnType<typeof open>

const isTokens = (m: Message) => m.type === 'event' && m.event.type === 'tokens'
const settle = () => new Promise((resolve) => setTimeout(resolve, 20))
/** What the run's numbers are, without clocks. */
const numbers = (page: Opened) => page.records().map(({ step, episodes, version }) => ({ step, version, ids: episodes.map((e) => e.ids) }))
const theta = (tensors: NamedTensor[]) => [...(tensors[0]?.data ?? [])]

describe('a run', () => {
  it('is loaded, told to the page, and ready', async () => {
    const page = open()
    await page.configure({ seed: 9 })
    expect(page.messages.map((m) => (m.type === 'state' ? m.state.state : m.type))).toEqual(['loading', 'cleared', 'environment', 'engine', 'ready'])
    const told = page.messages.find((m) => m.type === 'environment')
    expect(told).toMatchObject({ spec: { kind: 'openenv', url: 'ws://bandit' }, maxSessions: null })
    expect(told?.type === 'environment' && told.tools.map((tool) => tool.function.name)).toEqual(['pull'])
    expect(page.engines[0]?.resets).toEqual([9])
  })

  it('trains to its limit and says so', async () => {
    const page = open()
    await page.configure()
    expect(await page.untilState('finished', { type: 'train' })).toEqual({ state: 'finished', step: 2, reason: 'step-limit' })
    expect(page.records().map((r) => r.step)).toEqual([1, 2])
    expect(page.states().slice(-2)[0]).toEqual({ state: 'running', until: 'limit' })
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ reason: 'step-limit' })
    expect(page.records()).toHaveLength(2)
  })

  it('takes one step at a time', async () => {
    const page = open()
    await page.configure()
    expect(await page.untilState('paused', { type: 'step' })).toEqual({ state: 'paused', step: 1 })
    expect(page.states().at(-2)).toEqual({ state: 'running', until: 'one-step' })
    await settle()
    expect(page.records()).toHaveLength(1)
    expect(await page.untilState('finished', { type: 'step' })).toMatchObject({ step: 2 })
  })

  it('ends at target_reward', async () => {
    const page = open({ reward: () => 1 })
    await page.configure({ max_steps: 40, target_reward: 0.9 })
    expect(await page.untilState('finished', { type: 'train' })).toEqual({ state: 'finished', step: 5, reason: 'target-reward' })
  })

  it('does nothing without a configuration', async () => {
    const page = open()
    for (const type of ['train', 'step', 'pause', 'reset'] as const) page.runner.handle({ type })
    await settle()
    expect(page.messages).toEqual([])
  })
})

describe('Pause', () => {
  it('stops in the middle of a step, which goes on where it stood', async () => {
    const straight = open()
    await straight.configure()
    await straight.untilState('finished', { type: 'train' })

    const page = open()
    await page.configure()
    await page.until(isTokens, { type: 'train' })
    expect(await page.untilState('paused', { type: 'pause' })).toEqual({ state: 'paused', step: 0 })
    const told = page.messages.length
    await settle()
    expect(page.messages).toHaveLength(told)
    expect(page.records()).toHaveLength(0)
    await page.untilState('finished', { type: 'train' })
    expect(numbers(page)).toEqual(numbers(straight))
    expect(page.states().map((s) => s.state)).toEqual(['loading', 'ready', 'running', 'pausing', 'paused', 'running', 'finished'])
  })

  it('pressed twice, or before anything runs, changes nothing', async () => {
    const page = open()
    await page.configure()
    page.runner.handle({ type: 'pause' })
    expect(page.states().at(-1)?.state).toBe('ready')
    await page.until(isTokens, { type: 'train' })
    await page.untilState('paused', { type: 'pause' })
    page.runner.handle({ type: 'pause' })
    await settle()
    expect(page.states().at(-1)).toEqual({ state: 'paused', step: 0 })
  })

  it('during the update lets the step end', async () => {
    const page = open()
    await page.configure()
    await page.until((m) => m.type === 'event' && m.event.type === 'training', { type: 'train' })
    expect(await page.untilState('paused', { type: 'pause' })).toEqual({ state: 'paused', step: 1 })
    await settle()
    expect(page.records()).toHaveLength(1)
  })

  it('taken back at once never rests', async () => {
    const page = open()
    await page.configure()
    await page.until(isTokens, { type: 'train' })
    page.runner.handle({ type: 'pause' })
    await page.untilState('finished', { type: 'train' })
    expect(page.records()).toHaveLength(2)
  })

  it('turns a long run into a step: Step after Pause ends with that step', async () => {
    const page = open()
    await page.configure({ max_steps: 5 })
    await page.until(isTokens, { type: 'train' })
    await page.untilState('paused', { type: 'pause' })
    expect(await page.untilState('paused', { type: 'step' })).toEqual({ state: 'paused', step: 1 })
  })
})

describe('Reset', () => {
  it('drops the step that runs and begins the same run again', async () => {
    const page = open()
    await page.configure()
    await page.untilState('finished', { type: 'train' })
    const first = numbers(page)
    await page.untilState('ready', { type: 'reset' })
    expect(page.messages.at(-3)).toEqual({ type: 'cleared' })
    page.messages.length = 0
    await page.until(isTokens, { type: 'train' })
    await page.untilState('ready', { type: 'reset' })
    expect(page.records()).toEqual([])
    page.messages.length = 0
    await page.untilState('finished', { type: 'train' })
    expect(numbers(page)).toEqual(first)
    expect(page.engines).toHaveLength(1)
  })

  it('works from a pause in mid-step', async () => {
    const page = open()
    await page.configure()
    await page.until(isTokens, { type: 'train' })
    await page.untilState('paused', { type: 'pause' })
    await page.untilState('ready', { type: 'reset' })
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })
})

describe('new settings', () => {
  it('end the run in progress and its environment', async () => {
    const page = open()
    await page.configure()
    await page.until(isTokens, { type: 'train' })
    await page.configure({ seed: 3 })
    expect(page.environments.map((e) => e.closed)).toEqual([1, 0])
    expect(page.records()).toEqual([])
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })

  it('that cannot be loaded are told as a sentence; later ones work', async () => {
    const page = open()
    page.refuseWith(new PlaygroundError('model', 'There is no model at models/none.', 'Check the folder.'))
    const config = banditConfig({ max_steps: 2 })
    expect(await page.untilState('failed', { type: 'configure', config })).toEqual({
      state: 'failed',
      error: 'There is no model at models/none.',
      advice: 'Check the folder.',
      recoverable: false,
      kind: 'model',
    })
    page.refuseWith(null)
    await page.configure()
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })

  it('an error that nobody foresaw still becomes a sentence', async () => {
    const page = open()
    page.refuseWith(new TypeError('x is not a function'))
    const state = await page.untilState('failed', { type: 'configure', config: banditConfig() })
    expect(state).toMatchObject({ error: 'x is not a function', advice: expect.stringMatching(/reload/) as string })
  })
})

describe('evaluation', () => {
  const answer = (m: Message) => m.type === 'evaluation' || m.type === 'evaluation-failed'

  it('gives the success rates of both splits when nothing is trained', async () => {
    const page = open()
    await page.configure()
    const result = await page.until(answer, { type: 'evaluate', requestId: 4, episodes: 30 })
    expect(result).toMatchObject({ type: 'evaluation', requestId: 4, result: { episodes: 30 } })
    if (result.type !== 'evaluation') return
    expect(result.result.train).toBeGreaterThan(0.1)
    expect(result.result.train).toBeLessThan(0.6)
    expect(page.records()).toEqual([])
    expect(await page.until(answer, { type: 'evaluate', requestId: 5, episodes: 30 })).toEqual({ ...result, requestId: 5 })
  })

  it('is refused without a model and while a step is trained, which goes on', async () => {
    const page = open()
    expect(await page.until(answer, { type: 'evaluate', requestId: 1, episodes: 4 })).toMatchObject({
      type: 'evaluation-failed',
      requestId: 1,
      error: expect.stringContaining('no model') as string,
    })
    await page.configure()
    await page.until(isTokens, { type: 'train' })
    expect(await page.until(answer, { type: 'evaluate', requestId: 2, episodes: 4 })).toMatchObject({
      type: 'evaluation-failed',
      requestId: 2,
      error: expect.stringContaining('being trained') as string,
    })
    await page.untilState('finished')
    expect(page.records()).toHaveLength(2)
  })
})

describe('chat', () => {
  const options = { fresh: true, adapter: 'off', enable_thinking: false, tools: true, temperature: 1, max_new_tokens: 50 } as const
  const ask = (requestId: number): Command => ({ type: 'chat', requestId, text: 'Hello', options })
  const ended = (m: Message) => m.type === 'chat-ended'
  const reasonOf = (m: Message) => (m.type === 'chat-ended' ? m.reason : null)

  it('answers when ready and between steps, and the run goes on as if nobody had spoken', async () => {
    const silent = open()
    await silent.configure()
    await silent.untilState('finished', { type: 'train' })

    const page = open()
    await page.configure()
    expect(await page.until(ended, ask(1))).toMatchObject({ requestId: 1, reason: 'end-of-turn' })
    await page.untilState('paused', { type: 'step' })
    expect(await page.until(ended, ask(2))).toMatchObject({ requestId: 2, reason: 'end-of-turn' })
    await page.untilState('finished', { type: 'train' })
    expect(await page.until(ended, ask(3))).toMatchObject({ requestId: 3, reason: 'end-of-turn' })
    expect(numbers(page)).toEqual(numbers(silent))
  })

  it('is refused with a sentence without a model, while a step is trained and in its middle', async () => {
    const page = open()
    expect(await page.until(ended, ask(1))).toMatchObject({ reason: 'failed', error: expect.stringContaining('no model') as string })
    await page.configure()
    await page.until(isTokens, { type: 'train' })
    expect(await page.until(ended, ask(2))).toMatchObject({ reason: 'failed', error: expect.stringContaining('Press Pause first') as string })
    await page.untilState('paused', { type: 'pause' })
    expect(await page.until(ended, ask(3))).toMatchObject({ reason: 'failed', error: expect.stringContaining('finish the step first') as string })
    await page.untilState('finished', { type: 'train' })
  })

  it('stops at once on chat-stop, and makes way for what needs the engine', async () => {
    const page = open()
    await page.configure()
    page.runner.handle(ask(1))
    expect(reasonOf(await page.until(ended, { type: 'chat-stop' }))).toBe('stopped')
    expect(reasonOf(await page.until(ended, ask(2)))).toBe('end-of-turn')
    page.runner.handle(ask(3))
    const last = page.until(ended)
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
    expect(reasonOf(await last)).toBe('stopped')
  })
})

describe('a failure in a step', () => {
  it('that is no loss of the device leaves the run in place', async () => {
    const page = open()
    await page.configure()
    const [engine] = page.engines
    if (!engine) throw new Error('no engine')
    engine.fail = () => new PlaygroundError('non-finite', 'The gradient is not finite.', 'Lower learning_rate.')
    expect(await page.untilState('failed', { type: 'train' })).toEqual({
      state: 'failed',
      error: 'The gradient is not finite.',
      advice: 'Lower learning_rate.',
      recoverable: true,
      kind: 'non-finite',
    })
    engine.fail = null
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
    expect(page.records().map((r) => r.step)).toEqual([1, 2])
    expect(page.discarded()).toBe(0)
  })

  it.each(['device-lost', 'memory'] as const)('%s: a new engine on WASM goes on with the adapter of the last finished step', async (kind) => {
    const page = open()
    await page.configure({ max_steps: 3 }, { backend: 'webgpu' })
    await page.untilState('paused', { type: 'step' })
    const [lost] = page.engines
    if (!lost) throw new Error('no engine')
    const kept = theta(await lost.exportParameters())
    expect(kept.some((x) => x !== 0)).toBe(true)
    lost.fail = () => new PlaygroundError(kind, 'The GPU was taken away.')
    expect(await page.untilState('failed', { type: 'train' })).toMatchObject({
      error: 'The GPU was taken away.',
      advice: expect.stringContaining('step 1') as string,
      recoverable: true,
    })
    expect(page.discarded()).toBe(1)
    expect(page.prepared.map((c) => c.backend)).toEqual(['webgpu', 'wasm'])
    expect(page.environments.map((e) => e.closed)).toEqual([1, 0])
    const next = page.engines[1]
    expect(theta((await next?.exportParameters()) ?? [])).toEqual(kept)
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 3 })
    expect(page.records().map((r) => r.step)).toEqual([1, 2, 3])
    const counted = page.records().map((r) => r.metrics['num_tokens'] ?? 0)
    expect(counted).toEqual(counted.toSorted((a, b) => a - b))
    await page.untilState('ready', { type: 'reset' })
    expect(theta((await next?.exportParameters()) ?? []).every((x) => x === 0)).toBe(true)
  })

  it('keeps the reference policy of the run that goes on', async () => {
    const kl = async (lose: boolean) => {
      const page = open()
      await page.configure({ max_steps: 2, beta: 0.1 }, { backend: 'webgpu' })
      await page.untilState('paused', { type: 'step' })
      const [lost] = page.engines
      if (lose && lost) {
        lost.fail = () => new PlaygroundError('device-lost', 'The GPU was taken away.')
        await page.untilState('failed', { type: 'train' })
      }
      await page.untilState('finished', { type: 'train' })
      return page.records()[1]?.metrics['kl'] ?? NaN
    }
    const undisturbed = await kl(false)
    expect(undisturbed).toBeGreaterThan(0)
    expect(await kl(true)).toBeCloseTo(undisturbed, 6)
  })

  it('of a model of the Hub asks for the same backend again: WASM would take seconds a token', async () => {
    const page = open()
    await page.configure({ max_steps: 3 }, { model: 'acme/large', backend: 'webgpu' })
    await page.untilState('paused', { type: 'step' })
    page.engines[0]!.fail = () => new PlaygroundError('device-lost', 'The GPU was taken away.')
    const failed = await page.untilState('failed', { type: 'train' })
    expect(failed).toMatchObject({ recoverable: true, advice: expect.stringMatching(/^The run is kept as it was after step 1: press Train to go on from it, or lower/) as string })
    expect(page.prepared.map(({ backend }) => backend)).toEqual(['webgpu', 'webgpu'])
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 3 })
  })

  it('before the first step was finished starts over on WASM', async () => {
    const page = open()
    await page.configure({}, { backend: 'webgpu' })
    const [lost] = page.engines
    if (lost) lost.fail = () => new PlaygroundError('device-lost', 'The GPU was taken away.')
    expect(await page.untilState('failed', { type: 'train' })).toMatchObject({ recoverable: true })
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
    expect(page.records().map((r) => r.step)).toEqual([1, 2])
  })

  it('that no new engine can mend asks for a new configuration', async () => {
    const page = open()
    await page.configure({}, { backend: 'webgpu' })
    const [lost] = page.engines
    if (lost) lost.fail = () => new PlaygroundError('device-lost', 'The GPU was taken away.', 'Reload the page.')
    page.refuseWith(new PlaygroundError('engine', 'WASM does not start.'))
    expect(await page.untilState('failed', { type: 'train' })).toEqual({
      state: 'failed',
      error: 'The GPU was taken away.',
      advice: 'Reload the page.',
      recoverable: false,
      kind: 'device-lost',
    })
    page.refuseWith(null)
    await page.configure()
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })
})

describe('an engine that died while nothing ran', () => {
  it.each(['reset', 'configure'] as const)('is made again by %s', async (type) => {
    const page = open()
    await page.configure()
    const [dead] = page.engines
    if (!dead) throw new Error('no engine')
    dead.resetAdapter = () => {
      throw new PlaygroundError('device-lost', 'The GPU was taken away.')
    }
    await page.untilState('ready', type === 'reset' ? { type } : { type, config: banditConfig({ max_steps: 2 }) })
    expect(page.engines).toHaveLength(2)
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })
})

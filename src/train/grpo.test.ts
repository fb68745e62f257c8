/** The whole loop, with the real rollout and chat format, on a policy of three replies and a bandit. */
import { describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../core/config'
import type { StepRecord, TrainEvent } from '../core/events'
import { addSpans, type TimelineSpan } from '../core/timeline'
import { GrpoTrainer, type GrpoTrainerOptions } from './grpo'
import { groupSeeds } from './seeds'
import { bandit, banditConfig, banditEngine, chat } from './testing/bandit'

function make(grpo: Partial<GrpoConfig> = {}, change: Partial<GrpoTrainerOptions> = {}, engine = banditEngine()) {
  const events: TrainEvent[] = []
  const environment = change.environment ?? bandit()
  const trainer = new GrpoTrainer({
    config: banditConfig(grpo),
    engine,
    environment,
    chat,
    onEvent: (event) => events.push(event),
    now: () => 0,
    wait: async () => {},
    ...change,
  })
  return { trainer, engine, events, environment }
}

/** Without what a clock measured. */
function timeless(value: unknown): unknown {
  const clocks = new Set(['ms', 'environment/latency_ms'])
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (clocks.has(key) ? undefined : inner)))
}

describe('GrpoTrainer', () => {
  it('learns which arm pays', async () => {
    const { trainer, engine } = make()
    const records: StepRecord[] = []
    for (let i = 0; i < 40; i++) records.push(await trainer.step())
    const success = (part: StepRecord[]) => part.reduce((sum, r) => sum + (r.metrics['success'] ?? 0), 0) / part.length
    expect(success(records.slice(0, 5))).toBeLessThan(0.7)
    expect(success(records.slice(-5))).toBeGreaterThan(0.9)
    expect(engine.probabilities()[1]).toBeGreaterThan(0.9)
    expect(trainer.stepNumber).toBe(40)
    expect(records.map((r) => r.step)).toEqual(records.map((_, i) => i + 1))
    expect(records.at(-1)?.version).toBe(40)
  })

  it('tells a step in order', async () => {
    const { trainer, events } = make()
    const record = await trainer.step()
    expect(record.groups.some((group) => group.signal)).toBe(true)
    const types = events.map((event) => event.type)
    expect(types[0]).toBe('step-started')
    expect(types.filter((type) => type === 'step-started')).toHaveLength(1)
    expect(types.at(-1)).toBe('step-finished')
    expect(types.filter((type) => type === 'episode-started')).toHaveLength(8)
    expect(types.filter((type) => type === 'episode-finished')).toHaveLength(8)
    const scored = types.indexOf('scored')
    expect(types.lastIndexOf('episode-finished')).toBeLessThan(scored)
    expect(types.slice(scored + 1, -1).every((type) => type === 'training')).toBe(true)
    const training = events.flatMap((event) => (event.type === 'training' ? [event.done] : []))
    expect(training).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(events.at(-1)).toEqual({ type: 'step-finished', record })
  })

  it('records what happened to every episode', async () => {
    const { trainer } = make()
    const { episodes, groups, metrics, seconds } = await trainer.step()
    expect(episodes.map((e) => e.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(new Set(episodes.slice(0, 4).map((e) => e.seed)).size).toBe(1)
    expect(episodes[0]?.seed).not.toBe(episodes[4]?.seed)
    expect(groups).toHaveLength(2)
    for (const episode of episodes) {
      expect(episode.exit).toBe('env_done')
      expect(episode.reward).toBe(episode.turns[0]?.calls[0]?.call.arguments['arm'] === 'B' ? 1 : 0)
      expect(episode.trainLogprobs).toHaveLength(episode.ids.length)
      const chosen = episode.mask.indexOf(1)
      expect(episode.trainLogprobs?.[chosen]).toBeCloseTo(Math.log(1 / 3), 12)
    }
    expect(metrics['reward']).toBe(episodes.reduce((sum, e) => sum + (e.reward ?? 0), 0) / 8)
    expect(metrics['rewards/Bandit/mean']).toBe(metrics['reward'])
    expect(metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-12)
    expect(metrics['tools/call_frequency']).toBe(1)
    expect(metrics['turns/mean']).toBe(1)
    expect(metrics['exit/env_done']).toBe(1)
    expect(metrics['num_tokens']).toBe(episodes.reduce((sum, e) => sum + e.promptLength + e.mask.filter((m) => m === 1).length, 0))
    expect(metrics).toMatchObject({ learning_rate: 0.1, 'environment/unscorable': 0, step_time: 0 })
    expect(seconds).toEqual({ sampling: 0, training: 0 })
  })

  it('says where the time went, without pauses, as it goes and with the record', async () => {
    let seconds = 0
    const events: TrainEvent[] = []
    const takesTime = ['tokens', 'environment-waiting', 'training']
    const onEvent = (event: TrainEvent): void => {
      events.push(event)
      if (takesTime.includes(event.type)) seconds += 0.0625
    }
    const { trainer } = make({}, { onEvent, now: () => seconds })
    let paused = false
    const record = await trainer.step(async () => {
      if (!paused) seconds += 100
      paused = true
    })
    const timeline = record.timeline ?? []
    const kinds = new Set(timeline.map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual(['sampling', 'training', 'waiting'])
    const { sampling, training } = record.seconds
    for (const { kind, start, end } of timeline) {
      expect(start).toBeGreaterThanOrEqual(kind === 'training' ? sampling * 1000 : 0)
      expect(end).toBeLessThanOrEqual((kind === 'training' ? sampling + training : sampling) * 1000)
    }
    expect(timeline.flatMap(({ part }) => part ?? [])).toEqual(['gradient', 'score'])
    const trained = timeline.filter(({ lane }) => lane === -1).reduce((sum, { start, end }) => sum + end - start, 0)
    expect(trained).toBeCloseTo(training * 1000, 1)
    const told: TimelineSpan[] = []
    for (const event of events) if (event.type === 'timeline') addSpans(told, event.spans)
    expect(told).toEqual(timeline)
    const written = record.episodes.reduce((sum, { mask }) => sum + mask.filter((m) => m === 1).length, 0)
    const seen = record.episodes.reduce((sum, { ids }) => sum + ids.length, 0)
    expect(record.metrics['tokens_per_second/sampling']).toBeCloseTo(written / sampling, 9)
    expect(record.metrics['tokens_per_second/training']).toBeCloseTo(seen / training, 9)
  })

  it('is a function of the seed, whatever the order in which the environment answers', async () => {
    const run = async (seed: number, delay?: (session: number) => number) => {
      const { trainer, events } = make({ seed }, { environment: bandit(delay ? { delay } : {}) })
      const records = [await trainer.step(), await trainer.step(), await trainer.step()]
      return { records: timeless(records), events: timeless(events) }
    }
    const first = await run(1)
    expect(await run(1)).toEqual(first)
    expect((await run(1, (session) => (session * 7) % 5)).records).toEqual(first.records)
    expect((await run(2)).records).not.toEqual(first.records)
  })

  it('draws other scenarios in every step and group, as small non-negative integers', () => {
    const seeds = [...groupSeeds(1, 1, 50), ...groupSeeds(1, 2, 50), ...groupSeeds(2, 1, 50)]
    expect(new Set(seeds).size).toBe(150)
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).toBe(true)
  })

  it('says when no group has a signal, and the step counts', async () => {
    const { trainer, engine, events } = make({}, { environment: bandit({ reward: () => 1 }) })
    const record = await trainer.step()
    expect(events.find((event) => event.type === 'notice')).toMatchObject({ level: 'info' })
    expect(record.metrics).toMatchObject({ 'groups/useful': 0, frac_reward_zero_std: 1, grad_norm: 0, loss: 0 })
    expect(record.metrics['entropy']).toBeGreaterThan(0)
    expect([...engine.theta]).toEqual([0, 0, 0, 0])
    expect(trainer.stepNumber).toBe(1)
    await trainer.step()
    // Once is news: a solved task stays silent.
    expect(events.filter((event) => event.type === 'notice')).toHaveLength(1)
  })

  it('leaves an unscorable episode out and shows it', async () => {
    const { trainer, events } = make({}, { environment: bandit({ fails: (session) => session === 2 }) })
    const record = await trainer.step()
    const holes = record.episodes.filter((e) => e.reward === null)
    expect(holes).toHaveLength(1)
    expect(holes[0]).toMatchObject({ advantage: 0, exit: 'env_error', trainLogprobs: null, entropies: null })
    expect(record.metrics['environment/unscorable']).toBe(1)
    expect(record.groups.map((group) => group.unscorable).sort()).toEqual([0, 1])
    expect(events.filter((event) => event.type === 'notice')).toHaveLength(1)
  })

  it('survives an outage without a trace in its numbers', async () => {
    const calm = make()
    const expected = [await calm.trainer.step(), await calm.trainer.step()]
    // Sessions 8 to 23 are the second step's first two attempts.
    const stormy = make({}, { environment: bandit({ fails: (session) => session >= 8 && session < 24 }) })
    const first = await stormy.trainer.step()
    const theta = [...stormy.engine.theta]
    let during: number[] | null = null
    const wait = async () => void (during = [...stormy.engine.theta])
    Object.assign(stormy.trainer, { wait })
    const second = await stormy.trainer.step()
    expect(during).toEqual(theta)
    expect(stormy.events.filter((event) => event.type === 'notice' && event.level === 'warning')).toHaveLength(2)
    expect(timeless([first, second])).toEqual(timeless(expected))
    expect(stormy.trainer.stepNumber).toBe(2)
  })

  it('says that rewards are too large instead of blaming the learning rate', async () => {
    for (const size of [1e308, 1e200]) {
      const { trainer, engine } = make({}, { environment: bandit({ reward: (arm) => (arm === 'A' ? size : -size) }) })
      await expect(trainer.step()).rejects.toMatchObject({
        kind: 'environment',
        message: `The rewards of "Bandit" go from ${-size} to ${size}, which is too large to be compared.`,
      })
      expect(engine.version).toBe(0)
    }
    const unscaled = make({ scale_rewards: 'none' }, { environment: bandit({ reward: (arm) => (arm === 'A' ? 1e30 : 0) }) })
    await expect(unscaled.trainer.step()).rejects.toThrow('too large')
    const scaled = make({}, { environment: bandit({ reward: (arm) => (arm === 'A' ? 1e30 : 0) }) })
    expect((await scaled.trainer.step()).step).toBe(1)
  })

  it('does not wait for ever for an environment that is always done at reset', async () => {
    const done = bandit()
    const { open } = done
    done.open = async () => {
      const session = await open()
      return { ...session, reset: async (options) => ({ ...(await session.reset(options)), done: true }) }
    }
    const waits: number[] = []
    const wait = async (seconds: number) => void waits.push(seconds)
    const { trainer } = make({}, { environment: done, wait })
    await expect(trainer.step()).rejects.toThrow(/failed in the same way 4 times in a row in 8 of 8 episodes of step 1.*already done after reset/)
    expect(waits.map((seconds, i) => seconds >= 2 ** i / 2 && seconds <= 2 ** i)).toEqual([true, true, true])
  })

  it('does not wait for ever for a first text that no context holds', async () => {
    const wordy = bandit()
    const { open } = wordy
    wordy.open = async () => {
      const session = await open()
      return { ...session, reset: async (options) => ({ ...(await session.reset(options)), text: 'word '.repeat(100_000) }) }
    }
    const { trainer } = make({}, { environment: wordy })
    await expect(trainer.step()).rejects.toThrow(/same way 4 times.*the context holds/)
  })

  it('leaves everything as it was when a person stops it in the middle', async () => {
    const { trainer, engine, events } = make({}, { environment: bandit({ delay: () => 3 }) })
    const controller = new AbortController()
    let ticks = 0
    const step = trainer.step(async () => void (++ticks === 5 && controller.abort()), controller.signal)
    await expect(step).rejects.toMatchObject({ kind: 'stopped' })
    expect(trainer.stepNumber).toBe(0)
    expect(engine.version).toBe(0)
    expect(events.some((event) => event.type === 'step-finished')).toBe(false)
    // The same step can be run again.
    expect(timeless(await trainer.step())).toEqual(timeless(await make().trainer.step()))
  })

  it('waits at the gate, and the pause does not count as work', async () => {
    let clock = 0
    const { trainer } = make({}, { now: () => clock })
    let open: () => void = () => {}
    let waited = 0
    const gate = () =>
      waited++ === 3
        ? new Promise<void>((resolve) => {
            open = resolve
          })
        : Promise.resolve()
    const step = trainer.step(gate)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(waited).toBeGreaterThanOrEqual(4)
    expect(trainer.stepNumber).toBe(0)
    clock = 1000
    open()
    const record = await step
    expect(record.metrics['step_time']).toBe(0)
  })

  it('can be stopped while it is paused before the update', async () => {
    const controller = new AbortController()
    const { trainer, engine, events } = make()
    const gate = () => {
      if (!events.some((event) => event.type === 'scored')) return Promise.resolve()
      setTimeout(() => controller.abort(), 5)
      return new Promise<void>(() => {})
    }
    await expect(trainer.step(gate, controller.signal)).rejects.toMatchObject({ kind: 'stopped' })
    expect(engine.version).toBe(0)
  })

  it('takes the adapter at its first step as the reference', async () => {
    const engine = banditEngine()
    engine.theta.set([1, 0, 0, 0])
    const { trainer } = make({ beta: 0.1 }, { environment: bandit({ reward: () => 1 }) }, engine)
    const record = await trainer.step()
    expect(record.metrics['kl']).toBe(0)
    expect(engine.theta[0]).toBe(1)
  })

  it('gives another gradient when environment tokens are not masked', async () => {
    const reward = (arm: string) => (arm === 'B' ? 1 : 0)
    const masked = make({}, { environment: bandit({ reward, pulls: 2 }) })
    const open = make({}, { environment: bandit({ reward, pulls: 2 }), maskEnvironment: false })
    const { groups } = await masked.trainer.step()
    await open.trainer.step()
    expect(groups.some((group) => group.signal)).toBe(true)
    expect(masked.engine.gradients[0]?.at(-1)).toBe(0)
    expect(open.engine.gradients[0]).not.toEqual(masked.engine.gradients[0])
  })
})

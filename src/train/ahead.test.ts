/** Sampling ahead: what a batch is trained on, that timing changes nothing, and what happens when things go wrong beside each other. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { GrpoConfig } from '../core/config'
import type { TrainSequence } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { StepRecord, TrainEvent } from '../core/events'
import { addSpans, byStart, type TimelineSpan } from '../core/timeline'
import { advantages } from '../rl'
import { rollout } from '../rollout/rollout'
import { GrpoTrainer, type GrpoTrainerOptions } from './grpo'
import { groupSeeds } from './seeds'
import { bandit, banditConfig, banditEngine, type BanditOptions, chat } from './testing/bandit'
import { EngineTurns, piecesOf } from './turns'
import { updatePolicy } from './update'

const AHEAD: Partial<GrpoConfig> = { max_staleness: 1, max_steps: 4 }

function make(grpo: Partial<GrpoConfig> = {}, options: BanditOptions = {}, change: Partial<GrpoTrainerOptions> = {}) {
  const engine = banditEngine()
  const events: TrainEvent[] = []
  const environment = bandit(options)
  const config = banditConfig({ ...AHEAD, ...grpo })
  const trainer = new GrpoTrainer({ config, engine, environment, chat, onEvent: (event) => events.push(event), wait: () => new Promise((resolve) => setTimeout(resolve, 1)), ...change })
  return { trainer, engine, environment, events, config }
}

async function run(grpo: Partial<GrpoConfig> = {}, options: BanditOptions = {}, steps = 4) {
  const made = make(grpo, options)
  const records: StepRecord[] = []
  for (let i = 0; i < steps; i++) records.push(await made.trainer.step())
  return { ...made, records }
}

const CLOCKS = new Set(['ms', 'environment/latency_ms', 'step_time', 'tokens_per_second/sampling', 'tokens_per_second/training', 'seconds', 'timeline'])
const timeless = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, inner: unknown) => (CLOCKS.has(key) ? undefined : inner)))

describe('with max_staleness 1', () => {
  it('a batch is what the weights one update before wrote, and its step is that of a loss with the sampler’s log-probs as the old ones', async () => {
    const { records, engine } = await run({}, { delay: (session) => session % 3 })
    const { grpo, system_prompt, user_prompt } = banditConfig(AHEAD)
    const hand = banditEngine()
    const environment = bandit()
    const sample = (step: number) =>
      rollout({ step, groupSeeds: groupSeeds(grpo.seed, step, grpo.prompts_per_step), num_generations: grpo.num_generations, split: 'train', config: grpo, system_prompt, user_prompt, environment, sampler: hand, chat, onEvent: () => {} })
    let batch = await sample(1)
    for (const step of [1, 2, 3, 4]) {
      const record = records[step - 1]
      expect(record?.episodes.map(({ ids, logprobs }) => ({ ids, logprobs }))).toEqual(batch.map(({ ids, logprobs }) => ({ ids, logprobs })))
      const next = step < 4 ? await sample(step + 1) : []
      const given = advantages(batch.map(({ reward }) => reward), grpo.num_generations, grpo.scale_rewards)
      const { updates } = await updatePolicy({ engine: hand, grpo, episodes: batch, advantages: given, optimizerSteps: step - 1, maskEnvironment: true, stale: step > 1, onProgress: () => {} })
      expect(record?.metrics['loss']).toBeCloseTo(updates[0]?.loss ?? NaN, 12)
      batch = next
    }
    engine.theta.forEach((value, i) => expect(Math.abs(value - (hand.theta[i] as number))).toBeLessThan(1e-12))
    expect(engine.probabilities()[1]).toBeGreaterThan(1 / 3)
  })

  it('the ratio is the policy’s over the sampler’s, and the curves say so', async () => {
    const { records } = await run({ learning_rate: 0.3 })
    const [first, second] = records
    expect(records.map(({ metrics }) => metrics['sampling/staleness'])).toEqual([0, 1, 1, 1])
    expect(first?.metrics['sampling/importance_sampling_ratio/max']).toBeCloseTo(1, 12)
    const ratios = (second?.episodes ?? []).flatMap(({ mask, logprobs, trainLogprobs, lastLogprobs, stale }) => {
      expect([stale, lastLogprobs]).toEqual([true, undefined])
      return mask.flatMap((m, t) => (m === 1 ? [Math.exp((trainLogprobs?.[t] ?? NaN) - (logprobs[t] ?? NaN))] : []))
    })
    expect(first?.episodes.some(({ stale }) => stale)).toBe(false)
    expect(Math.max(...ratios)).toBeGreaterThan(1.05)
    expect(second?.metrics['sampling/importance_sampling_ratio/max']).toBeCloseTo(Math.max(...ratios), 12)
    expect(second?.metrics['sampling/importance_sampling_ratio/min']).toBeCloseTo(Math.min(...ratios), 12)
    expect(second?.metrics['clip_ratio/region_mean']).toBeGreaterThan(0)
    expect((await run({ max_staleness: 0 })).records[1]?.metrics).not.toHaveProperty(['sampling/staleness'])
  })

  it.each<[string, Partial<GrpoConfig>]>([
    ['plainly', {}],
    ['with a reference, a quantile and a bonus', { beta: 0.1, top_entropy_quantile: 0.5, entropy_coef: 0.01 }],
    ['with groups sampled again', { dynamic_sampling: true, num_generations: 2 }],
  ])('the run is the same to the bit, however long the environment takes: %s', async (_, grpo) => {
    const runs = await Promise.all([run(grpo), run(grpo, { delay: () => 4 }), run(grpo, { delay: (session) => (session * 7) % 5 })])
    const [first, ...others] = runs.map(({ records, engine }) => ({ records: timeless(records), theta: [...engine.theta] }))
    for (const other of others) expect(other).toEqual(first)
  })

  it('trains while slots wait, which the lanes of the step that is sampled show', async () => {
    const slow: BanditOptions = { delay: () => 12 }
    const { records, events } = await run({ num_generations: 8 }, slow)
    const [one, two, , last] = records
    expect(one?.timeline?.some(({ lane }) => lane === -1)).toBe(false)
    const order = events.flatMap((event) => (event.type === 'step-started' || event.type === 'scored' ? [`${event.type} ${event.step}`] : event.type === 'step-finished' ? [`finished ${event.record.step}`] : []))
    expect(order).toEqual(['step-started 1', 'scored 1', ...[2, 3, 4].flatMap((step) => [`step-started ${step}`, `scored ${step}`, `finished ${step - 1}`]), 'finished 4'])
    const told: TimelineSpan[] = []
    for (const event of events) if (event.type === 'timeline' && event.step === 2) addSpans(told, event.spans)
    expect(byStart(told)).toEqual(two?.timeline)
    const training = two?.timeline?.filter(({ lane }) => lane === -1) ?? []
    for (const { step } of training) expect(step).toBe(1)
    for (const { step } of last?.timeline?.filter(({ lane, start }) => lane === -1 && start > 0) ?? []) expect([3, undefined]).toContain(step)
    const at = events.findIndex((event) => event.type === 'training' && event.step === 1)
    expect(at).toBeGreaterThan(events.findIndex((event) => event.type === 'step-started' && event.step === 2))
    expect(at).toBeLessThan(events.findIndex((event) => event.type === 'episode-finished' && event.episode.step === 2))
  })

  it('waits for an environment that went away, can be stopped meanwhile, and goes on as if nothing had been', async () => {
    let broken = false
    let waits = 0
    const stop = new AbortController()
    const wait = async () => {
      if (++waits === 3) stop.abort()
      if (waits === 6) broken = false
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const { trainer, engine, events } = make({}, { fails: () => broken }, { wait })
    await trainer.step()
    broken = true
    await expect(trainer.step(undefined, stop.signal)).rejects.toMatchObject({ kind: 'stopped' })
    expect(events.some((event) => event.type === 'environment-away')).toBe(true)
    expect([trainer.stepNumber, engine.isClear]).toEqual([1, true])
    expect(timeless(await trainer.step())).toEqual(timeless((await run({}, {}, 2)).records[1]))
    expect(waits).toBe(6)
  })

  it('finishes a step whose successor has no reward, and fails at that one', async () => {
    let silent = false
    const { trainer, events } = make({}, { reward: () => (silent ? null : 1) }, {})
    await trainer.step()
    silent = true
    expect((await trainer.step()).step).toBe(2)
    const told = events.slice(events.findIndex((event) => event.type === 'step-started' && event.step === 3))
    const named = told.filter(({ type }) => type === 'step-dropped' || type === 'step-finished' || type === 'notice')
    expect(named).toMatchObject([
      { type: 'notice', level: 'warning', text: 'The next batch could not be sampled ahead: The environment "Bandit" gave none of the 8 episodes of step 3 a reward. The update goes on without it, and the next step tries again.' },
      { type: 'step-dropped', step: 3 },
      { type: 'step-finished', record: { step: 2 } },
    ])
    await expect(trainer.step()).rejects.toMatchObject({ kind: 'environment' })
    silent = false
    expect((await trainer.step()).metrics['sampling/staleness']).toBe(0)
  })

  it('an update that fails stops what is sampled beside it, and is tried again with the same batch', async () => {
    const { trainer, engine, events } = make({}, { delay: () => 2 })
    await trainer.step()
    engine.corrupt = (logprobs) => logprobs.fill(NaN)
    await expect(trainer.step()).rejects.toMatchObject({ kind: 'non-finite' })
    engine.corrupt = null
    expect(timeless(await trainer.step())).toEqual(timeless((await run({}, {}, 2)).records[1]))
    expect(events.flatMap((event) => (event.type === 'step-started' || event.type === 'step-dropped' ? [`${event.type.slice(5)} ${event.step}`] : []))).toEqual(['started 1', 'started 2', 'started 3', 'dropped 3', 'started 3'])
    expect(events.filter(({ type }) => type === 'notice')).toEqual([])
  })

  it('an update that fails once the next batch is there drops that batch, too', async () => {
    const { trainer, engine, events } = make()
    await trainer.step()
    Object.assign(engine, { optimizerStep: () => Promise.reject(new Error('lost')) })
    await expect(trainer.step()).rejects.toThrow('lost')
    expect(events.flatMap((event) => (event.type === 'scored' || event.type === 'step-dropped' ? [`${event.type} ${event.step}`] : []))).toEqual(['scored 1', 'scored 2', 'scored 3', 'step-dropped 3'])
  })

  it('samples anew where the weights were changed otherwise in between, and where the run gets a later end', async () => {
    const { trainer, engine, events, config } = make({ max_steps: 2 })
    await trainer.step()
    engine.version += 1
    expect((await trainer.step()).metrics['sampling/staleness']).toBe(0)
    Object.assign(config.grpo, { max_steps: 4 })
    expect((await trainer.step()).metrics['sampling/staleness']).toBe(0)
    expect((await trainer.step()).metrics['sampling/staleness']).toBe(1)
    expect(events.filter((event) => event.type === 'step-started').map(({ step }) => step)).toEqual([1, 2, 2, 3, 4])
  })

  it('is refused where training takes the memory of the slots', async () => {
    const { trainer, engine } = make()
    Object.assign(engine, { scoringEmptiesSlots: true })
    await expect(trainer.step()).rejects.toThrow(/max_staleness 1 samples while it trains/)
  })
})

describe('taking turns', () => {
  afterEach(() => void vi.useRealTimers())

  it('an update goes on only while the rollout rests, and the rollout not before its piece is done', async () => {
    vi.useFakeTimers()
    const turns = new EngineTurns()
    const log: string[] = []
    const open = () => Promise.resolve()
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
    const update = (async () => {
      for (const name of ['a', 'b']) {
        await turns.take(open, undefined, async () => {
          log.push(`${name} begins`)
          await pause(15)
          log.push(`${name} ends`)
        })
      }
    })()
    const rollout = (async () => {
      await pause(5)
      log.push('sampling')
      await turns.rest(pause(5))
      log.push('sampling again')
      await pause(5)
      turns.end()
    })()
    await vi.advanceTimersByTimeAsync(100)
    await Promise.all([rollout, update])
    expect(log).toEqual(['sampling', 'a begins', 'a ends', 'sampling again', 'b begins', 'b ends'])
  })

  it('a piece throws when it is stopped, also one that waits', async () => {
    const turns = new EngineTurns()
    const stop = new AbortController()
    const waiting = turns.take(() => Promise.resolve(), stop.signal, () => Promise.reject(new Error('begun')))
    stop.abort()
    turns.end()
    await expect(waiting).rejects.toBeInstanceOf(PlaygroundError)
  })

  it('cuts a batch in order, by tokens of which a shared prompt counts once', () => {
    const sequence = (prompt: number[], rest: number): TrainSequence => ({ ids: [...prompt, ...Array<number>(rest).fill(9)], mask: [...prompt.map(() => 0), ...Array<number>(rest).fill(1)], promptLength: prompt.length })
    const batch = [sequence([1, 2, 3], 3), sequence([1, 2, 3], 4), sequence([1, 2, 3], 1), sequence([1, 2, 4], 1), sequence([5], 20)]
    const cut = (most: number) => piecesOf(batch, most).map(({ from, sequences }) => [from, sequences.length])
    // 3 + 3 + 4 + 1, 3 + 1, 1 + 20.
    expect(cut(15)).toEqual([[0, 4], [4, 1]])
    expect(cut(14)).toEqual([[0, 3], [3, 1], [4, 1]])
    expect(cut(10)).toEqual([[0, 2], [2, 2], [4, 1]])
    expect(piecesOf(batch, 1)).toHaveLength(5)
    expect(piecesOf([])).toEqual([])
  })
})

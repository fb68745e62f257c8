/** One update on a policy whose gradient can be worked out by hand. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig } from '../core/config'
import type { Episode } from '../core/episode'
import { advantages, lossNormalizer, policyLoss } from '../rl'
import { ReplyEngine } from './testing/engine'
import { REPLIES, replyEpisode, RESULT } from './testing/episodes'
import { updatePolicy, type UpdateRequest } from './update'

const EPISODES = [0, 1, 2, 1, 1, 0, 0, 2].map((reply, i) => replyEpisode(i, reply, reply === 1 ? 1 : 0))

function request(grpo: Partial<GrpoConfig> = {}, change: Partial<UpdateRequest> = {}, microBatch = 3) {
  const engine = new ReplyEngine({ replies: REPLIES, microBatch })
  const config = { ...DEFAULT_GRPO, num_generations: 4, learning_rate: 0.1, ...grpo }
  const episodes = change.episodes ?? EPISODES
  const rewards = episodes.map((episode) => episode.reward)
  const made: UpdateRequest = {
    engine,
    grpo: config,
    episodes,
    advantages: episodes.length % 4 === 0 ? advantages(rewards, 4, config.scale_rewards) : [],
    optimizerSteps: 0,
    maskEnvironment: true,
    onProgress: () => {},
    ...change,
  }
  return { engine, made }
}

describe('updatePolicy', () => {
  it('has the gradient of −mean(A · logπ) over trained tokens', async () => {
    const { engine, made } = request()
    await updatePolicy(made)
    const expected = [0, 0, 0, 0]
    EPISODES.forEach((episode, i) => {
      const reply = REPLIES.findIndex(([first]) => first === episode.ids[2])
      for (let j = 0; j < 3; j++) {
        expected[j] = (expected[j] as number) - ((made.advantages[i] as number) * ((j === reply ? 1 : 0) - 1 / 3)) / 16
      }
    })
    expected.forEach((value, j) => expect(engine.gradients[0]?.[j]).toBeCloseTo(value, 12))
    expect(engine.probabilities()[1]).toBeGreaterThan(1 / 3)
  })

  it('does not depend on micro-batches', async () => {
    for (const grpo of [{}, { beta: 0.1, num_iterations: 3 }, { loss_type: 'grpo' as const, num_iterations: 2 }]) {
      const one = request(grpo, {}, 1)
      const all = request(grpo, {}, 8)
      const a = await updatePolicy(one.made)
      const b = await updatePolicy(all.made)
      one.engine.theta.forEach((x, i) => expect(Math.abs(x - (all.engine.theta[i] as number))).toBeLessThan(1e-12))
      expect(a.updates).toEqual(b.updates)
    }
  })

  it('is the same as without the unscorable episodes', async () => {
    for (const grpo of [{}, { beta: 0.1 }, { loss_type: 'grpo' as const }, { loss_type: 'dr_grpo' as const }]) {
      const holes = EPISODES.flatMap((e) => (e.index === 2 ? [{ ...e, reward: null, exit: 'env_error' as const }] : [e]))
      const withHole = request(grpo, { episodes: holes })
      const kept = [...withHole.made.advantages as Float64Array].filter((_, i) => i !== 2)
      const without = request(grpo, { episodes: EPISODES.filter((e) => e.index !== 2), advantages: kept })
      const result = await updatePolicy(withHole.made)
      await updatePolicy(without.made)
      expect([...withHole.engine.theta]).toEqual([...without.engine.theta])
      expect(result.trainLogprobs[2]).toBeNull()
      expect(result.trainLogprobs[3]).not.toBeNull()
    }
  })

  it('trains on no environment token unless the mask is turned off', async () => {
    // The environment writes more where the model did well; with the same length everywhere the advantages would cancel.
    const episodes = EPISODES.map((e) => (e.reward === 1 ? { ...e, ids: [...e.ids, RESULT], mask: [...e.mask, 0 as const] } : e))
    const masked = request({}, { episodes })
    const open = request({}, { episodes, maskEnvironment: false })
    await updatePolicy(masked.made)
    await updatePolicy(open.made)
    // Only tokens that the policy never writes depend on the last parameter.
    expect(masked.engine.gradients[0]?.at(-1)).toBe(0)
    expect(open.engine.gradients[0]?.at(-1)).toBeLessThan(-0.01)
    // The divisor stays, so what the policy's own tokens give is the same.
    masked.engine.gradients[0]?.slice(0, -1).forEach((x, i) => expect(open.engine.gradients[0]?.[i]).toBeCloseTo(x, 12))
  })

  it('steps with a zero gradient when no group has a signal, and scores every episode', async () => {
    const flat = EPISODES.map((e) => ({ ...e, reward: 1 }))
    const { engine, made } = request({}, { episodes: flat })
    const result = await updatePolicy(made)
    expect([...(engine.gradients[0] ?? [])]).toEqual([0, 0, 0, 0])
    expect([...engine.theta]).toEqual([0, 0, 0, 0])
    expect(engine.version).toBe(1)
    expect(result.updates[0]).toMatchObject({ loss: 0, grad_norm: 0, learning_rate: 0.1 })
    expect(result.trainLogprobs.every((row) => row?.[2] === Math.log(1 / 3))).toBe(true)
    expect(result.updates[0]?.sequences.every((s) => s.tokens === 2 && Math.abs(s.entropy - Math.log(3)) < 1e-12)).toBe(true)
  })

  it('pulls towards the reference with beta, and not at all while both are equal', async () => {
    const flat = EPISODES.map((e) => ({ ...e, reward: 1 }))
    const equal = request({ beta: 0.5 }, { episodes: flat })
    await updatePolicy(equal.made)
    expect([...equal.engine.theta]).toEqual([0, 0, 0, 0])

    const moved = request({ beta: 0.5 }, { episodes: flat })
    moved.engine.freezeReference()
    moved.engine.theta.set([0, 2, 0, 0])
    const { updates } = await updatePolicy(moved.made)
    expect(moved.engine.probabilities()[1]).toBeLessThan(moved.engine.probabilities(Float64Array.of(0, 2, 0, 0))[1] as number)
    expect(updates[0]?.sequences.every((s) => (s.kl ?? 0) > 0)).toBe(true)
  })

  it('keeps π_old over num_iterations, so that the ratio moves and clips', async () => {
    const { engine, made } = request({ num_iterations: 4, learning_rate: 0.5 })
    const progress: number[] = []
    const { updates, trainLogprobs } = await updatePolicy({ ...made, onProgress: (done, total) => progress.push(done / total) })
    expect(updates).toHaveLength(4)
    expect(engine.version).toBe(4)
    expect(trainLogprobs[0]?.[2]).toBe(Math.log(1 / 3))
    const clipped = updates.map((u) => u.sequences.reduce((n, s) => n + s.clippedHigh + s.clippedLow, 0))
    expect(clipped[0]).toBe(0)
    expect(clipped[3]).toBeGreaterThan(0)
    expect(progress.at(-1)).toBe(1)
    expect(progress).toHaveLength(32)
  })

  it('records what the last loss was made of, so that it can be worked out again, and nothing with one plain update', async () => {
    const grpo = { ...DEFAULT_GRPO, num_generations: 4, learning_rate: 2, beta: 0.1, num_iterations: 3 }
    const { made } = request(grpo)
    const { updates, trainLogprobs, refLogprobs, lastLogprobs } = await updatePolicy(made)
    const sequences = EPISODES.map(({ mask }, i) => ({
      mask,
      advantage: made.advantages[i] ?? 0,
      oldLogprobs: trainLogprobs[i] ?? null,
      refLogprobs: refLogprobs[i] ?? null,
    }))
    const normalizer = lossNormalizer(sequences.map((s) => s.mask), grpo)
    const { loss } = policyLoss(sequences, lastLogprobs.map((l) => l ?? []), normalizer, grpo)
    expect(loss).toBeCloseTo(updates.at(-1)?.loss ?? NaN, 12)
    expect(loss).not.toBeCloseTo(updates[0]?.loss ?? NaN, 3)
    const plain = await updatePolicy(request().made)
    expect([...plain.refLogprobs, ...plain.lastLogprobs].every((l) => l === null)).toBe(true)
  })

  it('follows the learning-rate schedule in optimizer steps', async () => {
    const { made } = request({ lr_scheduler_type: 'linear', max_steps: 5, num_iterations: 2 }, { optimizerSteps: 4 })
    const { updates } = await updatePolicy(made)
    expect(updates.map((u) => u.learning_rate)).toEqual([0.1 * 0.6, 0.1 * 0.5])
  })

  it('keeps to the schedule where a step has fewer episodes than steps_per_generation', async () => {
    const few = EPISODES.map((episode, i) => (i % 3 === 0 ? episode : { ...episode, reward: null, exit: 'env_error' as const }))
    const grpo = { steps_per_generation: 8, max_steps: 4, lr_scheduler_type: 'linear' as const }
    const rates = async (episodes: Episode[]) => (await updatePolicy(request(grpo, { episodes, optimizerSteps: 16 }).made)).updates.map((update) => update.learning_rate)
    expect((await rates(few)).map((rate) => rate / 0.1)).toEqual([16, 15, 14].map((left) => left / 32))
    expect((await rates(EPISODES)).slice(0, 3)).toEqual(await rates(few))
  })

  it('masks truncated completions and takes their tokens out of N', async () => {
    const cut: Episode[] = EPISODES.map((e) => (e.index % 2 === 0 ? e : { ...e, terminated: false }))
    const { engine, made } = request({ mask_truncated_completions: true }, { episodes: cut })
    const { trainLogprobs, updates } = await updatePolicy(made)
    expect(trainLogprobs.map((row) => row !== null)).toEqual([true, false, true, false, true, false, true, false])
    expect(updates[0]?.sequences).toHaveLength(4)
    const kept = [0, 2, 4, 6].map((i) => made.advantages[i] as number)
    const half = request({}, { episodes: cut.filter((e) => e.terminated), advantages: kept })
    await updatePolicy(half.made)
    expect([...engine.theta]).toEqual([...half.engine.theta])
  })

  it.each([
    ['a log-probability', (row: Float64Array) => row.fill(NaN), 'The log-probability'],
    ['an overflowing ratio', (row: Float64Array) => row.fill(1e4), 'The loss'],
  ])('refuses %s that is not finite and leaves the adapter alone', async (_, corrupt, what) => {
    const { engine, made } = request({ num_iterations: 2 })
    let calls = 0
    // Only the second optimizer step's scores are broken where the ratio is to overflow.
    engine.corrupt = (row) => void (what === 'The loss' && calls++ < EPISODES.length ? row : corrupt(row))
    await expect(updatePolicy(made)).rejects.toMatchObject({ kind: 'non-finite', message: expect.stringContaining(what) as string })
    expect(engine.version).toBe(what === 'The loss' ? 1 : 0)
    expect(engine.isClear).toBe(true)
  })

  it('throws away its gradient when it is stopped before the first optimizer step', async () => {
    const controller = new AbortController()
    const { engine, made } = request({}, { onProgress: () => controller.abort(), signal: controller.signal })
    await expect(updatePolicy(made)).rejects.toMatchObject({ kind: 'stopped' })
    expect(engine.version).toBe(0)
    expect(engine.isClear).toBe(true)
  })

  it('notices an engine whose sampler did not get the new weights', async () => {
    const { engine, made } = request()
    engine.optimizerStep = async () => ({ grad_norm: 1 })
    await expect(updatePolicy(made)).rejects.toMatchObject({ kind: 'engine' })
  })
})

/** A whole update on a real engine: neither micro-batches nor the order nor the company of an episode changes its log-probs, the loss or the gradient. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig, LOSS_TYPES } from '../core/config'
import type { NamedTensor, TrainSequence } from '../core/engine'
import type { Episode } from '../core/episode'
import type { EngineInstance } from '../runtime/create'
import { randomAdapter, smallBatch } from '../runtime/testing/random-model'
import { largest, size, start, vector } from '../runtime/testing/small-trainer'
import { replyEpisode } from './testing/episodes'
import { type PolicyUpdate, updatePolicy } from './update'

/** Six episodes of different lengths, some behind one prompt, and their advantages; one has none. */
const SEQUENCES = [...smallBatch(), ...smallBatch(64, 5)]
const ADVANTAGES = [1.3, -0.9, 0.4, 0, -1.2, 0.7]

function episodeOf({ ids, mask }: TrainSequence, index: number): Episode {
  const whole = mask as (0 | 1)[]
  return replyEpisode(index, 0, 0, { ids: [...ids], mask: [...whole], promptLength: whole.indexOf(1), logprobs: ids.map(() => 0) })
}

const EPISODES = SEQUENCES.map(episodeOf)

const GRPO: GrpoConfig = {
  ...DEFAULT_GRPO,
  max_completion_length: 24,
  num_iterations: 2,
  learning_rate: 5e-3,
  adam_epsilon: 1e-2,
  max_grad_norm: 1e9,
  beta: 0.1,
  entropy_coef: 0.05,
  temperature: 0.8,
  // The episodes' own log-probs are none of a sampler.
  vllm_importance_sampling_correction: false,
}

let [whole, cut]: (EngineInstance | undefined)[] = []
let initial: NamedTensor[]
beforeAll(async () => {
  whole = await start()
  // One row a micro-batch.
  cut = await start({ microBatchTokens: 1 })
  initial = randomAdapter(await whole.exportParameters())
})
afterAll(async () => {
  await whole?.dispose()
  await cut?.dispose()
})

interface Found extends PolicyUpdate {
  /** What both optimizer steps' gradients left in AdamW's first moment. */
  moment: Float64Array
}

/** The update of some of the episodes, in this order, from the same adapter. */
async function update(engine: EngineInstance | undefined, grpo: GrpoConfig, order: readonly number[]): Promise<Found> {
  if (!engine) throw new Error('no engine')
  await engine.importParameters(initial.map((tensor) => ({ ...tensor, data: tensor.data.map(() => 0) })))
  engine.freezeReference()
  await engine.importParameters(initial)
  const found = await updatePolicy({
    engine,
    grpo,
    episodes: order.map((i) => EPISODES[i] as Episode),
    advantages: order.map((i) => ADVANTAGES[i] as number),
    optimizerSteps: 0,
    maskEnvironment: true,
    onProgress: () => {},
  })
  const { m } = await engine.exportState()
  return { ...found, moment: vector(m.map((data) => ({ name: '', dims: [], data }))) }
}

const ALL = EPISODES.map((_, i) => i)

/** How far losses are apart; of losses above 1 relatively: float32 has no more digits. */
const relative = (loss: number, expected: number): number => Math.abs(loss - expected) / Math.max(1, Math.abs(expected))

/** Largest difference of a result in another order. */
function compare(expected: Found, found: Found, order: readonly number[]) {
  const losses = expected.updates.map(({ loss }, i) => relative(found.updates[i]?.loss ?? NaN, loss))
  const logprobs = order.map((i, at) => largest(expected.trainLogprobs[i] ?? [], found.trainLogprobs[at] ?? []))
  return { loss: Math.max(...losses), logprob: Math.max(...logprobs), gradient: largest(expected.moment, found.moment) / size(expected.moment) }
}

function expectSame(expected: Found, found: Found, order: readonly number[]): void {
  const { loss, logprob, gradient } = compare(expected, found, order)
  expect(loss).toBeLessThan(1e-5)
  expect(logprob).toBeLessThan(1e-5)
  expect(gradient).toBeLessThan(1e-5)
}

const CASES: [string, Partial<GrpoConfig>][] = [
  ...LOSS_TYPES.map((loss_type): [string, Partial<GrpoConfig>] => [loss_type, { loss_type }]),
  ['one ratio a sequence', { importance_sampling_level: 'sequence' }],
  ['top_entropy_quantile', { top_entropy_quantile: 0.37 }],
  ['off_policy_mask_threshold', { off_policy_mask_threshold: 0.01 }],
]

describe.each(CASES)('%s does not depend on', (_, change) => {
  const grpo = { ...GRPO, ...change }

  it('how the episodes are cut into micro-batches, nor on their order', async () => {
    const expected = await update(whole, grpo, ALL)
    expect(size(expected.moment)).toBeGreaterThan(1e-3)
    const [first, second] = expected.updates.map(({ loss }) => loss) as [number, number]
    expect(Math.abs(second - first)).toBeGreaterThan(1e-3)
    expectSame(expected, await update(cut, grpo, ALL), ALL)
    const order = [4, 2, 0, 5, 3, 1]
    expectSame(expected, await update(whole, grpo, order), order)
  })
})

it('an episode alone has the log-probs and entropies that it has among others', async () => {
  const expected = await update(whole, GRPO, ALL)
  for (const i of ALL) {
    const alone = await update(whole, GRPO, [i])
    expect(largest(alone.trainLogprobs[0] ?? [], expected.trainLogprobs[i] ?? [])).toBeLessThan(1e-5)
    expect(largest(alone.entropies[0] ?? [], expected.entropies[i] ?? [])).toBeLessThan(1e-5)
    expect(largest(alone.refLogprobs[0] ?? [], expected.refLogprobs[i] ?? [])).toBeLessThan(1e-5)
  }
})

it('the gradient of all is the sum of the gradients of each, weighted as the loss weighs them', async () => {
  // dr_grpo divides by a number that is known of each alone: the episodes, times max_completion_length.
  const grpo: GrpoConfig = { ...GRPO, loss_type: 'dr_grpo', num_iterations: 1, entropy_coef: 0 }
  const expected = await update(whole, grpo, ALL)
  const each: Found[] = []
  for (const i of ALL) each.push(await update(cut, grpo, [i]))
  const sum = expected.moment.map((_, at) => each.reduce((total, { moment }) => total + (moment[at] as number), 0) / ALL.length)
  expect(largest(expected.moment, sum) / size(expected.moment)).toBeLessThan(1e-5)
  const [loss, together] = [each.reduce((total, { updates }) => total + (updates[0]?.loss ?? NaN), 0) / ALL.length, expected.updates[0]?.loss ?? NaN]
  expect(relative(loss, together)).toBeLessThan(5e-7)
})

/**
 * Whole GRPO steps against TRL's GRPOTrainer on the shipped model: the same completions, rewards and settings, one micro-batch of TRL being
 * one optimizer step of ours. Loss within 1e-5, the LoRA's gradient within 1e-3, the weights after AdamW, TRL's metrics, step by step.
 *
 * Where we differ on purpose (WILFUL below has the factor of each; all else is equal):
 *
 * - The normaliser. TRL's dapo, cispo and vespo divide an optimizer step by the generation's trained tokens · gradient_accumulation_steps /
 *   steps_per_generation, the same for every share. Ours divides by the trained tokens of the step's own share, so that it is a token mean.
 * - Unscorable completions. TRL counts a completion without a reward in every denominator. Ours leaves it out: how far a broken episode
 *   came is chance, and must not scale the others.
 * - The sampler's log-probs. TRL knows them of vLLM alone; ours always. Cases without them are given a sampler that agrees with the
 *   training graph, and must then equal TRL with every correction left on.
 *
 * No difference, though one might expect one: with equal rewards and beta above 0 the KL term alone moves the adapter, here as there; with
 * beta 0 nothing does.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig, LOSS_TYPES } from '../../src/core/config'
import type { Episode } from '../../src/core/episode'
import type { EngineInstance } from '../../src/runtime/create'
import { groupStatistics, rewardMetrics, completionMetrics, countTokens, mismatchMetrics, sum, updateMetrics } from '../../src/rl'
import { advantagesOf } from '../../src/train/scoring'
import { type PolicyUpdate, sharesOf, updatePolicy } from '../../src/train/update'
import { differing } from './compare'
import { largestDifference, referenceJson, referenceTensors, relativeDifference } from './reference'
import { begin, expectStep, finished, initialAdapter, shippedEngine, type StepCase, type StepCases, watched, type WatchedStep } from './trl-step-case'

const { lora, episodes: given, cases } = referenceJson<StepCases>('trl-step.json')

/** Our loss and gradient of the first optimizer step over TRL's, in the cases where they are not equal. */
const WILFUL: Record<string, (step: { episodes: readonly Episode[]; share: readonly number[] }) => number> = {
  'steps_per_generation, dapo': ownTokens,
  'steps_per_generation, cispo': ownTokens,
  'an unscorable completion': ({ episodes }) => sum(episodes.map(trained)) / sum(episodes.filter(({ reward }) => reward !== null).map(trained)),
  'an unscorable completion, grpo': ({ episodes }) => episodes.length / episodes.filter(({ reward }) => reward !== null).length,
}

function ownTokens({ episodes, share }: { episodes: readonly Episode[]; share: readonly number[] }): number {
  return sum(episodes.map(trained)) / 2 / sum(share.map((i) => trained(episodes[i] as Episode)))
}

function trained({ mask }: Episode): number {
  return mask.filter((m) => m === 1).length
}

interface OurStep {
  episodes: Episode[]
  grpo: GrpoConfig
  update: PolicyUpdate
  steps: WatchedStep[]
  advantages: Float64Array
}

async function ourStep(engine: EngineInstance, example: StepCase): Promise<OurStep> {
  await begin(engine)
  const grpo: GrpoConfig = { ...DEFAULT_GRPO, ...example.settings, max_steps: 1, seed: 0 }
  const sequences = given.map(({ prompt_ids, completion_ids, mask }) => ({
    ids: [...prompt_ids, ...completion_ids],
    mask: [...prompt_ids.map(() => 0), ...mask],
  }))
  const agreeing = await engine.score(sequences, { temperature: grpo.temperature })
  const logprobs = given.map((one, i) => (example.sampler ? [...one.prompt_ids.map(() => 0), ...one.logprobs] : (agreeing[i]?.logprobs ?? [])))
  const episodes = finished(given, example.rewards_by_function, grpo, logprobs)
  grpo.seed = seedOf(example, grpo, episodes)
  const advantages = advantagesOf(episodes, grpo)
  const { trainer, steps } = watched(engine)
  const update = await updatePolicy({ engine: trainer, grpo, episodes, advantages, optimizerSteps: 0, maskEnvironment: true, onProgress: () => {} })
  return { episodes, grpo, update, steps, advantages }
}

/** The seed with which our shares are those that TRL happened to draw. */
function seedOf({ shares }: StepCase, grpo: GrpoConfig, episodes: readonly Episode[]): number {
  const members = episodes.map((_, position) => ({ position }))
  const wanted = JSON.stringify(shares.slice(0, grpo.steps_per_generation))
  for (let seed = 0; seed < 10_000; seed++) {
    const drawn = sharesOf(members, { ...grpo, seed }, 0).map((share) => share.map(({ position }) => position))
    if (JSON.stringify(drawn) === wanted) return seed
  }
  throw new Error(`no seed draws ${wanted}`)
}

/** Ours of optimizer step `at`, under TRL's names. */
function metricsOf({ update, grpo, episodes, advantages }: OurStep, at: number, sampler: boolean): Record<string, number | null> {
  const own = updateMetrics([update.updates[at] as PolicyUpdate['updates'][number]], grpo)
  if (at > 0) return own
  const { num_generations, scale_rewards } = grpo
  const groups = groupStatistics(episodes.map(({ reward }) => reward), num_generations)
  return {
    ...own,
    ...rewardMetrics(episodes, groups, advantages, { name: 'first', scale_rewards, isSuccess: () => false }),
    ...completionMetrics(episodes),
    num_tokens: countTokens(episodes),
    ...(sampler && mismatchMetrics(episodes.map(({ mask, logprobs }, i) => ({ mask, sampler: logprobs, train: update.trainLogprobs[i] ?? [] })), grpo)),
  }
}

let engine: EngineInstance
beforeAll(async () => {
  engine = await shippedEngine(lora)
})
afterAll(() => engine?.dispose())

describe('a whole step as TRL makes it', () => {
  it.each(cases.filter(({ name }) => !(name in WILFUL)))('$name', async (example) => {
    const ours = await ourStep(engine, example)
    expect(largestDifference(ours.advantages, example.advantages)).toBeLessThan(1e-6)
    expect(ours.steps).toHaveLength(example.losses.length)
    for (const at of example.losses.keys()) expectStep(example, at, ours.steps, metricsOf(ours, at, example.sampler), initialAdapter())
  })
})

describe('where we differ on purpose', () => {
  it.each(Object.entries(WILFUL))('%s: by the factor that is said', async (name, factorOf) => {
    const example = cases.find((one) => one.name === name) as StepCase
    const { episodes, steps, update } = await ourStep(engine, example)
    const factor = factorOf({ episodes, share: example.shares[0] ?? [] })
    expect(Math.abs(factor - 1)).toBeGreaterThan(0.03)
    expect(Math.abs((update.updates[0]?.loss ?? NaN) - factor * (example.losses[0] as number))).toBeLessThan(1e-5)
    const theirs = referenceTensors(`${example.folder}/gradient-1.safetensors`)
    const scaled = theirs.map((tensor) => ({ ...tensor, data: tensor.data.map((value) => value * factor) }))
    expect(differing(steps[0]?.gradients ?? [], scaled, relativeDifference, 1e-3)).toEqual([])
  })
})

it('equal rewards move nothing by themselves; with beta the KL term does', async () => {
  const norms = async (name: string) => (await ourStep(engine, cases.find((one) => one.name === name) as StepCase)).steps.map(({ grad_norm }) => grad_norm)
  expect(await norms('equal rewards')).toEqual([0, 0])
  expect(Math.min(...(await norms('equal rewards, beta')))).toBeGreaterThan(0.1)
})

describe('the cases', () => {
  it('have every loss type, and every setting of the loss in use', () => {
    expect(new Set(cases.map(({ settings }) => settings.loss_type))).toEqual(new Set(LOSS_TYPES))
    // The shape of SAPO's and VESPO's terms is compared where only the loss is.
    const unused = Object.keys(cases[0]?.settings ?? {}).filter((key) => {
      const values = new Set(cases.map(({ settings }) => JSON.stringify(settings[key as keyof GrpoConfig])))
      return values.size === 1 && !ALIKE.includes(key) && !/^(sapo|vespo)_/.test(key)
    })
    expect(unused).toEqual([])
  })
  it('move far enough that clips, caps and masks act, and no option is without effect', () => {
    const most = (metric: string) => Math.max(...cases.flatMap(({ logs }) => logs.map((log) => log[metric] ?? 0)))
    const acting = ['clip_ratio/low_mean', 'clip_ratio/high_mean', 'cispo_clip_ratio', 'kl', 'completions/clipped_ratio']
    for (const metric of acting) expect(most(metric), metric).toBeGreaterThan(0.01)
    const traces = cases.map(({ losses, logs }) => JSON.stringify([losses, logs.map((log) => log['grad_norm'])]))
    const first = traces.map((trace) => traces.indexOf(trace))
    const same = cases.flatMap(({ name }, i) => (first[i] === i ? [] : [`${name} = ${cases[first[i] ?? -1]?.name}`]))
    // With one micro-batch bnpo's own tokens are the whole step's.
    expect(same).toEqual(['dapo = bnpo', 'one ρ a sequence, dapo = one ρ a sequence, bnpo'])
  })
})

/** Settings that all cases share. */
const ALIKE = [
  ...['num_generations', 'max_completion_length', 'learning_rate', 'lr_scheduler_type', 'warmup_steps'],
  ...['adam_beta1', 'adam_beta2', 'adam_epsilon', 'weight_decay', 'vllm_importance_sampling_correction'],
  ...['entropy_coef_min', 'entropy_coef_max', 'entropy_coef_delta'],
]

/** What trl_step_cases.py and trl_stage_cases.py record of TRL's trainers, and an engine of ours whose optimizer steps are recorded alike. */

import { join } from 'node:path'
import { expect } from 'vitest'
import type { GrpoConfig, LoraConfig } from '../../src/core/config'
import type { Engine, NamedTensor, Trainer } from '../../src/core/engine'
import type { Episode } from '../../src/core/episode'
import { createEngine, type EngineInstance } from '../../src/runtime/create'
import { fileSource } from '../tools/file-source'
import { differing } from './compare'
import { largestDifference, REFERENCE, referenceTensors, relativeDifference } from './reference'

/** A run of a TRL trainer; tensors lie in `folder`. */
export interface TrlRun {
  name: string
  folder: string
  /** One per optimizer step. */
  losses: number[]
  /** What TRL logged, one per optimizer step. */
  logs: Record<string, number | null>[]
}

/** A completion as TRL was given it; mask and log-probs are [completion tokens]. */
export interface GivenEpisode {
  prompt_ids: number[]
  completion_ids: number[]
  mask: (0 | 1)[]
  /** A sampler's that disagrees with the training graph. */
  logprobs: number[]
  terminated: boolean
}

export interface StepCase extends TrlRun {
  /** Whether TRL had the sampler's log-probs. */
  sampler: boolean
  settings: Partial<GrpoConfig>
  /** [functions][completions] */
  rewards_by_function: (number | null)[][]
  advantages: number[]
  /** Completions of each optimizer step. */
  shares: number[][]
}

export interface StepCases {
  lora: LoraConfig
  episodes: GivenEpisode[]
  cases: StepCase[]
}

/** The shipped model with this LoRA. */
export function shippedEngine(lora: LoraConfig, change: { microBatchTokens?: number } = {}): Promise<EngineInstance> {
  const source = fileSource(join(REFERENCE, 'models', 'tiny-qwen3'))
  return createEngine({ source, lora, backend: 'wasm', threads: 1, slots: 2, contextLength: 512, modelName: 'tiny', ...change })
}

/** The LoRA that TRL's runs began with; `zero`: with B as PEFT makes it. */
export function initialAdapter({ zero = false } = {}): NamedTensor[] {
  const initial = referenceTensors('trl-step/initial.safetensors')
  return initial.map((tensor) => (zero && tensor.name.includes('lora_B') ? { ...tensor, data: new Float32Array(tensor.data.length) } : tensor))
}

/** The policy begins as TRL's did, and its reference is the base model. */
export async function begin(engine: Engine, options: { zero?: boolean } = {}): Promise<void> {
  await engine.importParameters(initialAdapter({ zero: true }))
  engine.freezeReference()
  await engine.importParameters(initialAdapter(options))
}

/** An optimizer step of ours. */
export interface WatchedStep {
  /** Before clipping. */
  gradients: NamedTensor[]
  grad_norm: number
  learning_rate: number
  weights: NamedTensor[]
}

/**
 * The engine as a trainer that keeps every optimizer step. The gradient is read off AdamW's first moment, m' = β₁·m + (1 − β₁)·g.
 * The reference is the caller's: freezeReference does nothing.
 */
export function watched(engine: Engine): { trainer: Trainer; steps: WatchedStep[] } {
  const steps: WatchedStep[] = []
  const trainer: Trainer = {
    score: (batch, options) => engine.score(batch, options),
    accumulate: (batch, options, loss) => engine.accumulate(batch, options, loss),
    optimizerStep: async (params) => {
      const before = await engine.exportState()
      const result = await engine.optimizerStep(params)
      const { m, parameters } = await engine.exportState()
      const share = (1 - params.adam_beta1) * Math.min(1, params.max_grad_norm / (result.grad_norm + 1e-6))
      const gradients = parameters.map(({ name, dims }, i): NamedTensor => {
        const old = before.m[i] as Float32Array
        return { name, dims, data: (m[i] as Float32Array).map((value, j) => (value - params.adam_beta1 * (old[j] as number)) / share) }
      })
      steps.push({ gradients, grad_norm: result.grad_norm, learning_rate: params.learning_rate, weights: parameters })
      return result
    },
    zeroGradients: () => engine.zeroGradients(),
    freezeReference: () => {},
    get version() {
      return engine.version
    },
    exportParameters: () => engine.exportParameters(),
    importParameters: (tensors) => engine.importParameters(tensors),
    exportState: () => engine.exportState(),
    importState: (state) => engine.importState(state),
  }
  return { trainer, steps }
}

/**
 * The given completions as finished episodes.
 * @param rewards [functions][completions]
 * @param logprobs the sampler's, [tokens] each
 */
export function finished(
  given: readonly GivenEpisode[],
  rewards: StepCase['rewards_by_function'],
  { num_generations, reward_weights: weights }: Pick<GrpoConfig, 'num_generations' | 'reward_weights'>,
  logprobs: readonly ArrayLike<number>[],
): Episode[] {
  return given.map(({ prompt_ids, completion_ids, mask, terminated }, index): Episode => {
    const ids = [...prompt_ids, ...completion_ids]
    const whole = [...prompt_ids.map(() => 0 as const), ...mask]
    const parts = rewards.map((column) => column[index] ?? null)
    const told = parts.flatMap((reward, k) => (reward === null ? [] : [reward * (weights?.[k] ?? 1)]))
    return {
      step: 1,
      index,
      group: Math.floor(index / num_generations),
      seed: 0,
      ids,
      mask: whole,
      logprobs: [...Array.from(logprobs[index] ?? [])],
      authors: whole.map((m, t) => (m === 1 ? 'model' : t < prompt_ids.length ? 'template' : 'environment')),
      alternatives: ids.map(() => null),
      promptLength: prompt_ids.length,
      turns: [],
      messages: [],
      reward: told.length === 0 ? null : told.reduce((sum, each) => sum + each, 0),
      rewards: Object.fromEntries(parts.map((reward, k) => [k === 0 ? 'first' : 'second', reward])),
      exit: told.length === 0 ? 'env_error' : 'env_done',
      error: null,
      terminated,
    }
  })
}

/**
 * Optimizer step `at` (from 0): loss within 1e-5 (of losses above 1 relatively, float32 has no more digits), the gradient of each tensor and
 * of all within 1e-3, the weights that AdamW made of it (but of roundings), and TRL's metrics.
 * @param start weights before the run
 */
export function expectStep(
  run: TrlRun,
  at: number,
  steps: readonly WatchedStep[],
  metrics: Record<string, number | null>,
  start: readonly NamedTensor[],
): void {
  const step = steps[at] as WatchedStep
  const gradients = referenceTensors(`${run.folder}/gradient-${at + 1}.safetensors`)
  const weights = referenceTensors(`${run.folder}/after-${at + 1}.safetensors`)
  const which = `step ${at + 1}`
  expect(off(metrics['loss'], run.losses[at]), `loss of ${which}: ${metrics['loss']}, TRL ${run.losses[at]}`).toBeLessThan(1e-5)
  expect(differing(step.gradients, gradients, relativeDifference, 1e-3), `gradients of ${which}`).toEqual([])
  expect(wholeDifference(step.gradients, gradients), which).toBeLessThan(1e-3)
  const settled = settledUntil(run, at)
  expect(differing(settled(step.weights), settled(weights), largestDifference, 1e-5), `weights after ${which}`).toEqual([])
  expect(wholeDifference(step.weights, weights, start), `what the weights moved by until ${which}`).toBeLessThan(1e-3)
  for (const [name, value] of Object.entries(run.logs[at] ?? {})) {
    if (OF_THE_LOOP.includes(name)) continue
    expect(metrics, name).toHaveProperty([name])
    expect(off(metrics[name], value), `${name} of ${which}: ${metrics[name]}, TRL ${value}`).toBeLessThan(name === 'grad_norm' ? 1e-3 : 1e-4)
  }
}

/** Of the largest number of a tensor's gradient: below it a number is made of float32's roundings, in PyTorch as here. */
const ROUNDINGS = 1e-5

/** 0 in place of weights whose gradient was one of roundings in some step until now: AdamW makes a step as large of them as of any other. */
function settledUntil(run: TrlRun, at: number): (tensors: readonly NamedTensor[]) => NamedTensor[] {
  const steps = Array.from({ length: at + 1 }, (_, k) => new Map(referenceTensors(`${run.folder}/gradient-${k + 1}.safetensors`).map(({ name, data }) => [name, data])))
  const largest = (data: ArrayLike<number>): number => Array.from(data).reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  const least = steps.map((gradients) => new Map([...gradients].map(([name, data]) => [name, ROUNDINGS * largest(data)])))
  return (tensors) =>
    tensors.map(({ name, dims, data }) => ({
      name,
      dims,
      data: data.map((value, i) => (steps.some((gradients, k) => Math.abs(gradients.get(name)?.[i] ?? 0) < (least[k]?.get(name) ?? 0)) ? 0 : value)),
    }))
}

/** What a log holds besides that says nothing of the optimizer step. */
const OF_THE_LOOP = ['step_time', 'epoch', 'step']

/** NaN, which no tolerance accepts, where either is missing. */
function off(ours: number | null | undefined, theirs: number | null | undefined): number {
  return Math.abs((ours ?? NaN) - (theirs ?? NaN)) / Math.max(1, Math.abs(theirs ?? NaN))
}

const flat = (tensors: readonly NamedTensor[]) => [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap(({ data }) => [...data])

/** Relative difference of all tensors as one vector; of what was added to `start`, where that is given. */
export function wholeDifference(ours: readonly NamedTensor[], theirs: readonly NamedTensor[], start?: readonly NamedTensor[]): number {
  const from = start && flat(start)
  const vector = (tensors: readonly NamedTensor[]) => flat(tensors).map((value, i) => value - (from?.[i] ?? 0))
  return relativeDifference(vector(ours), vector(theirs))
}

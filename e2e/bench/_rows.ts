/** What the benchmarks over the page are asked for, and how a measured run becomes a row. No browser in here. */

import { PRESETS, type Preset } from '../../src/env/presets'
import type { EvaluationResult } from '../../src/worker/protocol'
import type { BenchRow } from '../tools/bench-rows'

export type PresetId = Preset['id']

/** One training run from start to end. */
export interface LearnRun {
  preset: PresetId
  seed: number
  before: EvaluationResult
  after: EvaluationResult
  /** GRPO steps that were done. */
  steps: number
  /** From the press of Train to the end of the last step: evaluations are not in it. */
  seconds: number
}

export interface LearnSelection {
  presets: PresetId[]
  seeds: number[]
}

/**
 * Reads the words after `learn`: names of presets and seeds, in any order (`lane 1 2`); no name means all of `presets`,
 * no number all of `seeds`. Throws on any other word.
 */
export function selectLearnRuns(words: readonly string[], presets: readonly PresetId[], seeds: readonly number[]): LearnSelection {
  const numbers = words.filter(word => /^\d{1,9}$/.test(word))
  const names = words.filter(word => !numbers.includes(word))
  return {
    presets: selectPresets('learn', names, presets),
    seeds: numbers.length > 0 ? [...new Set(numbers.map(Number))] : [...seeds],
  }
}

/** The presets named by `words`, all of `known` when there is no word. Throws on a word that names none of them. */
export function selectPresets(bench: string, words: readonly string[], known: readonly PresetId[]): PresetId[] {
  const unknown = words.filter(word => !known.some(id => id === word))
  if (unknown.length > 0) throw new Error(`${bench} has no row ${unknown.join(', ')}. Rows: ${known.join(', ')}.`)
  return known.filter(id => words.length === 0 || words.includes(id))
}

/** The row of a run. Throws when the environment has no held-out scenarios, which a learning result needs. */
export function learnRow({ preset, seed, before, after, steps, seconds }: LearnRun): BenchRow {
  if (before.heldOut === null || after.heldOut === null) throw new Error(`${preset} has no held-out scenarios.`)
  return {
    bench: 'learn',
    row: preset,
    seed,
    before: before.train,
    after: after.train,
    heldOutBefore: before.heldOut,
    heldOutAfter: after.heldOut,
    steps,
    seconds: round(seconds, 1),
  }
}

/** Seconds of one GRPO step. */
export interface StepSeconds {
  sampling: number
  training: number
}

/** Three rows of a preset: the whole step, its sampling and its training, each the median with the range. Throws on no steps. */
export function stepRows(preset: PresetId, steps: readonly StepSeconds[]): BenchRow[] {
  const row = (name: string, values: number[]): BenchRow => {
    const sorted = values.sort((a, b) => a - b).map(value => round(value, 3))
    const [least, most] = [sorted[0], sorted.at(-1)]
    if (least === undefined || most === undefined) throw new Error(`No step of ${preset} was measured.`)
    return { bench: 'step', row: name, value: round(median(sorted), 3), unit: 's', spread: [least, most] }
  }
  return [
    row(preset, steps.map(({ sampling, training }) => sampling + training)),
    row(`${preset}/sampling`, steps.map(({ sampling }) => sampling)),
    row(`${preset}/training`, steps.map(({ training }) => training)),
  ]
}

/** A whole number from the environment, for a short trial of a benchmark; `usual` when it is not set. Throws on anything else. */
export function countFrom(env: NodeJS.ProcessEnv, name: string, usual: number): number {
  const text = env[name]
  if (text === undefined || text === '') return usual
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name} must be a whole number from 1, not "${text}".`)
  return Number(text)
}

/** max_steps of a preset. */
export function usualSteps(id: PresetId): number {
  const steps = PRESETS.find(preset => preset.id === id)?.grpo.max_steps
  if (steps === undefined) throw new Error(`The preset ${id} does not say how many steps it takes.`)
  return steps
}

/** The middle of numbers in order; of two, their mean. NaN of none. */
export function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

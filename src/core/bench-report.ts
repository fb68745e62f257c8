/** What the benchmark of a person's own machine measures, as plain data for a table. */

import type { Backend } from './config'

/** Which figure: a key of its words. */
export const BENCH_FIGURES = ['decode1', 'decode8', 'batching', 'training', 'step', 'dispatchesToken', 'dispatchesTraining', 'memory'] as const
export type BenchFigureName = (typeof BENCH_FIGURES)[number]

/** One row: `value` in the unit of its name (see bench-strings.ts), the range where it was measured several times. */
export interface BenchFigure {
  name: BenchFigureName
  /** Which of the two models. */
  model: BenchModelName
  value: number
  range: [number, number] | null
  /** How often it was measured. */
  repeats: number
}

export const BENCH_MODELS = ['tiny-qwen3', 'random-30m'] as const
/** The shipped model, and random weights of the shape of a model of 30 million parameters. */
export type BenchModelName = (typeof BENCH_MODELS)[number]

/** What was measured on. */
export interface BenchDevice {
  backend: Backend
  /** The GPU adapter's name; WASM has none. */
  adapter: string | null
  /** The adapter is a program. */
  software: boolean
  threads: number
  ortVersion: string
}

export interface BenchReport {
  device: BenchDevice
  figures: BenchFigure[]
}

/** Words of the benchmark of a person's own machine; they come with it, not with the page. */

import type { BenchFigureName, BenchModelName } from '../core/bench-report'
import { bytes, count, number, plural } from './format'

interface FigureWords {
  /** What is measured, for the table. */
  name: string
  unit: string
  text: (value: number) => string
}

const rate = (value: number): string => number(value)

export const BENCH_STRINGS = {
  menu: 'Measure this machine',
  title: 'How fast is this machine?',
  lead: 'The engine that trains, on two models: the shipped one, and random weights of a model of 30 million parameters. Each figure is the middle of up to five repeats. Nothing is sent anywhere, and the run on the page stays as it is.',
  close: 'Close',
  run: 'Measure',
  again: 'Measure again',
  stop: 'Stop',
  blocked: 'A run is being trained or loaded. Pause it, or let it finish, then measure.',
  paused: 'The run on the page is paused; it goes on afterwards where it stands.',
  held: 'The recorded run is held meanwhile.',
  preparing: 'Preparing the engine',
  measuring: (model: BenchModelName, done: number, total: number) => `Measuring ${BENCH_STRINGS.models[model].toLowerCase()}: ${done} of ${total} parts done`,
  slow: 'This GPU adapter is a program on the processor: its figures say nothing of a GPU. With backend wasm under Task the same processor is faster.',
  models: { 'tiny-qwen3': 'Shipped model', 'random-30m': '30 million parameters' } satisfies Record<BenchModelName, string>,
  figures: {
    decode1: { name: 'Sampling, 1 slot', unit: 'tokens/s', text: rate },
    decode8: { name: 'Sampling, 8 slots together', unit: 'tokens/s', text: rate },
    batching: { name: 'A token of 8 slots over a token of 1', unit: '×', text: rate },
    training: { name: 'Training pass, 8 × 256 tokens', unit: 's', text: rate },
    step: { name: 'A small GRPO step, 8 × 96 tokens', unit: 's', text: rate },
    dispatchesToken: { name: 'GPU dispatches, a token of 8 slots', unit: '', text: count },
    dispatchesTraining: { name: 'GPU dispatches, a training pass of 256 tokens', unit: '', text: count },
    memory: { name: 'Memory of the engine', unit: '', text: bytes },
  } satisfies Record<BenchFigureName, FigureWords>,
  columns: { what: 'What', value: 'Median', range: 'Range', repeats: 'Repeats' },
  range: (low: string, high: string) => `${low} to ${high}`,
  table: 'Figures of this machine',
  gpu: (adapter: string) => `WebGPU on ${adapter}`,
  wasm: (threads: number) => `WASM, ${plural(threads, 'thread')}`,
  versions: (page: string, ort: string) => `GRPO Playground ${page}, onnxruntime-web ${ort}`,
  copyMarkdown: 'Copy as Markdown',
  copyJson: 'Copy as JSON',
  copied: 'Copied',
  copyFailed: 'The browser does not allow copying',
} as const

/** Measures this machine: engines of its own, what a person waits for in a run, medians of a few repeats. Touches nothing of the run. */

import { BENCH_MODELS, type BenchDevice, type BenchFigure, type BenchFigureName, type BenchModelName, type BenchReport } from '../core/bench-report'
import { type Backend, DEFAULT_LORA } from '../core/config'
import type { Engine, OptimizerParams, SequenceGradient, SequenceScores } from '../core/engine'
import { assertNotStopped } from '../train/guard'

/** An engine while it is measured. */
export interface Measured {
  engine: Pick<Engine, 'slots' | 'reset' | 'prefill' | 'copy' | 'sample' | 'decode' | 'accumulate' | 'optimizerStep' | 'info'>
  /** Device memory that the engine holds now, bytes. */
  bytes(): number
  /** Waits until the device has nothing to do. */
  idle(): Promise<void>
  /** GPU dispatches since the page began; null where there is no GPU. */
  dispatches(): number | null
  dispose(): Promise<void>
}

export interface BenchOptions {
  /** What will be measured on. */
  device: BenchDevice
  open(model: BenchModelName, slots: number): Promise<Measured>
  /** `done` of `total` parts; `model` is being measured, and this is what is known by now. */
  onProgress(done: number, total: number, model: BenchModelName, report: BenchReport): void
  signal: AbortSignal
  /** Milliseconds from any origin. */
  now?: () => number
}

const SLOTS = 8
/** Tokens of the prompt, that all slots share, and tokens that each slot then writes. */
export const BENCH_PROMPT = 64
export const BENCH_TOKENS = 32
/** A training pass: so many sequences of so many tokens. */
export const BENCH_SEQUENCES = 8
export const BENCH_SEQUENCE_TOKENS = 256
export const BENCH_CONTEXT = BENCH_SEQUENCE_TOKENS

/** Repeats that count. Fewer where they would take longer than `PATIENCE`. */
const REPEATS = 5
const PATIENCE_MS = 10_000
/** Before them, at least once: loading, and compiling, which browsers go on with while a program already runs. */
const WARM_MS = 1500

const ADAM: OptimizerParams = { learning_rate: 1e-5, adam_beta1: 0.9, adam_beta2: 0.999, adam_epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 }
const DRAWN = { temperature: 1, top_k: 0, top_p: 1, min_p: null } as const

/** Steps of `onProgress` for a model. */
const STEPS = 4

/** Everything, model by model. Throws PlaygroundError 'stopped' when the signal aborts, else what the engine throws. */
export async function runBench(options: BenchOptions): Promise<BenchReport> {
  const figures: BenchFigure[] = []
  for (const [i, model] of BENCH_MODELS.entries()) await measureModel(model, i * STEPS, figures, options)
  return { device: options.device, figures }
}

/** Adds to `figures`. */
async function measureModel(model: BenchModelName, done: number, figures: BenchFigure[], options: BenchOptions): Promise<void> {
  const { device, open, onProgress, signal, now = () => performance.now() } = options
  const add = (name: BenchFigureName, values: readonly number[]): void => {
    const sorted = [...values].sort((a, b) => a - b)
    const value = sorted[sorted.length >> 1] ?? Number.NaN
    figures.push({ name, model, value, range: sorted.length > 1 ? [sorted[0] as number, sorted.at(-1) as number] : null, repeats: sorted.length })
  }
  const begin = (step: number): void => {
    assertNotStopped(signal, STOPPED)
    onProgress(done + step, BENCH_MODELS.length * STEPS, model, { device, figures: [...figures] })
  }
  const opened = async <T>(slots: number, work: (measured: Measured) => Promise<T>): Promise<T> => {
    const measured = await open(model, slots)
    try {
      return await work(measured)
    } finally {
      await measured.dispose()
    }
  }
  /** Seconds of each repeat. */
  const timed = async ({ idle }: Measured, work: () => Promise<void>, prepare: () => Promise<void> = () => Promise.resolve()): Promise<number[]> => {
    const once = async (): Promise<number> => {
      assertNotStopped(signal, STOPPED)
      await prepare()
      await idle()
      const from = now()
      await work()
      await idle()
      return now() - from
    }
    for (let spent = 0; spent < WARM_MS; ) spent += await once()
    const counted: number[] = []
    for (let spent = 0; counted.length < REPEATS && (counted.length === 0 || spent < PATIENCE_MS); ) {
      const took = await once()
      spent += took
      counted.push(took / 1000)
    }
    return counted
  }
  const decoded = (measured: Measured): Promise<number[]> => timed(measured, () => writeTokens(measured, BENCH_TOKENS, signal), () => fill(measured))

  begin(0)
  const one = await opened(1, decoded)
  add('decode1', one.map((seconds) => BENCH_TOKENS / seconds))
  await opened(SLOTS, async (measured) => {
    begin(1)
    const eight = await decoded(measured)
    add('decode8', eight.map((seconds) => (SLOTS * BENCH_TOKENS) / seconds))
    // Which of the two came first is chance: the ratio is that of the medians.
    add('batching', [middle(eight) / middle(one)])
    begin(2)
    add('training', await timed(measured, () => train(measured, BENCH_SEQUENCES, BENCH_SEQUENCE_TOKENS)))
    begin(3)
    add('step', await timed(measured, () => playAndTrain(measured, signal)))
    await count(measured, add)
    add('memory', [measured.bytes()])
  })
}

const STOPPED = 'The benchmark was stopped.'

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Dispatches of one token of all slots and of one training pass, where there is a GPU. */
async function count(measured: Measured, add: (name: BenchFigureName, values: readonly number[]) => void): Promise<void> {
  if (measured.dispatches() === null) return
  const during = async (work: () => Promise<void>): Promise<number> => {
    const before = measured.dispatches() ?? 0
    await work()
    return (measured.dispatches() ?? 0) - before
  }
  await fill(measured)
  add('dispatchesToken', [await during(() => writeTokens(measured, 1))])
  add('dispatchesTraining', [await during(() => train(measured, 1, BENCH_SEQUENCE_TOKENS))])
}

async function fill({ engine }: Measured): Promise<void> {
  const others = Array.from({ length: engine.slots - 1 }, (_, i) => i + 1)
  for (const slot of [0, ...others]) engine.reset(slot)
  await engine.prefill(0, spread(BENCH_PROMPT, engine.info.vocabSize))
  if (others.length > 0) await engine.copy(0, others)
}

async function writeTokens({ engine }: Measured, tokens: number, signal?: AbortSignal): Promise<void> {
  const draws = Array.from({ length: engine.slots }, (_, slot) => ({ slot, uniform: (slot + 0.5) / engine.slots }))
  for (let k = 0; k < tokens; k++) {
    if (signal) assertNotStopped(signal, STOPPED)
    const drawn = await engine.sample(draws, DRAWN)
    await engine.decode(drawn.map(({ id }, slot) => ({ slot, id })))
  }
}

async function train({ engine }: Measured, sequences: number, tokens: number): Promise<void> {
  const ids = spread(tokens, engine.info.vocabSize)
  const batch = Array.from({ length: sequences }, (_, s) => ({ ids: ids.map((id) => (id + s) % engine.info.vocabSize), mask: ids.map((_, t) => (t > 0 ? 1 : 0)) }))
  const slopes = (_: readonly number[], scores: readonly SequenceScores[]): SequenceGradient[] =>
    scores.map(({ logprobs }) => ({ dLogprobs: Float64Array.from(logprobs, () => -1 / (sequences * tokens)) }))
  await engine.accumulate(batch, { temperature: 1 }, slopes)
  await engine.optimizerStep(ADAM)
}

async function playAndTrain(measured: Measured, signal: AbortSignal): Promise<void> {
  await fill(measured)
  await writeTokens(measured, BENCH_TOKENS, signal)
  await train(measured, SLOTS, BENCH_PROMPT + BENCH_TOKENS)
}

/** `n` ids that are spread over the vocabulary. */
const spread = (n: number, words: number): number[] => Array.from({ length: n }, (_, i) => (7919 * i + 13) % words)

/** What all engines of a benchmark have in common. */
export const benchEngine = (backend: Backend, slots: number) => ({ lora: DEFAULT_LORA, backend, slots, contextLength: BENCH_CONTEXT, precision: 'float32' as const })

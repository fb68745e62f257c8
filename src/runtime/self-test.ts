/** Does this GPU compute what WASM computes? The same small engine on both: log-probs, drawn tokens and one LoRA gradient are compared. */

import type { Backend, LoraConfig, Precision } from '../core/config'
import type { Engine, NamedTensor, SampledToken, SequenceScores, TrainSequence } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import type { SelfTestReport } from '../core/events'
import { RandomStream, uniform } from '../core/random'
import type { WeightSource } from '../core/weights'
import { parseModelConfig } from '../model/config'
import { createEngine } from './create'
import { readGradients, slopes } from './gradient-probe'

export interface SelfTestOptions {
  /** A model of a layer or two, such as sliceSource keeps. */
  slice: WeightSource
  precision: Precision
  lora: LoraConfig | null
  /** The GPU's name, for people. */
  adapterName: string
  /** Of WASM. */
  threads: number
}

/** What one engine computed. */
export interface Measured {
  /** Of the written tokens, by the training path, nats. */
  logprobs: readonly number[]
  entropies: readonly number[]
  /** Tokens drawn with fixed uniform numbers, by the sampling path. */
  draws: readonly SampledToken[]
  gradient: readonly NamedTensor[]
}

/**
 * Nats, for log-probs and entropies. Right backends were measured 3e-6 to 2.5e-5 apart, and 1.5e-4 on a slice made to be bad (a
 * hundredfold row in down_proj, head norms of 20); the wrong kernel that we met was off by 0.06. A policy ratio that is off by a thousandth is nothing beside GRPO's clipping.
 */
const LOGPROB_LIMIT = 1e-3
/** Relative to the norm; right backends were measured 1e-6 to 1.4e-4 apart on the same slices, a wrong gradient is off by about 1. */
const GRADIENT_LIMIT = 1e-2
/** A tensor whose gradient is smaller than this part of the whole is compared with that part: the rest of it may be rounding. */
const SMALLEST_PART = 1e-2

/** Twenty shared tokens and two endings pack into one row of 64 on both backends: one shape of the training graphs. */
const [SHARED, ENDING] = [20, 22]
/** Prefills of 9, 31 and 9 tokens on WebGPU (the longest piece there is 31): a first piece, one behind a copy, and a third behind both. */
const [START, REST] = [9, 40]
const DECODES = 3
const CONTEXT = 64
const SEED = 0x5e1f
const TEMPERATURE = 0.9
/** B's deviation: the LoRA's part of an output is then some tenth of it at the usual ranks, and no gradient of A is zero. */
const B_STD = 0.03

/**
 * Makes an engine of the slice on WASM, then one on WebGPU, and compares what they compute; both are disposed whatever happens. It is safe
 * while another WebGPU engine exists, and best then: onnxruntime gives its GPU device back with the last session, so the engine that stays
 * keeps the device alive through the disposal of the test's. An error that the GPU reports meanwhile fails that engine too, as they share it.
 *
 * A WebGPU engine that throws is a failed report. Throws PlaygroundError('device-lost') and 'memory' from there, and whatever WASM throws: there is
 * nothing to compare with then.
 */
export async function selfTest(options: SelfTestOptions): Promise<SelfTestReport> {
  const expected = await measure(options, 'wasm')
  try {
    return compareRuns(await measure(options, 'webgpu'), expected, options.adapterName)
  } catch (error) {
    if (error instanceof PlaygroundError && (error.kind === 'device-lost' || error.kind === 'memory')) throw error
    if (error instanceof PlaygroundError && error.kind === 'non-finite') return failed(options.adapterName, Infinity, Infinity, 'WebGPU gave numbers that are not finite')
    const what = (error instanceof Error ? error.message : String(error)).replace(/[.\s]+$/, '')
    return failed(options.adapterName, NaN, NaN, `WebGPU could not run it (${what})`)
  }
}

/** The report of what WebGPU and WASM computed; numbers that are not finite are an infinite difference. */
export function compareRuns(gpu: Measured, wasm: Measured, adapter: string): SelfTestReport {
  const same = gpu.draws.flatMap((draw, i) => (draw.id === wasm.draws[i]?.id ? [[draw, wasm.draws[i]] as const] : []))
  const training = largest(gpu.logprobs, wasm.logprobs)
  const sampling = Math.max(
    // Where rounding chose the neighbour of a token its log-prob may be anything.
    largest(same.map(([ours]) => ours.logprob), same.map(([, theirs]) => theirs.logprob)),
    largest(gpu.draws.map(bestLogprob), wasm.draws.map(bestLogprob)),
  )
  const entropies = largest([...gpu.entropies, ...gpu.draws.map((draw) => draw.entropy)], [...wasm.entropies, ...wasm.draws.map((draw) => draw.entropy)])
  const gradient = gradientDifference(gpu.gradient, wasm.gradient)
  const problems = [
    ...nats('log-probs in training', training),
    ...nats('log-probs in sampling', sampling),
    ...nats('entropies', entropies),
    ...(2 * same.length > wasm.draws.length ? [] : [`${wasm.draws.length - same.length} of ${wasm.draws.length} drawn tokens differ`]),
    ...(gradient.error <= GRADIENT_LIMIT ? [] : [`the LoRA gradient (${gradient.name}) ${amount(gradient.error, 'of its norm')}`]),
  ]
  const logprob = Math.max(training, sampling)
  if (problems.length > 0) return failed(adapter, logprob, gradient.error, problems.join(', '))
  return { ok: true, adapter, logprobError: logprob, gradientError: gradient.error, problem: '' }
}

function failed(adapter: string, logprobError: number, gradientError: number, what: string): SelfTestReport {
  const problem = `On ${adapter} a fixed test of this model does not come out as on WASM: ${what}; choose WASM or another browser.`
  return { ok: false, adapter, logprobError, gradientError, problem }
}

const nats = (what: string, error: number): string[] => (error <= LOGPROB_LIMIT ? [] : [`${what} ${amount(error, 'nats')}`])
const amount = (error: number, unit: string): string => (error === Infinity ? 'not finite' : `off by up to ${Number(error.toPrecision(2))} ${unit}`)

/** Of the likeliest token, which two that are nearly as likely do not change. */
const bestLogprob = ({ top }: SampledToken): number => Math.log(top[0]?.prob ?? NaN)

function largest(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length) return Infinity
  return ours.reduce((most, x, i) => Math.max(most, finite(Math.abs(x - (theirs[i] as number)))), 0)
}

const finite = (x: number): number => (Number.isFinite(x) ? x : Infinity)
const norm = (values: Iterable<number>): number => {
  let sum = 0
  for (const x of values) sum += x * x
  return Math.sqrt(sum)
}

/** The worst tensor: |ours − theirs| / |theirs|. */
function gradientDifference(ours: readonly NamedTensor[], theirs: readonly NamedTensor[]): { error: number; name: string } {
  const whole = norm(theirs.map(({ data }) => norm(data)))
  const byName = new Map(ours.map((tensor) => [tensor.name, tensor.data]))
  const errors = theirs.map(({ name, data }) => {
    const other = byName.get(name)
    const difference = other?.length === data.length ? norm(data.map((x, i) => x - (other[i] as number))) : Infinity
    return { name: name.replace(/^base_model\.model\.model\./, ''), error: finite(difference / Math.max(norm(data), SMALLEST_PART * whole)) }
  })
  return errors.reduce((worst, tensor) => (tensor.error > worst.error ? tensor : worst), { error: whole > 0 ? 0 : Infinity, name: 'all of it' })
}

async function measure({ slice, precision, lora, adapterName, threads }: SelfTestOptions, backend: Backend): Promise<Measured> {
  const { vocab_size: words } = parseModelConfig(await slice.config())
  const engine = await createEngine({ source: slice, lora, backend, threads, precision, slots: 2, contextLength: CONTEXT, modelName: 'self-test', seed: SEED, adapterName })
  try {
    const random = new RandomStream(SEED, 1)
    const ids = (n: number): number[] => Array.from({ length: n }, () => random.int(words))
    await engine.importParameters((await engine.exportParameters()).map(withB))
    const draws = await draw(engine, ids(START + REST), ids(2 * DECODES))
    const shared = ids(SHARED)
    const batch = [ids(ENDING), ids(ENDING)].map((ending): TrainSequence => ({ ids: [...shared, ...ending], mask: [...shared.map(() => 0), ...ending.map(() => 1)] }))
    const scores: SequenceScores[] = []
    await engine.accumulate(batch, { temperature: TEMPERATURE }, (indices, micro) => {
      indices.forEach((index, i) => (scores[index] = micro[i] as SequenceScores))
      return slopes(indices, micro)
    })
    const written = (pick: (score: SequenceScores) => Float64Array): number[] => scores.flatMap((score) => [...pick(score).subarray(SHARED)])
    return { logprobs: written((s) => s.logprobs), entropies: written((s) => s.entropies), draws, gradient: (await readGradients(engine)).gradients }
  } finally {
    await engine.dispose()
  }
}

/** A stays as PEFT draws it; B is zero in a fresh LoRA, which would hide A. */
function withB(tensor: NamedTensor, index: number): NamedTensor {
  if (!tensor.name.endsWith('lora_B.weight')) return tensor
  const random = new RandomStream(SEED, 2, index)
  return { ...tensor, data: tensor.data.map(() => B_STD * random.normal()) }
}

/** Two slots of unlike length: prefill in pieces, a copy, a few decodes, and a token drawn from each before every one of them. */
async function draw(engine: Engine, prompt: readonly number[], next: readonly number[]): Promise<SampledToken[]> {
  const drawn: SampledToken[] = []
  const sample = async (round: number): Promise<void> => {
    const requests = [0, 1].map((slot) => ({ slot, uniform: uniform(SEED, 3, round, slot) }))
    drawn.push(...(await engine.sample(requests, { temperature: TEMPERATURE, top_k: 0, top_p: 1, min_p: null })))
  }
  await engine.prefill(0, prompt.slice(0, START))
  await engine.copy(0, [1])
  await engine.prefill(0, prompt.slice(START))
  await sample(0)
  for (let k = 0; k < DECODES; k++) {
    await engine.decode([0, 1].map((slot) => ({ slot, id: next[2 * k + slot] as number })))
    await sample(k + 1)
  }
  return drawn
}

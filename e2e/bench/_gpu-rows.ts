/** What the GPU benchmark measured becomes rows. No browser in here. */

import type { RunResult } from '../browser/modules/engine-run'
import type { AdapterReport, GpuFigures, GpuRequest } from '../models/gpu-run'
import type { BenchRow } from '../tools/bench-rows'

const round = (value: number): number => Number(value.toPrecision(4))
const row = (name: string, value: number, unit: string): BenchRow => ({ bench: 'gpu', row: name, value: round(value), unit })

/** Sizes that bound what fits, under the adapter's name. */
export function adapterRows({ name, maxBufferSize, maxStorageBufferBindingSize }: AdapterReport): BenchRow[] {
  return [row(`${name}/largest buffer`, maxBufferSize / 1e9, 'GB'), row(`${name}/largest binding`, maxStorageBufferBindingSize / 1e9, 'GB')]
}

/** How far WebGPU is from WASM on the same small model. Limits: those of the engine's own tests. */
export interface SelfCheck {
  logprob: number
  gradient: number
  /** Draws that chose another token, of all. */
  otherDraws: number
  draws: number
}

export const SELF_CHECK_LIMITS = { logprob: 1e-4, gradient: 1e-3 } as const

/** Numbers that are not finite, or missing, count as infinitely far. */
export function compareEngines(gpu: RunResult, wasm: RunResult): SelfCheck {
  const pairs = wasm.logprobs.flatMap((values, i) => values.map((value, k) => Math.abs(value - (gpu.logprobs[i]?.[k] ?? NaN))))
  const gradients = Object.entries(wasm.gradients).map(([name, expected]) => {
    const ours = gpu.gradients[name] ?? []
    const norm = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0))
    return norm(expected.map((x, i) => x - (ours[i] ?? NaN))) / Math.max(norm(expected), 1e-12)
  })
  const [ours, theirs] = [gpu.sampled.flat(), wasm.sampled.flat()]
  return {
    logprob: most(pairs),
    gradient: most(gradients),
    otherDraws: theirs.filter(({ id }, i) => ours[i]?.id !== id).length,
    draws: theirs.length,
  }
}

const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, Number.isNaN(b) ? Infinity : b), 0)

/** Whether the GPU computes what WASM computes, as the engine's tests want it. */
export function agrees({ logprob, gradient, otherDraws }: SelfCheck): boolean {
  return logprob < SELF_CHECK_LIMITS.logprob && gradient < SELF_CHECK_LIMITS.gradient && otherDraws === 0
}

export function selfCheckRows(precision: string, check: SelfCheck): BenchRow[] {
  return [
    row(`self-check/${precision}/log-prob against WASM`, check.logprob, 'nats'),
    row(`self-check/${precision}/gradient against WASM`, check.gradient, 'relative'),
    row(`self-check/${precision}/other draws of ${check.draws}`, check.otherDraws, 'tokens'),
  ]
}

/** Median tokens per second with the range over the repeats. Throws on no repeats. */
export function rateRow(name: string, tokens: number, seconds: readonly number[]): BenchRow {
  const rates = seconds.map((s) => round(tokens / s)).sort((a, b) => a - b)
  const [least, greatest] = [rates[0], rates.at(-1)]
  if (least === undefined || greatest === undefined) throw new Error(`${name} was not measured.`)
  const middle = rates.length >> 1
  const median = rates.length % 2 === 1 ? (rates[middle] as number) : ((rates[middle - 1] as number) + (rates[middle] as number)) / 2
  return { ...row(name, median, 'tokens/s'), spread: [least, greatest] }
}

/** Rows of a model from one slot and from several; training and memory are those of several. */
export function modelRows(one: { request: GpuRequest; figures: GpuFigures }, several: { request: GpuRequest; figures: GpuFigures }, planned: number): BenchRow[] {
  const { model, slots, decode, prompt, train } = several.request
  const { figures } = several
  return [
    row(`${model}/load`, one.figures.load, 's'),
    rateRow(`${model}/prefill of ${prompt}`, prompt, one.figures.prefill),
    rateRow(`${model}/decode, 1 slot`, one.request.decode, one.figures.decode),
    rateRow(`${model}/decode, ${slots} slots`, slots * decode, figures.decode),
    ...(train ? [rateRow(`${model}/training on ${train.sequences} x ${train.tokens}`, train.sequences * train.tokens, figures.train)] : []),
    { ...row(`${model}/memory`, figures.peak / 1e9, 'GB'), peer: 'planMemory', peerValue: round(planned / 1e9), ratio: round(figures.peak / planned) },
    ...(figures.maxContext === null ? [] : [row(`${model}/longest context of ${slots} slots`, figures.maxContext, 'tokens')]),
  ]
}

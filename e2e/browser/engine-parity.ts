/** What WebGPU and WASM must agree on: log-probs, entropies, every gradient, AdamW's step, drawn tokens, and memory that stays. */

import { expect } from 'vitest'
import type { RunRequest, RunResult, TwinRequest, TwinResult } from './modules/engine-run'
import type { TrainingTwinRequest, TrainingTwinResult } from './modules/training-twins'

/** |a − b| / |b| over whole vectors. */
function relative(a: readonly number[], b: readonly number[]): number {
  const norm = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0))
  expect(a.length).toBe(b.length)
  return norm(a.map((x, i) => x - (b[i] as number))) / Math.max(norm(b), 1e-12)
}

function largest(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  expect(a.map((row) => row.length)).toEqual(b.map((row) => row.length))
  return Math.max(...a.flatMap((row, i) => row.map((x, k) => Math.abs(x - (b[i]?.[k] as number)))))
}

/** Both computed the same, to the tolerance of the parity tests. */
export function expectSame(ours: RunResult, theirs: RunResult): void {
  expect(largest(ours.logprobs, theirs.logprobs)).toBeLessThan(1e-4)
  expect(largest(ours.entropies, theirs.entropies)).toBeLessThan(1e-4)
  expect(ours.argmax).toEqual(theirs.argmax)
  expect(Object.keys(ours.gradients)).toEqual(Object.keys(theirs.gradients))
  for (const [name, gradient] of Object.entries(theirs.gradients)) {
    expect(gradient.some((x) => Math.abs(x) > 1e-6), `${name} has a gradient`).toBe(true)
    expect(relative(ours.gradients[name] as number[], gradient), name).toBeLessThan(1e-3)
    expect(relative(ours.stepped[name] as number[], theirs.stepped[name] as number[]), `${name} after AdamW`).toBeLessThan(1e-4)
  }
  expect(ours.grad_norm / theirs.grad_norm).toBeCloseTo(1, 4)
  expect(ours.sampled.map((draws) => draws.map(({ id, top }) => [id, ...top.map((t) => t.id)]))).toEqual(
    theirs.sampled.map((draws) => draws.map(({ id, top }) => [id, ...top.map((t) => t.id)])),
  )
  const numbers = ({ sampled }: RunResult): number[][] => sampled.flat().map(({ logprob, entropy, top }) => [logprob, entropy, ...top.map((t) => t.prob)])
  expect(largest(numbers(ours), numbers(theirs))).toBeLessThan(1e-4)
  expect(ours.sampled.flat().every(({ logprob }) => logprob < 0)).toBe(true)
}

/** Runs the request on both providers, the same in numbers and flat in memory. */
export async function expectParity(run: (request: RunRequest) => Promise<RunResult>, request: Omit<RunRequest, 'backend'>): Promise<void> {
  const wasm = await run({ backend: 'wasm', threads: 2, ...request })
  expect(wasm.isolated).toBe(true)
  expect(wasm.info).toMatchObject({ backend: 'wasm', threads: 2, device: '2 threads' })
  const gpu = await run({ backend: 'webgpu', ...request })
  expect(gpu.info).toMatchObject({ backend: 'webgpu', threads: 1, device: 'test', parameters: wasm.info.parameters, trainable: wasm.info.trainable })
  // Rows of whole blocks are decoded by our own kernels, a narrower model and one whose every weight is trained by onnxruntime's graph.
  expect(wasm.kernelDecodes).toBe(0)
  expect(gpu.kernelDecodes > 0).toBe(request.precision !== undefined && request.lora !== null)
  // A LoRA of any width is trained by our own.
  expect([wasm.kernelBatches, gpu.kernelBatches > 0]).toEqual([0, request.lora !== null])
  expectSame(gpu, wasm)
  for (const { bytes } of [wasm, gpu]) {
    expect(bytes).toEqual([bytes[0], bytes[0], bytes[0]])
    expect(bytes[0]).toBeGreaterThan(0)
  }
}

/** Our kernels and onnxruntime's graph decode the same numbers. */
export async function expectTwins(run: (request: TwinRequest) => Promise<TwinResult>, request: TwinRequest): Promise<void> {
  const { difference, decodes } = await run(request)
  expect(decodes).toEqual([8, 0])
  expect(difference).toBeLessThan(2e-5)
}

/** Our kernels and onnxruntime's graphs score and train the same numbers. */
export async function expectTrainingTwins(run: (request: TrainingTwinRequest) => Promise<TrainingTwinResult>, request: TrainingTwinRequest): Promise<void> {
  const { scores, gradients, taken } = await run(request)
  expect(taken[0]).toBeGreaterThan(4)
  expect(taken[1]).toBe(0)
  for (const [adapter, difference] of Object.entries(scores)) expect(difference, adapter).toBeLessThan(5e-5)
  expect(Object.keys(gradients)).toHaveLength(2 * 2 * (request.targets?.length ?? 7))
  for (const [name, difference] of Object.entries(gradients)) expect(difference, name).toBeLessThan(1e-4)
}

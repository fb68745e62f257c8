/** What a worker says of models, scripted; for tests and for looking at the panel, never for the product. */

import type { SelfTestReport } from '../../core/events'
import type { DeviceReport, MemoryPlan } from '../../core/plan'
import type { Inspection, Message, RunState } from '../../worker/protocol'
import { engineMessages } from './script'

const MB = 1e6

export const PLAN: MemoryPlan = {
  weights: 361 * MB,
  adapter: 141 * MB,
  kvCache: 705 * MB,
  sampling: 88 * MB,
  training: 940 * MB,
  peak: 1542 * MB,
  largestBuffer: 97 * MB,
}

export const DEVICE: DeviceReport = {
  gpu: { name: 'Apple M2', software: false, shaderF16: true, maxBufferSize: 4096 * MB, maxStorageBufferBindingSize: 4096 * MB },
  threads: 4,
  gpuBudget: 4000 * MB,
  storage: { usage: 1200 * MB, quota: 296_000 * MB },
}

export const INSPECTION: Inspection = {
  model: 'Qwen/Qwen3-0.6B',
  revision: 'c1899de289a04d12100db370d81485cdf75e47ca',
  architecture: 'Qwen3ForCausalLM',
  parameters: 596_049_920,
  layers: 28,
  downloadBytes: 1_192_099_840,
  backend: 'webgpu',
  storedBytes: 0,
  device: DEVICE,
  plan: PLAN,
  verdict: { kind: 'fits' },
}

export const inspected = (requestId: number, change: Partial<Inspection> = {}): Message => ({
  type: 'inspection',
  requestId,
  result: { ok: true, inspection: { ...INSPECTION, ...change } },
})

export const refused = (requestId: number, error: string, advice: string): Message => ({
  type: 'inspection',
  requestId,
  result: { ok: false, error, advice },
})

export const downloading = (done: number, what = 'model.safetensors'): Message => ({
  type: 'state',
  state: {
    state: 'loading',
    what,
    done,
    total: 1_192_099_840,
    overall: { done, total: 1_203_500_000, bytesPerSecond: 9_800_000, secondsLeft: (1_203_500_000 - done) / 9_800_000, fromDisk: false },
  },
})

export const STORED: Message = {
  type: 'stored-models',
  models: [
    { key: 'a', model: 'Qwen/Qwen3-0.6B', revision: INSPECTION.revision, bytes: 1_203_500_000, complete: true },
    { key: 'b', model: 'Qwen/Qwen2.5-0.5B-Instruct', revision: 'main', bytes: 412_000_000, complete: false },
  ],
  storage: { usage: 1_640_000_000, quota: 296_000_000_000 },
}

export const FAILED_TEST: SelfTestReport = {
  ok: false,
  adapter: 'Acme GPU 9',
  logprobError: 0.41,
  gradientError: 0.93,
  problem: 'The log-probs of the fixed prompt differ by up to 0.41 nats.',
}

/** The engine of a model, on WebGPU, with its self-test. */
export function loaded(model: string, selfTest: SelfTestReport | null = null): Message[] {
  const ready: RunState = { state: 'ready' }
  return engineMessages()
    .slice(1)
    .map((m): Message => {
      if (m.type === 'state') return { type: 'state', state: ready }
      if (m.type !== 'engine') return m
      const info = { ...m.report.info, backend: 'webgpu' as const, device: selfTest?.adapter ?? 'Apple M2', model, parameters: 596_049_920, trainable: 10_092_544 }
      return { type: 'engine', report: { ...m.report, info, selfTest } }
    })
}

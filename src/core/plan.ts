/** What a model with given settings needs of a device, and what that means for a person: plain data, computed in runtime/plan.ts. */

import type { Backend } from './config'

/** Most episodes that decode together. */
export const MOST_SLOTS: Record<Backend, number> = { wasm: 64, webgpu: 16 }

/** Bytes of device memory. */
export interface MemoryPlan {
  /** Base weights with their scales. */
  weights: number
  /** LoRA, gradient, moments and their working copies. */
  adapter: number
  /** The KV cache of all slots. */
  kvCache: number
  /** Working memory at the worst moment of sampling and of training. */
  sampling: number
  training: number
  /** The most that exists at once. */
  peak: number
  /** The largest single buffer. */
  largestBuffer: number
}

/** What this browser offers. */
export interface DeviceReport {
  gpu: {
    name: string
    software: boolean
    /** shader-f16 is not needed: activations are float32. */
    shaderF16: boolean
    maxBufferSize: number
    maxStorageBufferBindingSize: number
  } | null
  /** WASM threads that may be used. */
  threads: number
  /** Bytes of GPU memory that a plan may use: a guess, since browsers do not tell. */
  gpuBudget: number
  /** Bytes for storage; null where the browser does not say. */
  storage: { usage: number; quota: number } | null
}

export type Verdict =
  | { kind: 'fits' }
  /** Fits with these settings instead. */
  | { kind: 'reduce'; num_generations: number; prompts_per_step: number; max_completion_length: number }
  | { kind: 'too-large'; needs: number; has: number }
  /** Would run, but nobody would wait for it. */
  | { kind: 'too-slow'; secondsPerToken: number }

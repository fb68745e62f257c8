/** What this browser can do: a real GPU adapter or not, threads or not. */

import type { Backend } from '../core/config'
import { PlaygroundError } from '../core/errors'
import type { DeviceReport } from '../core/plan'

export interface Capabilities {
  /** null: no WebGPU here. */
  gpu: { name: string; software: boolean } | null
  /** WASM threads that may be used: more than 1 only in a cross-origin isolated page. */
  threads: number
}

/** More threads than this do not make the shipped model faster. */
const MOST_THREADS = 4

/** Asks the browser, for its GPU only where one may be used; never throws. */
export async function probeCapabilities(asked: Backend | 'auto' = 'auto'): Promise<Capabilities> {
  return { gpu: asked === 'wasm' ? null : ((await probeGpu())?.gpu ?? null), threads: threadsHere() }
}

function threadsHere(): number {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true
  const cores = typeof navigator === 'undefined' ? 1 : navigator.hardwareConcurrency || 1
  return isolated ? Math.min(cores, MOST_THREADS) : 1
}

/** The adapter and what it is called; null when there is none. */
async function probeGpu(): Promise<{ adapter: GPUAdapter; gpu: NonNullable<Capabilities['gpu']> } | null> {
  try {
    const adapter = typeof navigator === 'undefined' ? null : await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' })
    if (!adapter) return null
    const { vendor, architecture, device, description } = adapter.info
    const software = adapter.info.isFallbackAdapter || /swiftshader|llvmpipe|basic render/i.test(`${architecture} ${description} ${device}`)
    return { adapter, gpu: { name: description || [vendor, architecture, device].filter(Boolean).join(' ') || 'GPU', software } }
  } catch {
    return null
  }
}

const GB = 1e9

/**
 * Bytes of GPU memory that a plan may use. Browsers do not tell how much there is; a laptop's 8 GB leave half to others. Where the
 * machine has little memory of its own (navigator.deviceMemory, GB), half of that.
 */
function guessBudget(software: boolean): number {
  const machine = (typeof navigator === 'undefined' ? undefined : (navigator as { deviceMemory?: number }).deviceMemory) ?? 8
  return (software ? machine / 2 : Math.min(4, machine / 2)) * GB
}

/** What a person should know before downloading a model; never throws. */
export async function probeDevice(): Promise<DeviceReport> {
  const found = await probeGpu()
  return {
    gpu: found && {
      ...found.gpu,
      shaderF16: found.adapter.features.has('shader-f16'),
      maxBufferSize: found.adapter.limits.maxBufferSize,
      maxStorageBufferBindingSize: found.adapter.limits.maxStorageBufferBindingSize,
    },
    threads: threadsHere(),
    gpuBudget: guessBudget(found?.gpu.software ?? true),
    storage: await probeStorage(),
  }
}

/** Bytes for this page's storage; null where the browser does not say. */
export async function probeStorage(): Promise<DeviceReport['storage']> {
  try {
    const { usage, quota } = await navigator.storage.estimate()
    return usage === undefined || quota === undefined ? null : { usage, quota }
  } catch {
    return null
  }
}

/** The backend to use: what was asked for, or for 'auto' a real GPU, else WASM. Throws when WebGPU is asked for and missing. */
export function chooseBackend(asked: Backend | 'auto', { gpu }: Capabilities): Backend {
  if (asked === 'webgpu' && !gpu) {
    throw new PlaygroundError('engine', 'This browser offers no WebGPU adapter.', 'Choose WASM, or a browser with WebGPU switched on.')
  }
  if (asked !== 'auto') return asked
  return gpu && !gpu.software ? 'webgpu' : 'wasm'
}

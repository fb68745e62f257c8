/** What this browser can do: a real GPU adapter or not, threads or not. */

import type { Backend } from '../core/config'
import { PlaygroundError } from '../core/errors'

export interface Capabilities {
  /** null: no WebGPU here. */
  gpu: { name: string; software: boolean } | null
  /** WASM threads that may be used: more than 1 only in a cross-origin isolated page. */
  threads: number
}

/** More threads than this do not make the shipped model faster. */
const MOST_THREADS = 4

/** Asks the browser; never throws. */
export async function probeCapabilities(): Promise<Capabilities> {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === true
  const cores = typeof navigator === 'undefined' ? 1 : navigator.hardwareConcurrency || 1
  return { gpu: await probeGpu(), threads: isolated ? Math.min(cores, MOST_THREADS) : 1 }
}

async function probeGpu(): Promise<Capabilities['gpu']> {
  try {
    const adapter = typeof navigator === 'undefined' ? null : await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' })
    if (!adapter) return null
    const { vendor, architecture, device, description } = adapter.info
    const software = adapter.info.isFallbackAdapter || /swiftshader|llvmpipe|basic render/i.test(`${architecture} ${description} ${device}`)
    return { name: description || [vendor, architecture, device].filter(Boolean).join(' ') || 'GPU', software }
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

/** Loads the one onnxruntime-web build that a backend needs, and lets only one create or run happen at a time. */

import type * as Ort from 'onnxruntime-web'
import type { Backend } from '../core/config'

export type OrtModule = typeof Ort

/** The version that stands in package.json, for those who have not loaded it. */
export const ORT_VERSION = '1.30.0'

const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined && typeof (globalThis as { document?: unknown }).document === 'undefined'

const loaded = new Map<string, Promise<OrtModule>>()

async function importOrt(backend: Backend): Promise<OrtModule> {
  if (inNode) {
    // Hidden from bundlers: this build is for Node alone.
    const node = 'onnxruntime-web'
    return (await import(/* @vite-ignore */ node)) as OrtModule
  }
  if (backend === 'webgpu') {
    const [ort, wasm] = await Promise.all([
      import('onnxruntime-web/webgpu'),
      import('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url') as Promise<{ default: string }>,
    ])
    ort.env.wasm.wasmPaths = { wasm: wasm.default }
    return ort
  }
  const [ort, wasm] = await Promise.all([
    import('onnxruntime-web/wasm'),
    import('onnxruntime-web/ort-wasm-simd-threaded.wasm?url') as Promise<{ default: string }>,
  ])
  ort.env.wasm.wasmPaths = { wasm: wasm.default }
  return ort
}

/** onnxruntime-web for a backend. threads counts for WASM; the first call's holds for the life of the page or process. */
export function loadOrt(backend: Backend, threads: number): Promise<OrtModule> {
  // In Node one build serves both; in a browser each backend is a module with a heap of its own.
  const key = inNode ? 'node' : backend
  let module = loaded.get(key)
  if (!module) {
    module = importOrt(backend).then((ort) => {
      ort.env.logLevel = 'error'
      ort.env.wasm.numThreads = threads
      return ort
    })
    loaded.set(key, module)
    // The next call tries again.
    module.catch(() => loaded.delete(key))
  }
  return module
}

let queue: Promise<unknown> = Promise.resolve()

/** Longest time that runs keep the thread from its messages and timers, ms. */
const TURN_MS = 12
let lastTurn = 0

/** A turn for messages: WASM runs end as microtasks, which alone would never let Pause through. */
async function messageTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => {
      channel.port1.close()
      resolve()
    }
    channel.port2.postMessage(null)
  })
  lastTurn = performance.now()
}

/**
 * Runs `work` after all earlier work. On WebGPU two runs in flight, even of two sessions, kill the module; the queue is
 * one per realm because the module is.
 */
export function exclusive<T>(work: () => Promise<T>): Promise<T> {
  const result = queue.then(async () => {
    if (performance.now() - lastTurn > TURN_MS) await messageTurn()
    return work()
  })
  queue = result.catch(() => undefined)
  return result
}

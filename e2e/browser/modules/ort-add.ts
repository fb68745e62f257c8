/** Runs the one-node model on either execution provider of the WebGPU build, in whatever scope it is imported into. */

import * as ort from 'onnxruntime-web/webgpu'
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url'
import { addModel } from './add-model'

export interface AddResult {
  sum: number[]
  isolated: boolean
  /** Threads that ORT was allowed. */
  threads: number
  /** Where the result lay before it was read back. */
  location: string
  inWorker: boolean
}

/** a + b on 'wasm' or 'webgpu', with CPU fallback switched off so that 'webgpu' cannot be answered by the CPU. */
export async function add({ ep, a, b }: { ep: 'wasm' | 'webgpu'; a: number[]; b: number[] }): Promise<AddResult> {
  ort.env.wasm.wasmPaths = { wasm: wasmUrl }
  ort.env.wasm.numThreads = self.crossOriginIsolated ? 2 : 1
  const session = await ort.InferenceSession.create(addModel(a.length), {
    executionProviders: [ep],
    ...(ep === 'webgpu' ? { preferredOutputLocation: 'gpu-buffer', extra: { session: { disable_cpu_ep_fallback: '1' } } } : {}),
  })
  const outputs = await session.run({
    a: new ort.Tensor('float32', Float32Array.from(a), [a.length]),
    b: new ort.Tensor('float32', Float32Array.from(b), [b.length]),
  })
  const c = outputs.c
  if (c === undefined) throw new Error('The session gave no output c.')
  const location = c.location
  const data = (await c.getData(true)) as Float32Array
  await session.release()
  return {
    sum: [...data],
    isolated: self.crossOriginIsolated,
    threads: ort.env.wasm.numThreads,
    location,
    inWorker: typeof document === 'undefined',
  }
}

/** The self-test beside a real engine, in whatever scope it is imported into; and GPUs that compute something else. */

import type { Precision } from '../../../src/core/config'
import type { SampledToken } from '../../../src/core/engine'
import { PlaygroundError } from '../../../src/core/errors'
import type { SelfTestReport } from '../../../src/core/events'
import type { WeightSource } from '../../../src/core/weights'
import { FolderSource } from '../../../src/hub/folder-source'
import { createEngine } from '../../../src/runtime/create'
import type { Device } from '../../../src/runtime/device'
import { parseModelConfig } from '../../../src/model/config'
import { loadOrt } from '../../../src/runtime/ort'
import { layoutOf } from '../../../src/runtime/parameters'
import { selfTest } from '../../../src/runtime/self-test'
import { sliceSource } from '../../../src/runtime/slice'
import { CONFIG, LORA, QWEN2_CONFIG, randomModel, smallBatch } from '../../../src/runtime/testing/random-model'
import { WebGpuDevice } from '../../../src/runtime/webgpu-device'

/** What is wrong with the GPU: nothing, one weight, one gradient, all log-probs, a run that throws, or it goes away. */
export type Fault = 'none' | 'weight' | 'gradient' | 'not-finite' | 'throws' | 'lost'

export interface SelfTestRequest {
  model: 'tiny' | 'random-qwen3' | 'random-qwen2'
  precision: Precision
  /** One self-test each, beside the same engine; what takes the GPU away comes last. */
  faults: Fault[]
}

/** One self-test, and the real engine before and after it. */
export interface SelfTestRun {
  report: SelfTestReport | null
  /** Kind of the error that selfTest was rejected with. */
  rejected: string | null
  /** Of the self-test alone. */
  seconds: number
  /** WebGPU devices that the self-test gave back. */
  disposed: number
  before: EngineState
  /** null once the GPU is gone. */
  after: EngineState | null
}

interface EngineState {
  /** Drawn from a slot that was filled before all tests. */
  token: SampledToken | undefined
  /** Log-probs by the training path. */
  logprobs: number[]
  allocatedBytes: number
}

const SLICE_LORA = { ...LORA, r: 8 }
/** Rows of whole blocks and more words than a slice keeps. */
const BLOCKS = { hidden_size: 64, num_hidden_layers: 3, intermediate_size: 96, vocab_size: 3001 }
const sourceOf = (model: SelfTestRequest['model']): WeightSource =>
  model === 'tiny' ? new FolderSource(new URL('/models/tiny-qwen3', self.location.href).href) : randomModel({ ...(model === 'random-qwen3' ? CONFIG : QWEN2_CONFIG), ...BLOCKS })

/** The second of two engines that read this, WebGPU's, gets another weight. */
function fickle(slice: WeightSource): WeightSource {
  let reads = 0
  return {
    ...slice,
    async *pieces(wanted) {
      const wrong = ++reads === 2
      for await (const piece of slice.pieces(wanted)) {
        yield wrong && piece.name.endsWith('layers.0.mlp.down_proj.weight') ? { ...piece, data: piece.data.map((x, i) => (i === 5 ? x + 3 : x)) } : piece
      }
    },
  }
}

/** Where the first layer's mlp.up_proj.lora_A lies in the gradient; it does not depend on what follows. */
function wrongAt(): number {
  const layout = layoutOf({ config: parseModelConfig({ ...CONFIG, ...BLOCKS }), lora: SLICE_LORA, precision: 'float32' })
  return layout.find(({ layer, key }) => layer === 0 && key === 'mlp.up_proj.lora_A')?.offset ?? NaN
}

let disposed = 0

/** Breaks every WebGPU device of this scope while `work` runs, and counts those that are given back. */
async function withFault<T>(fault: Fault, work: () => Promise<T>): Promise<T> {
  const { run: right, dispose } = WebGpuDevice.prototype
  disposed = 0
  WebGpuDevice.prototype.dispose = function (this: WebGpuDevice) {
    disposed++
    return dispose.call(this)
  }
  WebGpuDevice.prototype.run = async function (this: WebGpuDevice, ...args: Parameters<Device['run']>) {
    if (fault === 'throws') throw new PlaygroundError('engine', 'The engine stopped: no kernel for Gemm.')
    if (fault === 'lost') (await (await loadOrt('webgpu', 1)).env.webgpu.device).destroy()
    // What a micro-batch adds to the gradient, whether graphs or our own passes computed it.
    const { part } = args[1]
    if (fault === 'gradient' && part) this.write(part, wrongAt(), new Float32Array(64).fill(2))
    const out = await right.apply(this, args)
    if (fault === 'not-finite') out.logprob?.tensor.data.fill(NaN as never)
    return out
  }
  try {
    return await work()
  } finally {
    Object.assign(WebGpuDevice.prototype, { run: right, dispose })
  }
}

const draw = { temperature: 1, top_k: 0, top_p: 1, min_p: null }

/** Makes an engine as the worker does, tests the slice that its loading left, and uses the engine again. */
export async function testBesideEngine({ model, precision, faults }: SelfTestRequest): Promise<SelfTestRun[]> {
  const { source, slice } = sliceSource(sourceOf(model), { precision })
  const engine = await createEngine({ source, lora: SLICE_LORA, backend: 'webgpu', threads: 1, precision, slots: 2, contextLength: 64, modelName: model, adapterName: 'test' })
  try {
    await engine.prefill(0, [1, 2, 3, 4, 5])
    const state = async (): Promise<EngineState> => ({
      token: (await engine.sample([{ slot: 0, uniform: 0.37 }], draw))[0],
      logprobs: (await engine.score(smallBatch(), { temperature: 1 })).flatMap(({ logprobs }) => [...logprobs]),
      allocatedBytes: engine.allocatedBytes,
    })
    const kept = await slice()
    const runs: SelfTestRun[] = []
    for (const fault of faults) {
      const before = await state()
      const began = performance.now()
      const test = () => selfTest({ slice: fault === 'weight' ? fickle(kept) : kept, precision, lora: SLICE_LORA, adapterName: 'Acme GPU 9', threads: 2 })
      const [report, rejected] = await withFault(fault, test).then(
        (report) => [report, null] as const,
        (error: unknown) => [null, error instanceof PlaygroundError ? error.kind : String(error)] as const,
      )
      const seconds = (performance.now() - began) / 1000
      runs.push({ report, rejected, seconds, disposed, before, after: fault === 'lost' ? null : await state() })
    }
    return runs
  } finally {
    await engine.dispose()
  }
}

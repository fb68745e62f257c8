/** Counts the dispatches of every artifact as the engine runs it on WebGPU, in the realm where it is imported. */

import type { ArtifactName } from '../../src/artifacts/spec'
import { DEFAULT_LORA, type Precision } from '../../src/core/config'
import { createEngine } from '../../src/runtime/create'
import type { DeviceSession } from '../../src/runtime/device'
import { DecodeKernels } from '../../src/runtime/kernels/decode-kernels'
import { TrainingWork } from '../../src/runtime/kernels/training-kernels'
import { Sessions } from '../../src/runtime/sessions'
import { slopes } from '../../src/runtime/gradient-probe'
import { WebGpuDevice } from '../../src/runtime/webgpu-device'
import { gpuMeter } from './gpu-meter'
import { shapeSource } from './shapes'
import { ADAM, evenDraws, PLAIN, slotsOf, spreadIds, trainingBatch } from './workload'

export interface DispatchRequest {
  /** config.json. */
  config: Readonly<Record<string, unknown>>
  precision: Precision
  slots: number
  contextLength: number
  /** Tokens of the prompt, and of the training sequence. */
  tokens: number
  /** Only prefill and decoding, which alone depend on the number of layers: the rest takes longest. */
  decodingOnly: boolean
}

/** Dispatches of one run of each artifact, and how many runs there were. */
export type DispatchCounts = Partial<Record<ArtifactName, { dispatches: number; runs: number }>>

/** Notes which artifact a session is of, and what its runs dispatch. */
function watchRuns(): { counts: DispatchCounts; stop: () => void } {
  const meter = gpuMeter()
  const counts: DispatchCounts = {}
  const names = new Map<DeviceSession, ArtifactName>()
  const [get, run] = [Sessions.prototype.get, WebGpuDevice.prototype.run]
  Sessions.prototype.get = async function (name) {
    const session = await get.call(this, name)
    names.set(session, name)
    return session
  }
  WebGpuDevice.prototype.run = async function (session, ...rest) {
    const before = meter.read().dispatches
    const out = await run.call(this, session, ...rest)
    const name = names.get(session)
    if (!name) throw new Error('A session ran that is of no artifact.')
    const dispatches = meter.read().dispatches - before
    const known = counts[name]
    if (known && known.dispatches !== dispatches) throw new Error(`${name} took ${known.dispatches} dispatches, and then ${dispatches}.`)
    counts[name] = { dispatches, runs: (known?.runs ?? 0) + 1 }
    return out
  }
  // Our own kernels decode without a session.
  const { decode } = DecodeKernels.prototype
  DecodeKernels.prototype.decode = async function (...given) {
    const before = meter.read().dispatches
    const out = await decode.apply(this, given)
    counts.decode = { dispatches: meter.read().dispatches - before, runs: (counts.decode?.runs ?? 0) + 1 }
    return out
  }
  // Nor do those that run the layers of a micro-batch, one after the other.
  const { forward, backward } = TrainingWork.prototype
  const layerwise = async (name: ArtifactName, layers: number, work: () => Promise<void>): Promise<void> => {
    const before = meter.read().dispatches
    await work()
    const dispatches = (meter.read().dispatches - before) / layers
    if (!Number.isInteger(dispatches)) throw new Error(`${name} took ${dispatches} dispatches a layer: no whole number.`)
    counts[name] = { dispatches, runs: (counts[name]?.runs ?? 0) + layers }
  }
  TrainingWork.prototype.forward = function (...given) {
    return layerwise('block_forward_1', this.layers, () => forward.apply(this, given))
  }
  TrainingWork.prototype.backward = function (...given) {
    return layerwise('block_backward_1', this.layers, () => backward.apply(this, given))
  }
  const stop = (): void => {
    TrainingWork.prototype.forward = forward
    TrainingWork.prototype.backward = backward
    DecodeKernels.prototype.decode = decode
    Sessions.prototype.get = get
    WebGpuDevice.prototype.run = run
  }
  return { counts, stop }
}

/** Prefill, batched decoding, both ways of sampling and a training step of one sequence. Throws when a run's count depends on which run it is. */
export async function countDispatches({ config, tokens, decodingOnly, ...settings }: DispatchRequest): Promise<DispatchCounts> {
  const { counts, stop } = watchRuns()
  try {
    const engine = await createEngine({
      ...settings, source: shapeSource(config), lora: DEFAULT_LORA, backend: 'webgpu', threads: 1, modelName: 'counted', adapterName: 'test',
    })
    try {
      const ids = spreadIds(tokens, engine.info.vocabSize)
      const slots = slotsOf(settings.slots)
      const uniforms = evenDraws(settings.slots)
      await engine.prefill(0, ids)
      await engine.copy(0, slots.slice(1))
      await engine.decode(slots.map((slot) => ({ slot, id: slot })))
      if (decodingOnly) return counts
      await engine.sample(uniforms, PLAIN)
      await engine.sample(uniforms, { ...PLAIN, top_k: 50 })
      await engine.accumulate(trainingBatch(1, ids, engine.info.vocabSize), { temperature: 1 }, slopes)
      await engine.optimizerStep(ADAM)
      return counts
    } finally {
      await engine.dispose()
    }
  } finally {
    stop()
  }
}


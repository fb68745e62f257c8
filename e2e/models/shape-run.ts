/** A model of a real shape with random weights through load, decoding and a training step on WebGPU, with every buffer and dispatch counted. */

import { DEFAULT_LORA, type LoraConfig, type Precision } from '../../src/core/config'
import { createEngine } from '../../src/runtime/create'
import { slopes } from '../../src/runtime/gradient-probe'
import { type GpuCounts, gpuMeter } from './gpu-meter'
import { type ShapeName, SHAPES, shapeSource } from './shapes'
import { ADAM, evenDraws, PLAIN, slotsOf, spreadIds, trainingBatch } from './workload'

export interface ShapeRequest {
  shape: ShapeName
  /** Fewer layers than the model has. */
  layers?: number
  precision: Precision
  lora?: LoraConfig
  slots: number
  contextLength: number
  microBatchTokens: number
  /** Tokens of the prompt that is read, and tokens that each slot then decodes. */
  prompt: number
  decode: number
  /** Sequences of the training batch and their length; all but the first token of each is trained on. */
  sequences: number
  tokens: number
}

export interface ShapePhase {
  name: string
  seconds: number
  /** The engine's own count, bytes. */
  allocated: number
  gpu: GpuCounts
}

/** Runs the phases in order; the counts of each are those since the phase before it. */
export async function runShape(request: ShapeRequest): Promise<ShapePhase[]> {
  const meter = gpuMeter()
  const phases: ShapePhase[] = []
  const config = { ...SHAPES[request.shape], ...(request.layers ? { num_hidden_layers: request.layers } : {}) }
  let allocated = (): number => 0
  const phase = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    meter.restart()
    const from = performance.now()
    const result = await work()
    phases.push({ name, seconds: (performance.now() - from) / 1000, allocated: allocated(), gpu: meter.read() })
    return result
  }
  const engine = await phase('load', () =>
    createEngine({
      ...request, source: shapeSource(config), lora: request.lora ?? DEFAULT_LORA, backend: 'webgpu', threads: 1, modelName: request.shape, adapterName: 'test',
    }),
  )
  allocated = () => engine.allocatedBytes
  for (const loaded of phases) loaded.allocated = engine.allocatedBytes
  const ids = spreadIds(Math.max(request.prompt, request.tokens), config.vocab_size)
  const slots = slotsOf(request.slots)
  await phase('prefill', async () => {
    await engine.prefill(0, ids.slice(0, request.prompt))
    await engine.copy(0, slots.slice(1))
  })
  const token = async (): Promise<void> => {
    const drawn = await engine.sample(evenDraws(request.slots), PLAIN)
    await engine.decode(drawn.map(({ id }, slot) => ({ slot, id })))
  }
  await phase('first token', token)
  for (let k = 1; k < request.decode; k++) await phase(`token ${k + 1}`, token)
  const batch = trainingBatch(request.sequences, ids.slice(0, request.tokens), config.vocab_size)
  const train = async (): Promise<void> => {
    await engine.accumulate(batch, { temperature: 1 }, slopes)
    await engine.optimizerStep(ADAM)
  }
  if (request.sequences > 0) await phase('training step', train)
  await engine.dispose()
  return phases
}

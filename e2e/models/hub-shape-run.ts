/** A model through the real path inside a worker: the Hub, the store, a quantised engine on WebGPU, a decode step and a training step. */

import { DEFAULT_LORA, type Precision } from '../../src/core/config'
import { HubClient } from '../../src/hub/client'
import { browserModelStore } from '../../src/hub/model-store'
import { type HubModel, openHubModel } from '../../src/hub/open-model'
import { createEngine, type EngineInstance } from '../../src/runtime/create'
import { loadOrt } from '../../src/runtime/ort'
import { slopes } from '../../src/runtime/gradient-probe'
import { type GpuCounts, gpuMeter } from './gpu-meter'
import { ADAM, evenDraws, PLAIN, slotsOf, spreadIds, trainingBatch } from './workload'

export interface HubLoadRequest {
  endpoint: string
  repo: string
  precision: Precision
  slots: number
  contextLength: number
  microBatchTokens: number
}

export interface HubPhase {
  seconds: number
  /** The engine's own count, bytes. */
  allocated: number
  gpu: GpuCounts
}

export interface LoadPhase extends HubPhase {
  /** Bytes that the source read. */
  downloaded: number
  notices: string[]
}

export interface TrainPhase extends HubPhase {
  gradNorm: number
  version: number
  /** Mean log-prob of the trained tokens. */
  logprob: number
}

let held: { engine: EngineInstance; model: HubModel } | null = null

const opened = (): EngineInstance => {
  if (!held) throw new Error('Load a model first.')
  return held.engine
}

async function measured<T>(work: () => Promise<T>): Promise<HubPhase & { result: T }> {
  gpuMeter().restart()
  const from = performance.now()
  const result = await work()
  // Runs return when the GPU has their work, not when it is done.
  await (await (await loadOrt('webgpu', 1)).env.webgpu.device).queue.onSubmittedWorkDone()
  return { result, seconds: (performance.now() - from) / 1000, allocated: opened().allocatedBytes, gpu: gpuMeter().read() }
}

/** Everything is imported and nothing is loaded: the state from which memory grows. */
export function ready(): Promise<void> {
  gpuMeter()
  return Promise.resolve()
}

export async function load({ endpoint, repo, ...settings }: HubLoadRequest): Promise<LoadPhase> {
  const notices: string[] = []
  let [done, told] = [0, 0]
  const phase = await measured(async () => {
    const model = await openHubModel({
      client: new HubClient({ endpoint }),
      repo,
      revision: 'main',
      store: await browserModelStore(),
      onNotice: (sentence) => notices.push(sentence),
      onProgress: ({ overall }) => {
        if (!overall) return
        done = overall.done
        if (done - told < overall.total / 10) return
        told = done
        console.log(`loaded ${(done / 1e6).toFixed(0)} of ${(overall.total / 1e6).toFixed(0)} MB`)
      },
    })
    const engine = await createEngine({ ...settings, source: model.source, lora: DEFAULT_LORA, backend: 'webgpu', threads: 1, modelName: repo, adapterName: 'test' })
    held = { engine, model }
  })
  return { ...phase, downloaded: done, notices }
}

/** Reads a prompt into slot 0 and copies it to all others. */
export async function prefill({ tokens }: { tokens: number }): Promise<HubPhase> {
  const engine = opened()
  return measured(async () => {
    await engine.prefill(0, spreadIds(tokens, engine.info.vocabSize))
    await engine.copy(0, slotsOf(engine.slots).slice(1))
  })
}

/** Draws the next token of every slot, with a filter or without. */
export async function sample({ top_k }: { top_k: number }): Promise<HubPhase & { ids: number[]; logprobs: number[] }> {
  const engine = opened()
  const { result, ...phase } = await measured(() => engine.sample(evenDraws(engine.slots), { ...PLAIN, top_k }))
  return { ...phase, ids: result.map(({ id }) => id), logprobs: result.map(({ logprob }) => logprob) }
}

/** One token more in every slot, in one batch. */
export async function decode({ ids }: { ids: number[] }): Promise<HubPhase> {
  return measured(() => opened().decode(ids.map((id, slot) => ({ slot, id }))))
}

/** One training step over sequences of this many tokens; all but the first of each is trained on. */
export async function train({ sequences, tokens }: { sequences: number; tokens: number }): Promise<TrainPhase> {
  const engine = opened()
  const batch = trainingBatch(sequences, spreadIds(tokens, engine.info.vocabSize), engine.info.vocabSize)
  const sums = { logprob: 0, n: 0 }
  // A batch of nothing makes the KV cache leave, so that the peak is the step's own.
  await engine.accumulate([], { temperature: 1 }, slopes)
  const { result, ...phase } = await measured(async () => {
    await engine.accumulate(batch, { temperature: 1 }, (indices, scores) => {
      for (const { logprobs } of scores) for (const value of logprobs.subarray(1)) Object.assign(sums, { logprob: sums.logprob + value, n: sums.n + 1 })
      console.log(`forward pass done, mean log-prob ${(sums.logprob / sums.n).toFixed(3)}`)
      return slopes(indices, scores)
    })
    console.log('backward pass done')
    return engine.optimizerStep(ADAM)
  })
  return { ...phase, gradNorm: result.grad_norm, version: engine.version, logprob: sums.logprob / sums.n }
}

/** Gives the GPU and the stored files back. */
export async function close(): Promise<void> {
  await held?.engine.dispose()
  await held?.model.close()
  held = null
}

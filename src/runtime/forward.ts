/** The training forward pass of one micro-batch: keeps each layer's input, scores the trained rows. */

import type { ArtifactName } from '../artifacts/spec'
import { breathe } from './breathe'
import { type DeviceTensor, hostFloats } from './device'
import { type HeadChunk, scoreRows } from './head'
import type { TrainingWork } from './kernels/training-kernels'
import type { LoadedModel, Scope } from './model'
import { type HeadRow, type MicroBatch, microBatchArrays, microBatchIds } from './packing'
import { gatherRows } from './rows'
import { batchRows, type BatchRows, type KernelEngine, type KernelPass } from './wasm-kernels/kernel-engine'
import type { HeadPass } from './wasm-kernels/kernel-head'
import { VIEW_WORDS } from './wasm-kernels/layer'

/** What the backward pass needs of the layers, by what computed them. */
export type LayersPass =
  | {
      by: 'graphs'
      ids: DeviceTensor
      /** Inputs that every block graph takes. */
      shared: Record<string, DeviceTensor>
      /** Input of each layer, then the output of the last: [layers + 1] of [batch · tokens, hidden]. */
      states: DeviceTensor[]
      /** Padded rows of all of the batch's. */
      rows: number
      chunks: HeadChunk[]
      /** What each layer's backward need not compute again, by its input's name; null where it does. */
      kept: Record<string, DeviceTensor>[] | null
      /** Our own passes on WebGPU, where they run the layers in the graphs' place. */
      work: TrainingWork | null
    }
  | { by: 'kernels'; pass: KernelPass; head: HeadPass }

/** Scores of trained rows, by row. */
export interface ScoredRows {
  rows: readonly HeadRow[]
  logprob: Float32Array
  entropy: Float32Array
  argmax: Int32Array
  meanLogit: Float32Array
}

export interface ForwardPass {
  micro: MicroBatch
  layers: LayersPass
  chunks: ScoredRows[]
}

/**
 * Most bytes that a micro-batch keeps between forward and backward on WASM. On WebGPU nothing is kept: memory is what is scarce there, and the
 * plan counts on it.
 */
const KEPT_BYTES = 256e6

/** All head rows of a micro-batch with x's row counted over the whole micro-batch; `starts`: where each of its rows begins. */
function headRows(micro: MicroBatch, starts: readonly number[]): HeadRow[] {
  return micro.rows.flatMap((row, r) => row.heads.map((head) => ({ ...head, at: head.at + (starts[r] as number) })))
}

/** Runs embed, the blocks and head_forward. Device tensors are kept by `scope`. `trains`: a backward pass follows. */
export async function forward(
  model: LoadedModel,
  scope: Scope,
  micro: MicroBatch,
  temperature: number,
  adapter: readonly DeviceTensor[] | undefined,
  trains = false,
): Promise<ForwardPass> {
  const { layers, chunks } = model.kernels
    ? throughKernels(model, model.kernels, scope, micro, temperature, adapter, trains)
    : await throughGraphs(model, scope, micro, temperature, adapter, trains)
  if (model.kernels) await breathe()
  return { micro, layers, chunks }
}

type Through = Pick<ForwardPass, 'layers' | 'chunks'>

async function throughGraphs(
  model: LoadedModel,
  scope: Scope,
  micro: MicroBatch,
  temperature: number,
  adapter: readonly DeviceTensor[] | undefined,
  trains: boolean,
): Promise<Through> {
  const { device, sessions, weights, parameters, spec } = model
  const { batch, tokens } = micro
  const ids = device.host(microBatchIds(micro), [batch * tokens])
  const embedded = await device.run(await sessions.get('embed'), { ...weights.table, ids })
  const states = [scope.keep(embedded.x as DeviceTensor)]
  const passed = { ids, states, rows: batch * tokens }
  const scored = (): Promise<HeadChunk[]> => scoreRows(model, states[states.length - 1] as DeviceTensor, headRows(micro, micro.rows.map((_, r) => r * tokens)), temperature)
  const work = device.backend === 'webgpu' ? await (await import('./kernels/training-kernels')).trainingWork(model, scope, micro, adapter, trains) : null
  if (work) {
    await work.forward(states)
    const chunks = await scored()
    return { layers: { by: 'graphs', ...passed, shared: {}, chunks, kept: null, work }, chunks }
  }
  const arrays = microBatchArrays(micro)
  const shared = {
    positions: device.host(arrays.positions, [batch, tokens]),
    bias: scope.keep(device.upload(arrays.bias, [batch, 1, tokens, tokens])),
    ...model.rope.atLeast(Math.max(tokens, model.contextLength)),
  }
  const layers = spec.config.num_hidden_layers
  const keeps = trains && device.backend === 'wasm' && layers * sessions.keptBytes(batch, tokens) <= KEPT_BYTES
  const kept: Record<string, DeviceTensor>[] = []
  const block = await sessions.get(`block_forward_${keeps ? 'keep_' : ''}${batch}` as ArtifactName)
  for (let layer = 0; layer < layers; layer++) {
    const inputs = { ...shared, x: states[layer] as DeviceTensor, ...weights.blocks[layer], ...parameters.layerInputs(layer, adapter) }
    const { y, ...rest } = await device.run(block, inputs)
    for (const tensor of Object.values(rest)) scope.keep(tensor)
    kept.push(rest)
    states.push(scope.keep(y as DeviceTensor))
  }
  const chunks = await scored()
  return { layers: { by: 'graphs', ...passed, shared, chunks, kept: keeps ? kept : null, work: null }, chunks }
}

/** The same on our own kernels, whose rows are not padded. */
function throughKernels(
  { weights, spec }: LoadedModel,
  kernels: KernelEngine,
  scope: Scope,
  micro: MicroBatch,
  temperature: number,
  adapter: readonly DeviceTensor[] | undefined,
  trains: boolean,
): Through {
  const ids = micro.rows.flatMap((row) => row.ids)
  const batch = batchRows(ids.length)
  const starts: number[] = []
  let start = 0
  for (const { positions, branches } of micro.rows) {
    starts.push(start)
    batch.positions.set(positions, start)
    viewsOf(branches, start, batch)
    start += positions.length
  }
  const x = gatherRows(hostFloats(weights.table.table), spec.config.hidden_size, ids)
  const pass = kernels.forward(x, batch, adapter, trains)
  scope.atEnd(() => kernels.end(pass))
  const scored = headRows(micro, starts)
  const head = kernels.head.score(pass, scored, temperature, trains)
  return { layers: { by: 'kernels', pass, head }, chunks: [{ rows: scored, ...head.scores }] }
}

/** A token sees its row's shared beginning and its own branch up to itself. */
function viewsOf(branches: readonly number[], start: number, batch: BatchRows): void {
  let shared = 0
  let branch = 0
  branches.forEach((name, i) => {
    if (name === 0) shared = i + 1
    else if (name !== branches[i - 1]) branch = i
    const own = name === 0 ? 0 : i + 1 - branch
    batch.views.set([start, shared, start + branch, own], (start + i) * VIEW_WORDS)
    batch.most = Math.max(batch.most, shared + own)
  })
}

/** The training forward pass of one micro-batch: keeps each layer's input, scores the trained rows. */

import type { ArtifactName } from '../artifacts/spec'
import type { DeviceTensor } from './device'
import { type HeadChunk, scoreRows } from './head'
import type { LoadedModel, Scope } from './model'
import { type HeadRow, type MicroBatch, microBatchArrays } from './packing'

export interface ForwardPass {
  micro: MicroBatch
  ids: DeviceTensor
  /** Inputs that every block graph takes. */
  shared: Record<string, DeviceTensor>
  /** Input of each layer, then the output of the last: [layers + 1] of [batch · tokens, hidden]. */
  states: DeviceTensor[]
  chunks: HeadChunk[]
  /** What each layer's backward need not compute again, by its input's name; null where it does. */
  kept: Record<string, DeviceTensor>[] | null
}

/**
 * Most bytes that a micro-batch keeps between forward and backward on WASM. On WebGPU nothing is kept: memory is what is scarce there, and the
 * plan counts on it.
 */
const KEPT_BYTES = 256e6

/** All head rows of a micro-batch with x's row counted over the whole micro-batch. */
function headRows(micro: MicroBatch): HeadRow[] {
  return micro.rows.flatMap((row, r) => row.heads.map((head) => ({ ...head, at: head.at + r * micro.tokens })))
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
  const { device, sessions, weights, parameters, spec } = model
  const { batch, tokens } = micro
  const arrays = microBatchArrays(micro)
  const ids = device.host(arrays.ids, [batch * tokens])
  const shared = {
    positions: device.host(arrays.positions, [batch, tokens]),
    bias: scope.keep(device.upload(arrays.bias, [batch, 1, tokens, tokens])),
    ...model.rope.atLeast(Math.max(tokens, model.contextLength)),
  }
  const embedded = await device.run(await sessions.get('embed'), { ...weights.table, ids })
  const states = [scope.keep(embedded.x as DeviceTensor)]
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

  const chunks = await scoreRows(model, states[states.length - 1] as DeviceTensor, headRows(micro), temperature)
  return { micro, ids, shared, states, chunks, kept: keeps ? kept : null }
}

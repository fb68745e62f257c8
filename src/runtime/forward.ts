/** The training forward pass of one micro-batch: keeps each layer's input, scores the trained rows. */

import type { ArtifactName } from '../artifacts/spec'
import { type DeviceTensor, hostFloats, hostIntegers } from './device'
import { integers, type LoadedModel, scalar, type Scope } from './model'
import { type HeadRow, type MicroBatch, microBatchArrays } from './packing'

/** Largest [rows × vocab] array that the head makes at once, in elements. */
const HEAD_ELEMENTS = 4_000_000

export interface HeadChunk {
  rows: HeadRow[]
  /** Row of x for each head row, target id. */
  at: DeviceTensor
  target: DeviceTensor
  logprob: Float32Array
  entropy: Float32Array
  lse: Float32Array
  argmax: BigInt64Array
}

export interface ForwardPass {
  micro: MicroBatch
  ids: DeviceTensor
  /** Inputs that every block graph takes. */
  shared: Record<string, DeviceTensor>
  /** Input of each layer, then the output of the last: [layers + 1] of [batch · tokens, hidden]. */
  states: DeviceTensor[]
  chunks: HeadChunk[]
}

/** All head rows of a micro-batch with x's row counted over the whole micro-batch. */
function headRows(micro: MicroBatch): HeadRow[] {
  return micro.rows.flatMap((row, r) => row.heads.map((head) => ({ ...head, at: head.at + r * micro.tokens })))
}

/** Runs embed, the blocks and head_forward. Device tensors are kept by `scope`. */
export async function forward(
  model: LoadedModel,
  scope: Scope,
  micro: MicroBatch,
  temperature: number,
  adapter: readonly DeviceTensor[] | undefined,
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
  const embedded = await device.run(await sessions.get('embed'), { table: weights.table, ids })
  const states = [scope.keep(embedded.x as DeviceTensor)]
  const block = await sessions.get(`block_forward_${batch}` as ArtifactName)
  for (let layer = 0; layer < spec.config.num_hidden_layers; layer++) {
    const inputs = { ...shared, x: states[layer] as DeviceTensor, ...weights.blocks[layer], ...parameters.layerInputs(layer, adapter) }
    states.push(scope.keep((await device.run(block, inputs)).y as DeviceTensor))
  }

  const rows = headRows(micro)
  const perChunk = Math.max(1, Math.floor(HEAD_ELEMENTS / spec.config.vocab_size))
  const chunks: HeadChunk[] = []
  for (let start = 0; start < rows.length; start += perChunk) {
    const part = rows.slice(start, start + perChunk)
    const at = integers(device, part.map((row) => row.at))
    const target = integers(device, part.map((row) => row.target))
    const out = await device.run(await sessions.get('head_forward'), {
      x: states[states.length - 1] as DeviceTensor,
      rows: at,
      norm: weights.norm,
      table: weights.head,
      inverse_temperature: scalar(device, 1 / temperature),
      target,
    })
    device.free(...Object.values(out))
    chunks.push({
      rows: part,
      at,
      target,
      logprob: hostFloats(out.logprob),
      entropy: hostFloats(out.entropy),
      lse: hostFloats(out.lse),
      argmax: hostIntegers(out.argmax),
    })
  }
  return { micro, ids, shared, states, chunks }
}

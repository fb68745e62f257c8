/** The training backward pass of one micro-batch: from d loss / d log-prob and entropy to the flat gradient's part vector. */

import type { ArtifactName } from '../artifacts/spec'
import { breathe } from './breathe'
import type { DeviceTensor } from './device'
import type { ForwardPass, LayersPass } from './forward'
import { headGradient, type RowGradient, slopeInputs } from './head'
import type { LoadedModel, Scope } from './model'
import type { HeadRow, MicroBatch } from './packing'
import type { KernelPass } from './wasm-kernels/kernel-engine'
import type { HeadPass } from './wasm-kernels/kernel-head'

/** Writes the whole part vector of `parameters` (every trained tensor). Device tensors are kept by `scope`. */
export async function backward(model: LoadedModel, scope: Scope, { layers, micro }: ForwardPass, temperature: number, gradientOf: RowGradient): Promise<void> {
  if (layers.by === 'kernels') {
    throughKernels(model, layers.pass, layers.head, gradientOf)
    return breathe()
  }
  const { device, weights, spec } = model
  const { rows, states } = layers
  const full = spec.lora === null
  let dx = scope.keep(device.zeros([rows, spec.config.hidden_size]))
  let dNorm = full ? scope.keep(device.zeros(weights.norm.dims)) : null
  let dTable = full ? scope.keep(device.zeros(tableOf(weights.head).dims)) : null
  for (const chunk of layers.chunks) {
    const before = { dx_in: dx, ...(dNorm && dTable ? { d_norm_in: dNorm, d_table_in: dTable } : {}) }
    const x = states[states.length - 1] as DeviceTensor
    const out = await headGradient(model, scope, x, chunk, slopeInputs(device, chunk, rows, gradientOf), before, temperature)
    dx = scope.keep(out.dx as DeviceTensor)
    if (full) {
      dNorm = scope.keep(out.d_norm as DeviceTensor)
      dTable = scope.keep(out.d_table as DeviceTensor)
    }
  }
  if (layers.work) await layers.work.backward(states, dx)
  else await throughGraphs(model, scope, micro, layers, dx, dNorm, dTable)
}

function throughKernels({ device, kernels, parameters }: LoadedModel, pass: KernelPass, head: HeadPass, gradientOf: RowGradient): void {
  const places = new Map(parameters.layout.map((entry) => [`${entry.layer} ${entry.key}`, entry]))
  const slopeOf = (i: number): ReturnType<RowGradient> => {
    const { sequence, token } = head.rows[i] as HeadRow
    return gradientOf(sequence, token)
  }
  kernels?.backward(pass, head, slopeOf, (layer, name, gradient) => {
    const entry = places.get(`${layer} ${name}`)
    if (entry) device.write(parameters.part, entry.offset, gradient)
  })
}

async function throughGraphs(
  model: LoadedModel,
  scope: Scope,
  micro: MicroBatch,
  { shared, states, kept, ids }: Extract<LayersPass, { by: 'graphs' }>,
  dy: DeviceTensor,
  dNorm: DeviceTensor | null,
  dTable: DeviceTensor | null,
): Promise<void> {
  const { device, sessions, weights, parameters, spec } = model
  let dx = dy
  const block = await sessions.get(`block_backward_${kept ? 'kept_' : ''}${micro.batch}` as ArtifactName)
  for (let layer = spec.config.num_hidden_layers - 1; layer >= 0; layer--) {
    const inputs = { ...shared, x: states[layer] as DeviceTensor, dy: dx, ...kept?.[layer], ...weights.blocks[layer], ...parameters.layerInputs(layer) }
    const out = await device.run(block, inputs)
    for (const tensor of Object.values(out)) scope.keep(tensor)
    dx = out.dx as DeviceTensor
    const entries = parameters.layout.filter((entry) => entry.layer === layer)
    device.copy(entries.map((entry) => parameters.gradientCopy(entry, out[`d.${entry.key}`] as DeviceTensor)))
  }
  if (dNorm && dTable) await outerGradients(model, scope, ids, dx, dNorm, dTable)
}

const tableOf = (inputs: Record<string, DeviceTensor>): DeviceTensor => inputs.table as DeviceTensor

/** Embedding, final norm and untied head in full-parameter training. */
async function outerGradients(model: LoadedModel, scope: Scope, ids: DeviceTensor, dx: DeviceTensor, dNorm: DeviceTensor, dTable: DeviceTensor): Promise<void> {
  const { device, sessions, weights, parameters, spec } = model
  const tied = spec.config.tie_word_embeddings
  const start = tied ? dTable : scope.keep(device.zeros(tableOf(weights.table).dims))
  const out = await device.run(await sessions.get('embed_backward'), { ...weights.table, ids, dx, d_table_in: start })
  const dEmbed = scope.keep(out.d_table as DeviceTensor)
  const byKey: Record<string, DeviceTensor> = { 'model.embed_tokens.weight': dEmbed, 'model.norm.weight': dNorm, 'lm_head.weight': dTable }
  const entries = parameters.layout.filter((entry) => entry.layer < 0)
  device.copy(entries.map((entry) => parameters.gradientCopy(entry, byKey[entry.key] as DeviceTensor)))
}


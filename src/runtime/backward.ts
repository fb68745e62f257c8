/** The training backward pass of one micro-batch: from d loss / d log-prob and entropy to the flat gradient's part vector. */

import type { ArtifactName } from '../artifacts/spec'
import type { DeviceTensor } from './device'
import type { ForwardPass, HeadChunk } from './forward'
import { type LoadedModel, scalar, type Scope } from './model'

/** Derivatives of one head row. */
export type RowGradient = (sequence: number, token: number) => { dLogprob: number; dEntropy: number }

/** Writes the whole part vector of `parameters` (every trained tensor). Device tensors are kept by `scope`. */
export async function backward(model: LoadedModel, scope: Scope, pass: ForwardPass, temperature: number, gradientOf: RowGradient): Promise<void> {
  const { device, sessions, weights, parameters, spec } = model
  const rows = pass.micro.batch * pass.micro.tokens
  const full = spec.lora === null
  let dx = scope.keep(device.zeros([rows, spec.config.hidden_size]))
  let dNorm = full ? scope.keep(device.zeros(weights.norm.dims)) : null
  let dTable = full ? scope.keep(device.zeros(weights.head.dims)) : null
  for (const chunk of pass.chunks) {
    const out = await device.run(await sessions.get('head_backward'), {
      x: pass.states[pass.states.length - 1] as DeviceTensor,
      ...headInputs(model, chunk, rows, temperature, gradientOf),
      dx_in: dx,
      ...(dNorm && dTable ? { d_norm_in: dNorm, d_table_in: dTable } : {}),
    })
    dx = scope.keep(out.dx as DeviceTensor)
    if (full) {
      dNorm = scope.keep(out.d_norm as DeviceTensor)
      dTable = scope.keep(out.d_table as DeviceTensor)
    }
  }

  const block = await sessions.get(`block_backward_${pass.micro.batch}` as ArtifactName)
  for (let layer = spec.config.num_hidden_layers - 1; layer >= 0; layer--) {
    const inputs = { ...pass.shared, x: pass.states[layer] as DeviceTensor, dy: dx, ...weights.blocks[layer], ...parameters.layerInputs(layer) }
    const out = await device.run(block, inputs)
    for (const tensor of Object.values(out)) scope.keep(tensor)
    dx = out.dx as DeviceTensor
    const entries = parameters.layout.filter((entry) => entry.layer === layer)
    device.copy(entries.map((entry) => parameters.gradientCopy(entry, out[`d.${entry.key}`] as DeviceTensor)))
  }
  if (dNorm && dTable) await outerGradients(model, scope, pass, dx, dNorm, dTable)
}

function headInputs(model: LoadedModel, chunk: HeadChunk, rows: number, temperature: number, gradientOf: RowGradient): Record<string, DeviceTensor> {
  const { device, weights } = model
  const n = chunk.rows.length
  const dLogprob = new Float32Array(n)
  const dEntropy = new Float32Array(n)
  const inverse = new Int32Array(rows)
  const present = new Float32Array(rows)
  chunk.rows.forEach(({ sequence, token, at }, i) => {
    const gradient = gradientOf(sequence, token)
    dLogprob[i] = gradient.dLogprob
    dEntropy[i] = gradient.dEntropy
    inverse[at] = i
    present[at] = 1
  })
  return {
    rows: chunk.at,
    target: chunk.target,
    norm: weights.norm,
    table: weights.head,
    inverse_temperature: scalar(device, 1 / temperature),
    lse: device.host(chunk.lse, [n]),
    entropy: device.host(chunk.entropy, [n]),
    d_logprob: device.host(dLogprob, [n]),
    d_entropy: device.host(dEntropy, [n]),
    inverse: device.host(inverse, [rows]),
    present: device.host(present, [rows, 1]),
  }
}

/** Embedding, final norm and untied head in full-parameter training. */
async function outerGradients(model: LoadedModel, scope: Scope, pass: ForwardPass, dx: DeviceTensor, dNorm: DeviceTensor, dTable: DeviceTensor): Promise<void> {
  const { device, sessions, weights, parameters, spec } = model
  const tied = spec.config.tie_word_embeddings
  const start = tied ? dTable : scope.keep(device.zeros(weights.table.dims))
  const out = await device.run(await sessions.get('embed_backward'), { table: weights.table, ids: pass.ids, dx, d_table_in: start })
  const dEmbed = scope.keep(out.d_table as DeviceTensor)
  const byKey: Record<string, DeviceTensor> = { 'model.embed_tokens.weight': dEmbed, 'model.norm.weight': dNorm, 'lm_head.weight': dTable }
  const entries = parameters.layout.filter((entry) => entry.layer < 0)
  device.copy(entries.map((entry) => parameters.gradientCopy(entry, byKey[entry.key] as DeviceTensor)))
}


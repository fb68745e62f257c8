/** The artifacts outside the layers: embedding and head, forward and backward, and sampling. */

import { PlaygroundError } from '../core/errors'
import { gradients } from '../graph/gradients'
import { Graph, type Value } from '../graph/graph'
import { add, gather, mul } from '../graph/ops'
import { headBackward, headForward, headSample, headSampleFiltered, type HeadSlopes } from '../model/head'
import { headBackwardEnd, headBackwardPart, headBackwardStart, headForwardPart } from '../model/head-parts'
import { type LinearWeight, matrixInput, rowsOf } from '../model/linear-weight'
import type { ArtifactSpec } from './spec'

/** The embedding or head [vocab, hidden]: an input, or baked in. */
function declareTable(g: Graph, { config, precision }: ArtifactSpec, baked?: Float32Array): LinearWeight {
  const dims: [number, number] = [config.vocab_size, config.hidden_size]
  return baked ? g.weight('table', baked, dims) : matrixInput(g, 'table', dims, precision)
}

/** ids int32 [rows] → x [rows, hidden]. */
export function embed(spec: ArtifactSpec, baked?: Float32Array): Graph {
  const g = new Graph('embed')
  g.output('x', rowsOf(declareTable(g, spec, baked), g.input('ids', 'int32', ['rows'])))
  return g
}

/** ids, dx [rows, hidden] → d table [vocab, hidden] added to d_table_in (full-parameter training). */
export function embedBackward({ config }: ArtifactSpec): Graph {
  const g = new Graph('embed_backward')
  const table = g.input('table', 'float32', [config.vocab_size, config.hidden_size])
  const x = gather(table, g.input('ids', 'int32', ['rows']))
  const [dTable] = gradients([{ output: x, seed: g.input('dx', 'float32', x.shape) }], [table])
  g.output('d_table', add(g.input('d_table_in', 'float32', table.shape), dTable as Value))
  return g
}

interface HeadGraph {
  g: Graph
  x: Value
  norm: Value
  table: LinearWeight
  inverseTemperature: Value
}

/** Head inputs; in training the rows that are scored are picked from all rows of the micro-batch first. */
function declareHead(name: string, spec: ArtifactSpec, picked: boolean, baked?: { norm: Float32Array; table: Float32Array }): HeadGraph {
  const g = new Graph(name)
  const hidden = spec.config.hidden_size
  const all = g.input('x', 'float32', [picked ? 'all' : 'rows', hidden])
  return {
    g,
    x: picked ? gather(all, g.input('rows', 'int32', ['rows'])) : all,
    norm: baked ? g.weight('norm', baked.norm, [hidden]) : g.input('norm', 'float32', [hidden]),
    table: declareTable(g, spec, baked?.table),
    inverseTemperature: g.input('inverse_temperature', 'float32', []),
  }
}

/** x [all, hidden], rows int32 [rows], target int32 [rows] → log-prob, entropy, lse, mean logit, each [rows], and argmax int64 [rows, 1]. */
export function headForwardGraph(spec: ArtifactSpec): Graph {
  const head = declareHead('head_forward', spec, true)
  const scores = headForward({ ...head, target: head.g.input('target', 'int32', ['rows']) }, spec.config)
  head.g.output('logprob', scores.logprob)
  head.g.output('entropy', scores.entropy)
  head.g.output('lse', scores.lse)
  head.g.output('argmax', scores.argmax)
  head.g.output('mean_logit', scores.meanLogit)
  return head.g
}

/**
 * The head_forward inputs, lse and entropy [rows], d/d log-prob and d/d entropy [rows] → dx [all, hidden] added to dx_in.
 * `inverse` int32 [all] names each token's row (0 where it has none) and `present` float32 [all, 1] is 1 where it has one:
 * a gather instead of a scatter, which WebGPU lacks. Full-parameter training has d_norm and d_table too, added to d_norm_in and d_table_in.
 */
export function headBackwardGraph(spec: ArtifactSpec): Graph {
  const head = declareHead('head_backward', spec, true)
  const { g } = head
  if (!('graph' in head.table)) throw new PlaygroundError('graph', 'head_backward is for float32 tables; quantised ones go by head_backward_part.')
  const inputs = {
    ...head,
    table: head.table,
    target: g.input('target', 'int32', ['rows']),
    ...declareSlopes(g),
  }
  const { dx, dNorm, dTable } = headBackward(inputs, spec.config, spec.lora === null)
  placeRows(g, dx, spec)
  if (dNorm) g.output('d_norm', add(g.input('d_norm_in', 'float32', dNorm.shape), dNorm))
  if (dTable) g.output('d_table', add(g.input('d_table_in', 'float32', dTable.shape), dTable))
  return g
}

/** What the forward pass gave and the derivatives of the loss, each [rows]. */
function declareSlopes(g: Graph): HeadSlopes {
  const row = (name: string): Value => g.input(name, 'float32', ['rows'])
  return { lse: row('lse'), entropy: row('entropy'), dLogprob: row('d_logprob'), dEntropy: row('d_entropy') }
}

/** Output dx [all, hidden]: dx_in plus the head rows' gradients at their tokens, see headBackwardGraph. */
function placeRows(g: Graph, dx: Value, { config }: ArtifactSpec): void {
  const spread = gather(dx, g.input('inverse', 'int32', ['all']))
  const placed = mul(spread, g.input('present', 'float32', ['all', 1]))
  g.output('dx', add(g.input('dx_in', 'float32', ['all', config.hidden_size]), placed))
}

/** The head over the vocabulary ids of one part: x [all, hidden], rows, ids int32 [part], target → see headForwardPart. */
export function headForwardPartGraph(spec: ArtifactSpec): Graph {
  const head = declareHead('head_forward_part', spec, true)
  const { g } = head
  const out = headForwardPart({ ...head, ids: g.input('ids', 'int32', ['part']), target: g.input('target', 'int32', ['rows']) }, spec.config)
  g.output('max', out.max)
  g.output('sum', out.sum)
  g.output('weighted', out.weighted)
  g.output('total', out.total)
  g.output('target_logit', out.targetLogit)
  g.output('argmax', out.argmax)
  return g
}

/** target int32 [rows], d_logprob [rows] → acc [rows, hidden]. */
export function headBackwardStartGraph(spec: ArtifactSpec): Graph {
  const g = new Graph('head_backward_start')
  g.output('acc', headBackwardStart(declareTable(g, spec), g.input('target', 'int32', ['rows']), g.input('d_logprob', 'float32', ['rows'])))
  return g
}

/** The head inputs, ids of the part, lse, entropy, d_logprob, d_entropy [rows], acc_in → acc [rows, hidden]. */
export function headBackwardPartGraph(spec: ArtifactSpec): Graph {
  const head = declareHead('head_backward_part', spec, true)
  const { g } = head
  const accumulated = g.input('acc_in', 'float32', ['rows', spec.config.hidden_size])
  const slopes = declareSlopes(g)
  g.output('acc', headBackwardPart({ ...head, ids: g.input('ids', 'int32', ['part']), ...slopes, accumulated }, spec.config))
  return g
}

/** x, rows, norm, acc [rows, hidden] and the placement inputs of headBackwardGraph → dx [all, hidden] added to dx_in. */
export function headBackwardEndGraph(spec: ArtifactSpec): Graph {
  const { g, x, norm, inverseTemperature } = declareHead('head_backward_end', spec, true)
  const accumulated = g.input('acc', 'float32', ['rows', spec.config.hidden_size])
  placeRows(g, headBackwardEnd(x, norm, accumulated, inverseTemperature, spec.config), spec)
  return g
}

/** x [rows, hidden], uniform [rows] → choice, log-prob, entropy [rows], top_prob [rows, 5] and top_id (see SampleOutputs); filters as scalars. */
export function headSampleGraph(spec: ArtifactSpec, filtered: boolean, baked?: { norm: Float32Array; table: Float32Array }): Graph {
  const head = declareHead(filtered ? 'head_sample_filtered' : 'head_sample', spec, false, baked)
  const { g } = head
  const inputs = { ...head, uniform: g.input('uniform', 'float32', ['rows']) }
  const scalar = (name: string): Value => g.input(name, 'float32', [])
  const out = filtered
    ? headSampleFiltered({ ...inputs, topK: scalar('top_k'), topP: scalar('top_p'), minP: scalar('min_p') }, spec.config)
    : headSample(inputs, spec.config)
  g.output('choice', out.choice)
  g.output('logprob', out.logprob)
  g.output('entropy', out.entropy)
  g.output('top_prob', out.topProb)
  g.output('top_id', out.topId)
  return g
}

/** The artifacts over the flat parameter vector: gradient accumulation, its norm, AdamW. */

import { product } from '../graph/dims'
import { Graph, type Value } from '../graph/graph'
import { add, div, mul, reduceSum, reshape, sqrt, sub } from '../graph/ops'

const vector = (g: Graph, name: string): Value => g.input(name, 'float32', ['parameters'])

/** sum + part. */
export function accumulate(): Graph {
  const g = new Graph('accumulate')
  g.output('sum_out', add(vector(g, 'sum'), vector(g, 'part')))
  return g
}

/** Flat vectors are padded with zeros to a multiple of this. */
export const CHUNK = 1024

/**
 * Σ grad² of each chunk of CHUNK elements, [chunks]; the host adds them in float64. One float32 sum over the whole vector
 * would lose 0.6 % at ten million parameters.
 */
export function gradNorm(): Graph {
  const g = new Graph('grad_norm')
  const gradient = reshape(g.input('grad', 'float32', [product([CHUNK, 'chunks'])]), ['chunks', CHUNK])
  g.output('sums_of_squares', reduceSum(mul(gradient, gradient), [1], false))
  return g
}

/**
 * AdamW as in torch.optim.AdamW (decoupled weight decay, bias correction), on the gradient times `clip`. All scalars:
 * decay = 1 − lr·weight_decay, beta1, beta2, one_minus_beta1, one_minus_beta2, step_size = lr / (1 − β1ᵗ),
 * bias2 = √(1 − β2ᵗ), epsilon. param, grad, m, v [parameters] → param_out, m_out, v_out.
 */
export function adamw(): Graph {
  const g = new Graph('adamw')
  const scalar = (name: string): Value => g.input(name, 'float32', [])
  const gradient = mul(vector(g, 'grad'), scalar('clip'))
  const m = add(mul(vector(g, 'm'), scalar('beta1')), mul(gradient, scalar('one_minus_beta1')))
  const v = add(mul(vector(g, 'v'), scalar('beta2')), mul(mul(gradient, gradient), scalar('one_minus_beta2')))
  const denominator = add(div(sqrt(v), scalar('bias2')), scalar('epsilon'))
  const decayed = mul(vector(g, 'param'), scalar('decay'))
  g.output('param_out', sub(decayed, mul(div(m, denominator), scalar('step_size'))))
  g.output('m_out', m)
  g.output('v_out', v)
  return g
}

/** WGSL of the training kernels that work row by row: RMSNorm, rotary positions and SwiGLU, forward and backward. Plain-graph twin: trainingBlock. */

import { columnsText, float, rowText, type Shader, shader } from './shader-text'
import type { RegionName, WorkLayout } from './training-work'

const THREADS = 64
const MAIN = `@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32)`

/** A sum over the workgroup's threads, the same in each of them. */
const SUM = `
var<workgroup> parts: array<f32, ${THREADS}>;
fn sumOf(thread: u32, mine: f32) -> f32 {
  parts[thread] = mine;
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < ${THREADS}u; i++) { sum += parts[i]; }
  workgroupBarrier();
  return sum;
}`

export interface NormShape {
  hidden: number
  epsilon: number
  /** Of the weight in the layer's vectors. */
  weight: number
  from: RegionName
  /** Which of the row's two inverse roots. */
  which: 0 | 1
}

/** to = RMSNorm(from) · weight, a workgroup a row; the inverse root is kept. */
export function normShader(layout: WorkLayout, { hidden, epsilon, weight, from, which }: NormShape, to: RegionName): Shader {
  return shader(`${SUM}
${MAIN} {
  let row = group.x;
  let x = ${rowText(layout, { region: from }, 'row')};
  let y = ${rowText(layout, { region: to }, 'row')};
  var squares = 0.0;
  for (var i = thread; i < ${hidden}u; i += ${THREADS}u) { squares += work[x + i] * work[x + i]; }
  let inverse = 1.0 / sqrt(sumOf(thread, squares) / ${float(hidden)} + ${float(epsilon)});
  for (var i = thread; i < ${hidden}u; i += ${THREADS}u) { work[y + i] = work[x + i] * inverse * vectors[layer.x + ${weight}u + i]; }
  if (thread == 0u) { work[${rowText(layout, { region: 'inverse' }, 'row')} + ${which}u] = inverse; }
}
`)
}

/** to = residual + d from, of the norm whose result's derivative stands in 'passed'. */
export function normBackwardShader(layout: WorkLayout, { hidden, weight, from, which }: NormShape, residual: RegionName, to: RegionName): Shader {
  return shader(`${SUM}
${MAIN} {
  let row = group.x;
  let x = ${rowText(layout, { region: from }, 'row')};
  let d = ${rowText(layout, { region: 'passed' }, 'row')};
  let before = ${rowText(layout, { region: residual }, 'row')};
  let y = ${rowText(layout, { region: to }, 'row')};
  let inverse = work[${rowText(layout, { region: 'inverse' }, 'row')} + ${which}u];
  var along = 0.0;
  for (var i = thread; i < ${hidden}u; i += ${THREADS}u) { along += work[d + i] * vectors[layer.x + ${weight}u + i] * work[x + i]; }
  let share = sumOf(thread, along) / ${float(hidden)} * inverse * inverse;
  for (var i = thread; i < ${hidden}u; i += ${THREADS}u) {
    work[y + i] = work[before + i] + inverse * (work[d + i] * vectors[layer.x + ${weight}u + i] - work[x + i] * share);
  }
}
`)
}

export interface HeadsShape {
  heads: number
  kv: number
  dim: number
  /** RMSNorm of each head of q and k, its weights in the layer's vectors; null where the model has none. */
  norm: { epsilon: number; q: number; k: number } | null
}

/** Row, head (q's, then k's) and the angle's row of a workgroup. */
const headText = (layout: WorkLayout, { heads, dim }: HeadsShape): string => `
  let row = group.y;
  let head = group.x;
  let query = head < ${heads}u;
  let raw = ${rowText(layout, { region: 'qkv' }, 'row')} + head * ${dim}u;
  let angle = places[row].x * ${dim / 2}u;`

const inverseText = ({ dim, norm }: HeadsShape): string =>
  norm
    ? `
  var squares = 0.0;
  for (var i = thread; i < ${dim}u; i += ${THREADS}u) { squares += work[raw + i] * work[raw + i]; }
  let inverse = 1.0 / sqrt(sumOf(thread, squares) / ${float(dim)} + ${float(norm.epsilon)});
  let weight = layer.x + select(${norm.k}u, ${norm.q}u, query);`
    : ''

/** 'rotated' = q and k of 'qkv' with norm and positions; q over √dim too. */
export function rotateShader(layout: WorkLayout, shape: HeadsShape): Shader {
  const { dim, norm } = shape
  const half = dim / 2
  const normed = (i: string): string => (norm ? `work[raw + ${i}] * inverse * vectors[weight + ${i}]` : `work[raw + ${i}]`)
  return shader(`${norm ? SUM : ''}
${MAIN} {${headText(layout, shape)}
  let to = ${rowText(layout, { region: 'rotated' }, 'row')} + head * ${dim}u;${inverseText(shape)}
  let factor = select(1.0, ${float(1 / Math.sqrt(dim))}, query);
  for (var i = thread; i < ${half}u; i += ${THREADS}u) {
    let a = ${normed('i')};
    let b = ${normed(`i + ${half}u`)};
    let c = cosine[angle + i];
    let s = sine[angle + i];
    work[to + i] = (a * c - b * s) * factor;
    work[to + i + ${half}u] = (b * c + a * s) * factor;
  }
}
`)
}

/** Turns d rotated, which stands in 'dQkv', into d q and d k. */
export function rotateBackwardShader(layout: WorkLayout, shape: HeadsShape): Shader {
  const { dim, norm } = shape
  const half = dim / 2
  const back = `
    let c = cosine[angle + i];
    let s = sine[angle + i];
    let a = (work[d + i] * c + work[d + i + ${half}u] * s) * factor;
    let b = (work[d + i + ${half}u] * c - work[d + i] * s) * factor;`
  const plain = `${back}
    work[d + i] = a;
    work[d + i + ${half}u] = b;`
  const through = `${back}
    let p = a * vectors[weight + i];
    let q = b * vectors[weight + i + ${half}u];
    work[d + i] = p;
    work[d + i + ${half}u] = q;
    along += p * work[raw + i] + q * work[raw + i + ${half}u];`
  return shader(`${norm ? SUM : ''}
${MAIN} {${headText(layout, shape)}
  let d = ${rowText(layout, { region: 'dQkv' }, 'row')} + head * ${dim}u;${inverseText(shape)}
  let factor = select(1.0, ${float(1 / Math.sqrt(dim))}, query);
  ${norm ? 'var along = 0.0;' : ''}
  for (var i = thread; i < ${half}u; i += ${THREADS}u) {${norm ? through : plain}
  }
  ${
    norm
      ? `let share = sumOf(thread, along) / ${float(dim)} * inverse * inverse;
  // Each thread goes over what it wrote itself.
  for (var j = thread; j < ${half}u; j += ${THREADS}u) {
    for (var i = j; i < ${dim}u; i += ${half}u) { work[d + i] = inverse * (work[d + i] - work[raw + i] * share); }
  }`
      : ''
  }
}
`)
}

/** Workgroups along x of the SwiGLU kernels. */
export const gateGroups = (inner: number): number => Math.ceil(inner / THREADS)

const gateText = (layout: WorkLayout, inner: number): string => `
  let row = group.y;
  let i = group.x * ${THREADS}u + thread;
  if (i >= ${inner}u) { return; }
  let at = ${rowText(layout, { region: 'gateUp' }, 'row')} + i;
  let gate = work[at];
  let up = work[at + ${inner}u];
  let open = 1.0 / (1.0 + exp(-gate));`

/** 'activated' = silu(gate) · up. */
export function gateShader(layout: WorkLayout, inner: number): Shader {
  return shader(`${MAIN} {${gateText(layout, inner)}
  work[${rowText(layout, { region: 'activated' }, 'row')} + i] = gate * open * up;
}
`)
}

/** Puts d gate and d up in the place of gate and up. */
export function gateBackwardShader(layout: WorkLayout, inner: number): Shader {
  return shader(`${MAIN} {${gateText(layout, inner)}
  let d = work[${rowText(layout, { region: 'passed' }, 'row')} + i];
  work[at] = d * up * open * (1.0 + gate * (1.0 - open));
  work[at + ${inner}u] = d * gate * open;
}
`)
}

/** 'dot' = Σ d mixed · mixed of each row and head: what softmax's derivative takes off. */
export function dotShader(layout: WorkLayout, { heads, dim }: HeadsShape): Shader {
  const { base, stride } = columnsText(layout, { region: 'mixed' })
  return shader(`${MAIN} {
  let row = group.y;
  let head = group.x * ${THREADS}u + thread;
  if (head >= ${heads}u) { return; }
  let y = ${base} + row * ${stride} + head * ${dim}u;
  let d = ${rowText(layout, { region: 'passed' }, 'row')} + head * ${dim}u;
  var sum = 0.0;
  for (var i = 0u; i < ${dim}u; i++) { sum += work[y + i] * work[d + i]; }
  work[${rowText(layout, { region: 'dot' }, 'row')} + head] = sum;
}
`)
}

/** Workgroups along x of the kernel of 'dot'. */
export const dotGroups = (heads: number): number => Math.ceil(heads / THREADS)

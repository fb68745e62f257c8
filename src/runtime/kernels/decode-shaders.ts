/**
 * WGSL of one decoder layer over one new token in each of several slots: two dispatches for a group of projections (the LoRA's A, then the
 * matrix, B, bias, norm, activation and residual in one), one for attention with rotary positions and the cache. Shapes are constants of the
 * text; what differs from layer to layer comes in a uniform. Plain-graph twin: decodingBlock in model/block.ts.
 */

import type { Bits } from '../../graph/ops/quantized'

/** Work rows (slots that decode) that a workgroup of a projection serves; more of them take more workgroups. */
export const ROW_TILE = 8
/** Threads of every workgroup: in a projection 8 outputs by 8 lanes. */
const THREADS = 64
const LANES = 8
const OUTPUTS = THREADS / LANES
/** Columns of a block, as quantised matrices have them; a lane takes one block at a time. */
export const BLOCK_COLUMNS = 32
/** Stands for a tensor that there is none of. */
export const NONE = 0xffffffff
/** Most slots that decode at once: entries of the uniform after the first. */
export const MOST_ROWS = 256

const HEADER = `
@group(0) @binding(0) var<storage, read_write> work: array<f32>;
@group(0) @binding(1) var<storage, read> vectors: array<f32>;
@group(0) @binding(2) var<uniform> layer: array<vec4<u32>, 3>;
@group(0) @binding(3) var<uniform> rows: array<vec4<u32>, ${MOST_ROWS + 1}>;
const NONE = ${NONE}u;
`

export interface ProjectionShape {
  /** What the products are taken of, in work: offset and elements a row. */
  input: { offset: number; stride: number }
  columns: number
  /** Outputs of each matrix. */
  outputs: readonly number[]
  /** Where results go; matrices one after the other in a row. */
  output: { offset: number; stride: number }
  /** RMSNorm of the input first. */
  normEpsilon: number | null
  /** Added to the results: offset in work, of the output's stride. */
  residual: number | null
  /** Two matrices of the same shape: silu(first) · second is the result. */
  gated: boolean
  /** What stands at `t` in work is A·x of each matrix, rank numbers each. */
  lora: { rank: number; scale: number; t: { offset: number; stride: number } } | null
  /** The matrices' own numbers, or 'lora': they are the A's, which lie in the flat vector. */
  weights: Bits | 32 | 'lora'
}

const vec4Loads = (load: (i: string) => string): string => `for (var i = 0u; i < 8u; i++) { w[i] = ${load('i')}; }`

/** Declarations and the reading of one block of 32 numbers of a matrix's row into w. */
function matrixReader({ weights, outputs, columns }: ProjectionShape): { declared: string; read: string } {
  const blocks = columns / BLOCK_COLUMNS
  if (weights === 'lora') {
    const read = `let begin = layer[2][matrix] + local * ${columns}u + block * 32u;
      if (layer[2][matrix] != NONE) { ${vec4Loads((i) => `vec4<f32>(lora[begin + ${i} * 4u], lora[begin + ${i} * 4u + 1u], lora[begin + ${i} * 4u + 2u], lora[begin + ${i} * 4u + 3u])`)} }`
    return { declared: '', read }
  }
  const quantised = weights !== 32
  const declared = outputs
    .map((_, m) => `@group(0) @binding(${5 + 2 * m}) var<storage, read> matrix${m}: array<vec4<${quantised ? 'u32' : 'f32'}>>;` + (quantised ? `\n@group(0) @binding(${6 + 2 * m}) var<storage, read> scales${m}: array<f32>;` : ''))
    .join('\n')
  const one = (m: number): string => {
    if (weights === 32) return `let begin = (local * ${columns}u + block * 32u) / 4u; ${vec4Loads((i) => `matrix${m}[begin + ${i}]`)}`
    const scale = `let scale = scales${m}[local * ${blocks}u + block];`
    if (weights === 4) {
      return `${scale} let codes = matrix${m}[local * ${blocks}u + block];
        for (var i = 0u; i < 4u; i++) {
          let word = vec4<u32>(codes[i]);
          w[2u * i] = (vec4<f32>((word >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u)) - 8.0) * scale;
          w[2u * i + 1u] = (vec4<f32>((word >> vec4<u32>(16u, 20u, 24u, 28u)) & vec4<u32>(15u)) - 8.0) * scale;
        }`
    }
    return `${scale} let at = (local * ${blocks}u + block) * 2u;
      for (var i = 0u; i < 8u; i++) {
        let word = vec4<u32>(matrix${m}[at + i / 4u][i % 4u]);
        w[i] = (vec4<f32>((word >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u)) - 128.0) * scale;
      }`
  }
  const read = outputs.map((_, m) => `${m > 0 ? 'else ' : ''}if (matrix == ${m}u) { ${one(m)} }`).join('\n      ')
  return { declared, read }
}

/** Workgroups along x of a projection. */
export function projectionGroups({ outputs, gated }: ProjectionShape): number {
  return gated ? Math.ceil((outputs[0] as number) / (OUTPUTS / 2)) : Math.ceil(outputs.reduce((a, b) => a + b, 0) / OUTPUTS)
}

/** out = W·n + bias + s·B·t + residual of up to three matrices that read the same input. */
export function projectionShader(shape: ProjectionShape): string {
  const { input, columns, outputs, output, normEpsilon, residual, gated, lora, weights } = shape
  const { declared, read } = matrixReader(shape)
  const usesLora = lora !== null || weights === 'lora'
  const total = outputs.reduce((a, b) => a + b, 0)
  const starts = outputs.map((_, m) => outputs.slice(0, m).reduce((a, b) => a + b, 0))
  const place = gated
    ? `let matrix = k / ${OUTPUTS / 2}u; let local = group.x * ${OUTPUTS / 2}u + k % ${OUTPUTS / 2}u; let valid = local < ${outputs[0]}u;`
    : `let global = group.x * ${OUTPUTS}u + k; let valid = global < ${total}u;
  var matrix = 0u; var local = global;
  ${starts.map((start, m) => (m === 0 ? '' : `if (global >= ${start}u) { matrix = ${m}u; local = global - ${start}u; }`)).join('\n  ')}`
  const tail = `${
    weights === 'lora'
      ? ''
      : `if (layer[0][matrix + 1u] != NONE) { sum += vectors[layer[0][matrix + 1u] + local]; }`
  }
    ${
      lora
        ? `if (layer[1][matrix] != NONE) {
      var low = 0.0;
      for (var i = 0u; i < ${lora.rank}u; i++) { low += lora[layer[1][matrix] + local * ${lora.rank}u + i] * work[${lora.t.offset}u + row * ${lora.t.stride}u + matrix * ${lora.rank}u + i]; }
      sum += ${lora.scale} * low;
    }`
        : ''
    }`
  return `${HEADER}
${usesLora ? '@group(0) @binding(4) var<storage, read> lora: array<f32>;' : ''}
${declared}
var<workgroup> tile: array<vec4<f32>, ${ROW_TILE * THREADS}>;
var<workgroup> parts: array<f32, ${THREADS * ROW_TILE}>;
var<workgroup> inverse: array<f32, ${ROW_TILE}>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first = group.y * ${ROW_TILE}u;
  let count = rows[0].x;
  let k = thread / ${LANES}u;
  let lane = thread % ${LANES}u;
  ${
    normEpsilon === null
      ? ''
      : `// Thread (row, lane) sums its share of the row's squares.
  {
    var squares = 0.0;
    if (first + k < count) { for (var j = lane; j < ${columns}u; j += ${LANES}u) { let x = work[${input.offset}u + (first + k) * ${input.stride}u + j]; squares += x * x; } }
    parts[thread] = squares;
    workgroupBarrier();
    if (lane == 0u) {
      var sum = 0.0;
      for (var i = 0u; i < ${LANES}u; i++) { sum += parts[thread + i]; }
      inverse[k] = 1.0 / sqrt(sum / ${columns}.0 + ${normEpsilon});
    }
    workgroupBarrier();
  }`
  }
  ${place}
  var acc: array<f32, ${ROW_TILE}>;
  for (var start = 0u; start < ${columns / BLOCK_COLUMNS}u; start += ${LANES}u) {
    for (var i = thread; i < ${ROW_TILE * THREADS}u; i += ${THREADS}u) {
      let r = i / ${THREADS}u;
      let column = start * 32u + (i % ${THREADS}u) * 4u;
      var value = vec4<f32>();
      if (column < ${columns}u && first + r < count) {
        let begin = ${input.offset}u + (first + r) * ${input.stride}u + column;
        value = vec4<f32>(work[begin], work[begin + 1u], work[begin + 2u], work[begin + 3u]);
        ${normEpsilon === null ? '' : 'let n = layer[0].x + column; value *= inverse[r] * vec4<f32>(vectors[n], vectors[n + 1u], vectors[n + 2u], vectors[n + 3u]);'}
      }
      tile[i] = value;
    }
    workgroupBarrier();
    let block = start + lane;
    if (valid && block < ${columns / BLOCK_COLUMNS}u) {
      var w: array<vec4<f32>, 8>;
      ${read}
      for (var r = 0u; r < ${ROW_TILE}u; r++) {
        var sum = 0.0;
        for (var i = 0u; i < 8u; i++) { sum += dot(w[i], tile[r * ${THREADS}u + lane * 8u + i]); }
        acc[r] += sum;
      }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < ${ROW_TILE}u; r++) { parts[thread * ${ROW_TILE}u + r] = acc[r]; }
  workgroupBarrier();
  // From here on a thread is (output k, row lane).
  let row = first + lane;
  var sum = 0.0;
  for (var i = 0u; i < ${LANES}u; i++) { sum += parts[(k * ${LANES}u + i) * ${ROW_TILE}u + lane]; }
  if (valid && row < count) {
    ${tail}
  }
  ${
    gated
      ? `workgroupBarrier();
  parts[thread] = sum;
  workgroupBarrier();
  if (valid && row < count && k < ${OUTPUTS / 2}u) {
    work[${output.offset}u + row * ${output.stride}u + local] = sum / (1.0 + exp(-sum)) * parts[thread + ${THREADS / 2}u];
  }`
      : `if (valid && row < count) {
    ${residual === null ? '' : `sum += work[${residual}u + row * ${output.stride}u + global];`}
    work[${output.offset}u + row * ${output.stride}u + global] = sum;
  }`
  }
}
`
}

export interface AttentionShape {
  heads: number
  kv: number
  dim: number
  capacity: number
  /** [q | k | v] of each row in work. */
  qkv: { offset: number; stride: number }
  output: { offset: number; stride: number }
  /** RMSNorm over each head of q and k. */
  normEpsilon: number | null
}

/** Whether a group's sums fit a thread's registers. */
export const fitsRegisters = ({ heads, kv, dim }: Pick<AttentionShape, 'heads' | 'kv' | 'dim'>): boolean => (heads / kv) * Math.ceil(dim / THREADS) <= 32

/**
 * Attention of the new token over its slot's cache, into which its key and value are written: one workgroup for a row and a KV head, with
 * all query heads of that group; softmax in tiles of 64 positions with a running maximum.
 */
export function attentionShader({ heads, kv, dim, capacity, qkv, output, normEpsilon }: AttentionShape): string {
  const group = heads / kv
  const half = dim / 2
  const each = Math.ceil(dim / THREADS)
  const head = (from: string, norm: string, to: string, scale: string): string => `
  {
    var squares = 0.0;
    for (var d = thread; d < ${dim}u; d += ${THREADS}u) { let x = work[${from} + d]; squares += x * x; }
    sums[thread] = squares;
    workgroupBarrier();
    var all = 0.0;
    for (var i = 0u; i < ${THREADS}u; i++) { all += sums[i]; }
    let inverse = ${normEpsilon === null ? '1.0' : `1.0 / sqrt(all / ${dim}.0 + ${normEpsilon})`};
    for (var d = thread; d < ${half}u; d += ${THREADS}u) {
      ${
        normEpsilon === null
          ? `let a = work[${from} + d]; let b = work[${from} + d + ${half}u];`
          : `let a = work[${from} + d] * inverse * vectors[${norm} + d]; let b = work[${from} + d + ${half}u] * inverse * vectors[${norm} + d + ${half}u];`
      }
      let c = cosine[position * ${half}u + d];
      let s = sine[position * ${half}u + d];
      ${to}[base + d] = (a * c - b * s)${scale};
      ${to}[base + d + ${half}u] = (b * c + a * s)${scale};
    }
    workgroupBarrier();
  }`
  return `${HEADER}
@group(0) @binding(5) var<storage, read_write> keys: array<f32>;
@group(0) @binding(6) var<storage, read_write> values: array<f32>;
@group(0) @binding(7) var<storage, read> cosine: array<f32>;
@group(0) @binding(8) var<storage, read> sine: array<f32>;
var<workgroup> queries: array<f32, ${group * dim}>;
var<workgroup> sums: array<f32, ${THREADS}>;
var<workgroup> scores: array<f32, ${group * THREADS}>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let kvHead = wg.x;
  let row = wg.y;
  let slot = rows[row + 1u].x;
  let position = rows[row + 1u].y;
  let cache = (slot * ${kv}u + kvHead) * ${capacity}u;
  let given = ${qkv.offset}u + row * ${qkv.stride}u;
  let key = given + ${heads * dim}u + kvHead * ${dim}u;
  let value = key + ${kv * dim}u;
  for (var d = thread; d < ${dim}u; d += ${THREADS}u) { values[(cache + position) * ${dim}u + d] = work[value + d]; }
  { let base = (cache + position) * ${dim}u;${head('key', 'layer[0].z', 'keys', '')} }
  for (var g = 0u; g < ${group}u; g++) {
    let base = g * ${dim}u;
    let query = given + (kvHead * ${group}u + g) * ${dim}u;${head('query', 'layer[0].y', 'queries', ` * ${1 / Math.sqrt(dim)}`)}
  }
  storageBarrier();
  workgroupBarrier();
  var most: array<f32, ${group}>;
  var total: array<f32, ${group}>;
  var acc: array<f32, ${group * each}>;
  for (var g = 0u; g < ${group}u; g++) { most[g] = -3.0e38; }
  for (var start = 0u; start <= position; start += ${THREADS}u) {
    let p = start + thread;
    let present = min(${THREADS}u, position + 1u - start);
    for (var g = 0u; g < ${group}u; g++) {
      var score = -3.0e38;
      if (p <= position) {
        score = 0.0;
        for (var d = 0u; d < ${dim}u; d++) { score += queries[g * ${dim}u + d] * keys[(cache + p) * ${dim}u + d]; }
      }
      scores[g * ${THREADS}u + thread] = score;
    }
    workgroupBarrier();
    var highest: array<f32, ${group}>;
    for (var g = 0u; g < ${group}u; g++) {
      highest[g] = most[g];
      for (var i = 0u; i < present; i++) { highest[g] = max(highest[g], scores[g * ${THREADS}u + i]); }
    }
    workgroupBarrier();
    for (var g = 0u; g < ${group}u; g++) {
      let at = g * ${THREADS}u + thread;
      scores[at] = exp(scores[at] - highest[g]);
    }
    workgroupBarrier();
    for (var g = 0u; g < ${group}u; g++) {
      let fade = exp(most[g] - highest[g]);
      most[g] = highest[g];
      total[g] *= fade;
      for (var i = 0u; i < present; i++) { total[g] += scores[g * ${THREADS}u + i]; }
      for (var e = 0u; e < ${each}u; e++) {
        let d = thread + e * ${THREADS}u;
        var sum = acc[g * ${each}u + e] * fade;
        if (d < ${dim}u) { for (var i = 0u; i < present; i++) { sum += scores[g * ${THREADS}u + i] * values[(cache + start + i) * ${dim}u + d]; } }
        acc[g * ${each}u + e] = sum;
      }
    }
    workgroupBarrier();
  }
  for (var g = 0u; g < ${group}u; g++) {
    for (var e = 0u; e < ${each}u; e++) {
      let d = thread + e * ${THREADS}u;
      if (d < ${dim}u) { work[${output.offset}u + row * ${output.stride}u + (kvHead * ${group}u + g) * ${dim}u + d] = acc[g * ${each}u + e] / total[g]; }
    }
  }
}
`
}

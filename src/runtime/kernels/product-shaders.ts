/**
 * WGSL of the training kernels' matrix products, in tiles that a workgroup keeps in its shared memory: rows by a frozen matrix (float32, or
 * codes of 8 or 4 bits) and by the LoRA's, either way round; and the LoRA's gradients, all of a layer in one dispatch.
 */

import type { Bits } from '../../graph/ops/quantized'
import { type Columns, columnsText, float, type Shader, shader } from './shader-text'
import type { WorkLayout } from './training-work'

const THREADS = 256
/** Columns of the inner dimension that a tile has. */
const DEPTH = 16
/** Stands for no bias. */
const NONE = 0xffffffff

/** One sum of an output: scale · left · matrix, [rows, depth] by [depth, columns]. */
export interface Term {
  left: Columns
  depth: number
  /** 1 unless given. */
  scale?: number
  /** A frozen matrix by its number, or one of the LoRA by its offset in the layer's part. */
  of: { matrix: number } | { lora: number }
  /** The matrix lies as [columns, depth]; otherwise as [depth, columns]. */
  transposed: boolean
}

/** Sums of terms, one after the other, into columns of the work. */
export interface Output {
  columns: number
  to: Columns
  terms: readonly Term[]
  /** Of a bias in the layer's vectors. */
  bias?: number
  /** Added to the result. */
  residual?: Columns
}

export interface ProductShape {
  outputs: readonly Output[]
  weights: Bits | 32
  /** Thin outputs (the LoRA's ranks) take fewer columns and more rows a workgroup. */
  thin: boolean
}

/** Threads across, and rows of a thread; a thread has four columns. */
interface Tile {
  across: number
  each: number
}

function tileOf({ thin, outputs }: Pick<ProductShape, 'thin' | 'outputs'>): Tile {
  const widest = Math.max(...outputs.map(({ columns }) => columns))
  return thin ? { across: widest <= 16 ? 4 : widest <= 32 ? 8 : 16, each: 1 } : { across: 16, each: 4 }
}

const rowsOf = ({ across, each }: Tile): number => (THREADS / across) * each
const columnsOf = ({ across }: Tile): number => 4 * across

/** Workgroups of a product over so many rows. */
export function productGroups(shape: ProductShape, rows: number): [number, number] {
  const tile = tileOf(shape)
  return [shape.outputs.reduce((n, { columns }) => n + Math.ceil(columns / columnsOf(tile)), 0), Math.ceil(rows / rowsOf(tile))]
}

/** Both tiles, a thread's sums, and what adds one tile's products to them. */
function tileText(tile: Tile): string {
  const [rows, columns] = [rowsOf(tile) + 1, columnsOf(tile) + 1]
  const each = Array.from({ length: tile.each }, (_, i) => i)
  return `
var<workgroup> left: array<f32, ${DEPTH * rows}>;
var<workgroup> right: array<f32, ${DEPTH * columns}>;
${each.map((i) => `var<private> sum${i}: vec4<f32>;`).join('\n')}

fn multiply(thread: u32) {
  let c = (thread % ${tile.across}u) * 4u;
  let r = (thread / ${tile.across}u) * ${tile.each}u;
  for (var k = 0u; k < ${DEPTH}u; k++) {
    let at = k * ${columns}u + c;
    let w = vec4<f32>(right[at], right[at + 1u], right[at + 2u], right[at + 3u]);
    ${each.map((i) => `sum${i} += left[k * ${rows}u + r + ${i}u] * w;`).join('\n    ')}
  }
}`
}

/** A thread's sums, number by number: `put` writes `value` for `row` and `column` inside the tile. */
function storeText(tile: Tile, put: string): string {
  const one = (i: number): string => `for (var j = 0u; j < 4u; j++) {
    let row = (thread / ${tile.across}u) * ${tile.each}u + ${i}u;
    let column = (thread % ${tile.across}u) * 4u + j;
    let value = sum${i}[j];
    ${put}
  }`
  return Array.from({ length: tile.each }, (_, i) => one(i)).join('\n  ')
}

/** Rows of the work into the left tile. */
const loadLeft = (tile: Tile): string => `
fn loadLeft(thread: u32, first: u32, base: u32, stride: u32, start: u32, depth: u32, scale: f32) {
  for (var i = thread; i < ${rowsOf(tile) * (DEPTH / 4)}u; i += ${THREADS}u) {
    let r = i / ${DEPTH / 4}u;
    let k = (i % ${DEPTH / 4}u) * 4u;
    let source = base + (first + r) * stride + start + k;
    for (var j = 0u; j < 4u; j++) {
      var value = 0.0;
      if (first + r < shape.x && start + k + j < depth) { value = scale * work[source + j]; }
      left[(k + j) * ${rowsOf(tile) + 1}u + r] = value;
    }
  }
}`

/** Four numbers of a frozen matrix from its element `e` on, a multiple of four. */
function matrixText(m: number, weights: Bits | 32): string {
  if (weights === 32) return `fn matrixAt${m}(e: u32) -> vec4<f32> { return matrix${m}[e / 4u]; }`
  const codes =
    weights === 8
      ? `(vec4<f32>((vec4<u32>(matrix${m}[e / 4u]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u)) - 128.0)`
      : `(vec4<f32>((vec4<u32>(matrix${m}[e / 8u] >> ((e & 4u) * 4u)) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u)) - 8.0)`
  return `fn matrixAt${m}(e: u32) -> vec4<f32> { return ${codes} * scales${m}[e / 32u]; }`
}

/** Rows or columns of a matrix into the right tile, as functions by what they read and how it lies. */
function loadRight(tile: Tile, term: Term): { name: string; code: string } {
  const columns = columnsOf(tile)
  const name = `load${'matrix' in term.of ? `Matrix${term.of.matrix}` : 'Lora'}${term.transposed ? 'Across' : 'Along'}`
  const index = term.transposed
    ? `let n = i / ${DEPTH / 4}u; let k = (i % ${DEPTH / 4}u) * 4u; let e = (first + n) * depth + start + k; let there = first + n < columns;`
    : `let k = i / ${tile.across}u; let n = (i % ${tile.across}u) * 4u; let e = (start + k) * columns + first + n; let there = start + k < depth;`
  const inside = (j: string): string => (term.transposed ? `start + k + ${j} < depth` : `first + n + ${j} < columns`)
  const place = (j: string): string => (term.transposed ? `(k + ${j}) * ${columns + 1}u + n` : `k * ${columns + 1}u + n + ${j}`)
  const read =
    'matrix' in term.of
      ? `var four = vec4<f32>(); if (there && ${inside('0u')}) { four = matrixAt${term.of.matrix}(e); } for (var j = 0u; j < 4u; j++) { right[${place('j')}] = four[j]; }`
      : `for (var j = 0u; j < 4u; j++) { var value = 0.0; if (there && ${inside('j')}) { value = lora[base + e + j]; } right[${place('j')}] = value; }`
  const code = `
fn ${name}(thread: u32, first: u32, columns: u32, start: u32, depth: u32, base: u32) {
  for (var i = thread; i < ${columns * (DEPTH / 4)}u; i += ${THREADS}u) {
    ${index}
    ${read}
  }
}`
  return { name, code }
}

/** Outputs of products over all rows. Terms of the LoRA are left out where it takes no part. */
export function productShader(layout: WorkLayout, shape: ProductShape): Shader {
  const tile = tileOf(shape)
  const loaders = new Map<string, string>()
  const termText = (of: Term, from: number, end: number): string => {
    const { name, code } = loadRight(tile, of)
    loaders.set(name, code)
    const loader = [...loaders.keys()].indexOf(name)
    const { base, stride } = columnsText(layout, of.left)
    return `if (step >= ${from}u && step < ${end}u) {
        loader = ${loader}u; start = (step - ${from}u) * ${DEPTH}u; depth = ${of.depth}u; scale = ${float(of.scale ?? 1)};
        leftBase = ${base}; leftStride = ${stride};${'lora' in of.of ? ` rightBase = layer.y + ${of.of.lora}u; ofLora = true;` : ''}
      }`
  }
  const [places, chosen]: [string[], string[]] = [[], []]
  let tiles = 0
  for (const { columns, to, terms, bias, residual } of shape.outputs) {
    const from = tiles
    tiles += Math.ceil(columns / columnsOf(tile))
    const inside = `if (group.x >= ${from}u && group.x < ${tiles}u)`
    let steps = 0
    const texts = terms.map((term) => {
      const before = steps
      steps += Math.ceil(term.depth / DEPTH)
      return termText(term, before, steps)
    })
    const { base, stride } = columnsText(layout, to)
    const more = [
      ...(bias === undefined ? [] : [`bias = layer.x + ${bias}u;`]),
      ...(residual ? [`residualBase = ${columnsText(layout, residual).base}; residualStride = ${columnsText(layout, residual).stride};`] : []),
    ]
    places.push(`${inside} { begin = (group.x - ${from}u) * ${columnsOf(tile)}u; columns = ${columns}u; steps = ${steps}u; toBase = ${base}; toStride = ${stride}; ${more.join(' ')} }`)
    chosen.push(`${inside} {
      ${texts.join('\n      else ')}
    }`)
  }
  const [biased, added] = [shape.outputs.some(({ bias }) => bias !== undefined), shape.outputs.some(({ residual }) => residual)]
  const matrices = [...new Set(shape.outputs.flatMap(({ terms }) => terms.flatMap(({ of }) => ('matrix' in of ? [of.matrix] : []))))]
  const put = `if (first + row < shape.x && begin + column < columns) {
      var all = value;
      ${biased ? `if (bias != ${NONE}u) { all += vectors[bias + begin + column]; }` : ''}
      ${added ? 'all += work[residualBase + (first + row) * residualStride + begin + column];' : ''}
      work[toBase + (first + row) * toStride + begin + column] = all;
    }`
  return shader(
    `${tileText(tile)}
${loadLeft(tile)}
${matrices.map((m) => matrixText(m, shape.weights)).join('\n')}
${[...loaders.values()].join('\n')}

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first = group.y * ${rowsOf(tile)}u;
  var begin = 0u; var columns = 0u; var steps = 0u; var toBase = 0u; var toStride = 0u;
  ${biased ? `var bias = ${NONE}u;` : ''}
  ${added ? 'var residualBase = 0u; var residualStride = 0u;' : ''}
  ${places.join('\n  else ')}
  for (var step = 0u; step < steps; step++) {
    var loader = 0u; var start = 0u; var depth = 0u; var scale = 1.0; var leftBase = 0u; var leftStride = 0u; var rightBase = 0u; var ofLora = false;
    ${chosen.join('\n    else ')}
    if (ofLora && shape.z == 0u) { continue; }
    loadLeft(thread, first, leftBase, leftStride, start, depth, scale);
    ${[...loaders.keys()].map((name, i) => `if (loader == ${i}u) { ${name}(thread, begin, columns, start, depth, rightBase); }`).join(' else ')}
    workgroupBarrier();
    multiply(thread);
    workgroupBarrier();
  }
  ${storeText(tile, put)}
}
`,
    shape.weights === 32 ? 'vec4<f32>' : 'u32',
  )
}

/** One gradient of the LoRA: scale · leftᵀ · right over all rows, [columns, rank], written as it is (B) or turned (A). */
export interface GradientJob {
  left: Columns
  columns: number
  right: Columns
  scale: number
  /** Where it goes, in the layer's part of the gradient. */
  to: number
  turned: boolean
}

const gradientTile = (rank: number): Tile => ({ across: rank <= 16 ? 4 : rank <= 32 ? 8 : 16, each: rank <= 16 ? 1 : rank <= 32 ? 2 : 4 })

/** Workgroups of a layer's gradients: along x tiles of the jobs, along y of the ranks. */
export function gradientGroups(jobs: readonly GradientJob[], rank: number): [number, number] {
  const tile = gradientTile(rank)
  return [jobs.reduce((n, { columns }) => n + Math.ceil(columns / rowsOf(tile)), 0), Math.ceil(rank / columnsOf(tile))]
}

/** All gradients of a layer's LoRA. */
export function gradientShader(layout: WorkLayout, jobs: readonly GradientJob[], rank: number): Shader {
  const tile = gradientTile(rank)
  const [tall, wide] = [rowsOf(tile), columnsOf(tile)]
  let tiles = 0
  const choices = jobs.map(({ left, columns, right, scale, to, turned }) => {
    const from = tiles
    tiles += Math.ceil(columns / tall)
    const [l, r] = [columnsText(layout, left), columnsText(layout, right)]
    return `if (group.x >= ${from}u && group.x < ${tiles}u) {
    tile = group.x - ${from}u; columns = ${columns}u; scale = ${float(scale)}; to = layer.y + ${to}u; turned = ${turned};
    leftBase = ${l.base}; leftStride = ${l.stride}; rightBase = ${r.base}; rightStride = ${r.stride};
  }`
  })
  const load = (name: string, width: number, first: string, most: string, base: string, stride: string): string => `
    for (var i = thread; i < ${DEPTH * width}u; i += ${THREADS}u) {
      let k = i / ${width}u; let m = i % ${width}u;
      var value = 0.0;
      if (start + k < shape.x && ${first} + m < ${most}) { value = work[${base} + (start + k) * ${stride} + ${first} + m]; }
      ${name}[k * ${width + 1}u + m] = value;
    }`
  const put = `let m = first + row;
    let low = begin + column;
    if (m < columns && low < ${rank}u) { gradient[to + select(m * ${rank}u + low, low * columns + m, turned)] = scale * value; }`
  return shader(`${tileText(tile)}

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  var tile = 0u; var columns = 0u; var scale = 0.0; var to = 0u; var turned = false;
  var leftBase = 0u; var leftStride = 0u; var rightBase = 0u; var rightStride = 0u;
  ${choices.join('\n  else ')}
  let first = tile * ${tall}u;
  let begin = group.y * ${wide}u;
  for (var start = 0u; start < shape.x; start += ${DEPTH}u) {
    ${load('left', tall, 'first', 'columns', 'leftBase', 'leftStride')}
    ${load('right', wide, 'begin', `${rank}u`, 'rightBase', 'rightStride')}
    workgroupBarrier();
    multiply(thread);
    workgroupBarrier();
  }
  ${storeText(tile, put)}
}
`)
}

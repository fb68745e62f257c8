/**
 * WGSL of attention over whole sequences, forward and backward, in tiles of 32 queries by 32 keys: softmax with a running maximum, so that no
 * [tokens, tokens] array exists; backward computes the weights again from each row's log-sum-exp. A token sees itself, and before it what is
 * shared or of its own branch. Plain-graph twin: trainingBlock.
 */

import { PADDING_BRANCH } from '../packing'
import type { HeadsShape } from './row-shaders'
import { columnsText, type Columns, rowText, type Shader, shader } from './shader-text'
import { ATTENTION_TILE as TILE, type WorkLayout } from './training-work'

/** Eight threads a row, each with four columns. */
const THREADS = 8 * TILE
/** Numbers from row to row of a tile: one more than it has columns, so that threads meet fewer others in one bank. */
const PITCH = TILE + 1
/** Stands for minus infinity. */
const LOWEST = '-3.0e38'

const SHARED = `
var<workgroup> rowTile: array<f32, ${TILE * PITCH}>;
var<workgroup> columnTile: array<f32, ${TILE * PITCH}>;
var<workgroup> weights: array<f32, ${TILE * PITCH}>;

fn visible(query: u32, key: u32) -> bool {
  let mine = places[query].y;
  let other = places[key].y;
  return query == key || (key < query && mine != ${PADDING_BRANCH}u && (other == 0u || other == mine));
}

fn keep(r: u32, c: u32, four: vec4<f32>) {
  let at = r * ${PITCH}u + c;
  weights[at] = four.x; weights[at + 1u] = four.y; weights[at + 2u] = four.z; weights[at + 3u] = four.w;
}`

const MAIN = `@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let r = thread / 8u;
  let c = (thread % 8u) * 4u;
  let first = group.y * ${TILE}u;
  let begin = first / shape.y * shape.y;`

/** WGSL for heads of `dim` numbers, in pieces of 32. */
class Tiles {
  private readonly pieces: number[]

  constructor(
    private readonly layout: WorkLayout,
    private readonly dim: number,
  ) {
    this.pieces = Array.from({ length: Math.ceil(dim / TILE) }, (_, i) => i)
  }

  /** Where a head's columns begin. */
  head({ region, from = 0 }: Columns, head: string): { base: string; stride: string } {
    const { base, stride } = columnsText(this.layout, { region, from })
    return { base: `(${base} + ${head} * ${this.dim}u)`, stride }
  }

  private load(tile: string, { base, stride }: { base: string; stride: string }, first: string, piece: string): string {
    return `{
        let source = ${base} + (${first} + r) * ${stride};
        for (var j = 0u; j < 4u; j++) {
          let d = ${piece} * ${TILE}u + c + j;
          var value = 0.0;
          if (d < ${this.dim}u) { value = work[source + d]; }
          ${tile}[r * ${PITCH}u + c + j] = value;
        }
      }`
  }

  /** The products of this thread's row with four rows of the other tile, into a new variable. */
  products(name: string, rows: { base: string; stride: string }, rowFirst: string, columns: { base: string; stride: string }, columnFirst: string): string {
    return `var ${name} = vec4<f32>();
    for (var piece = 0u; piece < ${this.pieces.length}u; piece++) {
      ${this.load('rowTile', rows, rowFirst, 'piece')}
      ${this.load('columnTile', columns, columnFirst, 'piece')}
      workgroupBarrier();
      for (var d = 0u; d < ${TILE}u; d++) {
        ${name} += rowTile[r * ${PITCH}u + d] * vec4<f32>(columnTile[c * ${PITCH}u + d], columnTile[(c + 1u) * ${PITCH}u + d], columnTile[(c + 2u) * ${PITCH}u + d], columnTile[(c + 3u) * ${PITCH}u + d]);
      }
      workgroupBarrier();
    }`
  }

  declare(name: string): string {
    return this.pieces.map((piece) => `var ${name}${piece} = vec4<f32>();`).join(' ')
  }

  scale(name: string, factor: string): string {
    return this.pieces.map((piece) => `${name}${piece} *= ${factor};`).join(' ')
  }

  /** Adds the rows of `from`, weighted by this thread's row of `weights`, which all threads have written. */
  mix(name: string, from: { base: string; stride: string }, first: string): string {
    const one = (piece: number): string => `
      ${this.load('columnTile', from, first, `${piece}u`)}
      workgroupBarrier();
      for (var k = 0u; k < ${TILE}u; k++) {
        let at = k * ${PITCH}u + c;
        ${name}${piece} += weights[r * ${PITCH}u + k] * vec4<f32>(columnTile[at], columnTile[at + 1u], columnTile[at + 2u], columnTile[at + 3u]);
      }
      workgroupBarrier();`
    return this.pieces.map(one).join('')
  }

  store(name: string, to: { base: string; stride: string }, factor = '1.0'): string {
    const one = (piece: number): string =>
      `for (var j = 0u; j < 4u; j++) { let d = ${piece * TILE}u + c + j; if (d < ${this.dim}u) { work[${to.base} + (first + r) * ${to.stride} + d] = ${name}${piece}[j] * ${factor}; } }`
    return this.pieces.map(one).join('\n  ')
  }
}

/** Columns of q, k and v after positions, and where their derivatives go. */
function parts(tiles: Tiles, { heads, kv, dim }: HeadsShape, query: string, group: string) {
  const [k, v] = [heads * dim, (heads + kv) * dim]
  return {
    q: tiles.head({ region: 'rotated' }, query),
    k: tiles.head({ region: 'rotated', from: k }, group),
    v: tiles.head({ region: 'qkv', from: v }, group),
    mixed: tiles.head({ region: 'mixed' }, query),
    dMixed: tiles.head({ region: 'passed' }, query),
    dq: tiles.head({ region: 'dQkv' }, query),
    dk: tiles.head({ region: 'dQkv', from: k }, group),
    dv: tiles.head({ region: 'dQkv', from: v }, group),
  }
}

/** 'mixed' and 'lse': a workgroup a head and 32 queries. */
export function attentionForwardShader(layout: WorkLayout, shape: HeadsShape): Shader {
  const tiles = new Tiles(layout, shape.dim)
  const { q, k, v, mixed } = parts(tiles, shape, 'head', `(head / ${shape.heads / shape.kv}u)`)
  return shader(`${SHARED}
${MAIN}
  let head = group.x;
  var most = ${LOWEST};
  var total = 0.0;
  ${tiles.declare('out')}
  for (var start = begin; start <= first; start += ${TILE}u) {
    ${tiles.products('scores', q, 'first', k, 'start')}
    for (var j = 0u; j < 4u; j++) { if (!visible(first + r, start + c + j)) { scores[j] = ${LOWEST}; } }
    keep(r, c, scores);
    workgroupBarrier();
    var highest = most;
    for (var i = 0u; i < ${TILE}u; i++) { highest = max(highest, weights[r * ${PITCH}u + i]); }
    workgroupBarrier();
    // A row that has seen nothing yet has no maximum to be taken off.
    for (var j = 0u; j < 4u; j++) { scores[j] = select(exp(scores[j] - highest), 0.0, scores[j] <= ${LOWEST}); }
    keep(r, c, scores);
    workgroupBarrier();
    let fade = exp(most - highest);
    most = highest;
    total *= fade;
    for (var i = 0u; i < ${TILE}u; i++) { total += weights[r * ${PITCH}u + i]; }
    ${tiles.scale('out', 'fade')}
    ${tiles.mix('out', v, 'start')}
  }
  ${tiles.store('out', mixed, '(1.0 / total)')}
  if (c == 0u) { work[${rowText(layout, { region: 'lse' }, 'first + r')} + head] = most + log(total); }
}
`)
}

/** d q, of the rotated one: a workgroup a head and 32 queries. */
export function attentionQueriesShader(layout: WorkLayout, shape: HeadsShape): Shader {
  const tiles = new Tiles(layout, shape.dim)
  const { q, k, v, dMixed, dq } = parts(tiles, shape, 'head', `(head / ${shape.heads / shape.kv}u)`)
  return shader(`${SHARED}
${MAIN}
  let head = group.x;
  let lse = work[${rowText(layout, { region: 'lse' }, 'first + r')} + head];
  let dot = work[${rowText(layout, { region: 'dot' }, 'first + r')} + head];
  ${tiles.declare('out')}
  for (var start = begin; start <= first; start += ${TILE}u) {
    ${tiles.products('scores', q, 'first', k, 'start')}
    ${tiles.products('slopes', dMixed, 'first', v, 'start')}
    for (var j = 0u; j < 4u; j++) { slopes[j] = select(0.0, exp(scores[j] - lse) * (slopes[j] - dot), visible(first + r, start + c + j)); }
    keep(r, c, slopes);
    workgroupBarrier();
    ${tiles.mix('out', k, 'start')}
  }
  ${tiles.store('out', dq)}
}
`)
}

/** d k, of the rotated one, and d v: a workgroup a KV head and 32 keys, over all queries of the head's group. */
export function attentionKeysShader(layout: WorkLayout, shape: HeadsShape): Shader {
  const tiles = new Tiles(layout, shape.dim)
  const { q, k, v, dMixed, dk, dv } = parts(tiles, shape, 'head', 'group.x')
  return shader(`${SHARED}
${MAIN}
  let end = begin + shape.y;
  ${tiles.declare('keyOut')}
  ${tiles.declare('valueOut')}
  for (var member = 0u; member < ${shape.heads / shape.kv}u; member++) {
    let head = group.x * ${shape.heads / shape.kv}u + member;
    for (var start = first; start < end; start += ${TILE}u) {
      ${tiles.products('scores', k, 'first', q, 'start')}
      for (var j = 0u; j < 4u; j++) {
        let query = start + c + j;
        scores[j] = select(0.0, exp(scores[j] - work[${rowText(layout, { region: 'lse' }, 'query')} + head]), visible(query, first + r));
      }
      keep(r, c, scores);
      workgroupBarrier();
      ${tiles.mix('valueOut', dMixed, 'start')}
      ${tiles.products('slopes', v, 'first', dMixed, 'start')}
      for (var j = 0u; j < 4u; j++) { slopes[j] = scores[j] * (slopes[j] - work[${rowText(layout, { region: 'dot' }, 'start + c + j')} + head]); }
      keep(r, c, slopes);
      workgroupBarrier();
      ${tiles.mix('keyOut', q, 'start')}
    }
  }
  ${tiles.store('keyOut', dk)}
  ${tiles.store('valueOut', dv)}
}
`)
}

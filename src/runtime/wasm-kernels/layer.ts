/** One decoder layer over rows, for decoding and for training alike: norm, q k v, attention over what a row sees, and the MLP. */

import { attend, type Block, type Tokens } from './attention'
import type { Heap, Rows } from './heap'
import type { Packed } from './packed'
import type { GroupPlan, LayerPlan, Plan } from './plan'
import { keyWidth, queryWidth, qkvWidth } from './plan'
import type { Scratch } from './scratch'
import { share, type Team } from './team'

/** What runs a layer: the same program in every thread. */
export interface Runner {
  heap: Heap
  plan: Plan
  team: Team
}

/** Int32 words of a row's view: two runs of tokens that it sees, each its first token and its length. */
export const VIEW_WORDS = 4

/** Values of a layer that its backward pass reads, [rows, …]. */
export interface LayerValues {
  qkv: Rows
  /** q and k after norm and rotation. */
  turned: Rows
  mixed: Rows
  /** After attention. */
  middle: Rows
  gateUp: Rows
  /** Low-rank values of each group. */
  low: Record<'qkv' | 'o' | 'gateUp' | 'down', Rows>
  /** 1 / rms of x, of `middle`, and of the heads of q and k: [rows, 2 + heads + kv]. */
  rstd: Rows
}

/** Room that each layer overwrites. */
export interface LayerRoom {
  normed: Rows
  gated: Rows
  /** [threads, attentionRoom] */
  scores: Rows
}

export interface Batch {
  rows: number
  /** int32 [rows] */
  positions: number
  /** int32 [rows, VIEW_WORDS]: what each row looks at. */
  views: number
  /** Most tokens that a row sees. */
  most: number
  /** int32 [rows], with a cache: which of its tokens each row becomes. null without. */
  tokens: number | null
  lora: boolean
  scratch: LayerRoom
  /** The rows as attention goes over them, once it did. */
  blocks?: Block[]
}

export const shift = ({ at, stride }: Rows, floats: number): Rows => ({ at: at + 4 * floats, stride })
export const rowAt = ({ at, stride }: Rows, row: number): number => at + 4 * stride * row

/** Rows from which threads share the rows of a product; below it they share its columns, and each reads its own part of the matrix. */
const SHARED_ROWS = 128

/** What a thread does of a product. */
function parts({ team }: Runner, rows: number, panels: number): { rows: readonly [number, number]; panels: readonly [number, number] } {
  return rows < SHARED_ROWS ? { rows: [0, rows], panels: share(team, panels, 2) } : { rows: share(team, rows, 4), panels: [0, panels] }
}

/** y = x · w, added to what lies at `from` in y's strides, if anything, and to `second` times what lies behind w, by all threads. */
export function product(runner: Runner, x: Rows, rows: number, w: Packed, y: Rows, from = 0, second: Rows | null = null): void {
  const part = parts(runner, rows, w.panels)
  const [first, last] = part.rows
  runner.heap.multiply(fromRow(x, first), last - first, w, fromRow(y, first), from === 0 ? 0 : from + 4 * y.stride * first, part.panels, second && fromRow(second, first))
  runner.team.barrier()
}

const fromRow = (rows: Rows, row: number): Rows => ({ at: rowAt(rows, row), stride: rows.stride })

/** W x + b + s · B (A x), added to the rows at `residual` where it is given, in y's strides. */
export function project(runner: Runner, group: GroupPlan, x: Rows, rows: number, y: Rows, low: Rows, lora: boolean, residual = 0): void {
  const { heap, team } = runner
  if (group.bias !== null) {
    const bias = heap.floats(group.bias, group.out)
    const [from, to] = share(team, rows)
    for (let row = from; row < to; row++) heap.floats(rowAt(y, row), group.out).set(bias)
    if (!lora || !group.lora) team.barrier()
  }
  const added = group.bias === null ? residual : y.at
  if (!lora || !group.lora) return product(runner, x, rows, group.forward, y, added)
  product(runner, x, rows, group.lora.down, low)
  const { rows: [top, bottom], panels: [from, to] } = parts(runner, rows, group.forward.panels)
  for (const { first, panels, member } of group.spans) {
    const [a, b] = [Math.max(from, first), Math.min(to, first + panels)]
    if (a >= b) continue
    const onto = added === 0 ? 0 : added + 4 * y.stride * top
    heap.multiply(fromRow(x, top), bottom - top, group.forward, fromRow(y, top), onto, [a, b], member && shift(fromRow(low, top), member.low))
  }
  team.barrier()
}

/**
 * y [rows, hidden] of x. `cache`: the layer's keys and values [tokens, 2, kv · dim], to which the rows are added; null: rows see each other.
 * Rows before `wanted` leave only their keys and values.
 */
export function forwardLayer(runner: Runner, layer: LayerPlan, batch: Batch, values: LayerValues, cache: number | null, x: Rows, y: Rows, wanted = 0): void {
  const { plan } = runner
  const { rows, scratch, lora } = batch
  const { groups } = layer
  normRows(runner, rows, x, layer.norm1, scratch.normed, values.rstd)
  project(runner, groups.qkv, scratch.normed, rows, values.qkv, values.low.qkv, lora)
  const tokens = cache === null ? ownTokens(plan, values) : cachedTokens(plan, cache)
  turn(runner, layer, batch, values, tokens)
  attend(runner, batch, values, tokens, wanted)
  const rest = rows - wanted
  const [mixed, middle, gateUp, rstd] = [values.mixed, values.middle, values.gateUp, values.rstd].map((of) => fromRow(of, wanted)) as [Rows, Rows, Rows, Rows]
  project(runner, groups.o, mixed, rest, middle, values.low.o, lora, rowAt(x, wanted))
  normRows(runner, rest, middle, layer.norm2, scratch.normed, shift(rstd, 1))
  project(runner, groups.gateUp, scratch.normed, rest, gateUp, values.low.gateUp, lora)
  gate(runner, rest, gateUp, scratch.gated)
  project(runner, groups.down, scratch.gated, rest, fromRow(y, wanted), values.low.down, lora, middle.at)
}

/** RMSNorm of rows; 1 / rms goes to `rstd`. */
export function normRows({ heap, plan, team }: Runner, rows: number, x: Rows, weight: number, out: Rows, rstd: Rows): void {
  const [from, to] = share(team, rows)
  heap.kernels.rmsNorms(rowAt(x, from), 4 * x.stride, weight, rowAt(out, from), 4 * out.stride, rowAt(rstd, from), 4 * rstd.stride, to - from, plan.hidden, plan.epsilon)
  team.barrier()
}

export function gate({ heap, plan, team }: Runner, rows: number, gateUp: Rows, out: Rows): void {
  const [from, to] = share(team, rows)
  for (let row = from; row < to; row++) heap.kernels.swiglu(rowAt(gateUp, row), rowAt(gateUp, row) + 4 * plan.inner, rowAt(out, row), plan.inner)
  team.barrier()
}

/** Keys and values of a batch's own rows. */
export function ownTokens(plan: Plan, { turned, qkv }: LayerValues): Tokens {
  return { keys: shift(turned, queryWidth(plan)), values: shift(qkv, queryWidth(plan) + keyWidth(plan)), cached: false }
}

function cachedTokens(plan: Plan, at: number): Tokens {
  const keys = { at, stride: 2 * keyWidth(plan) }
  return { keys, values: shift(keys, keyWidth(plan)), cached: true }
}

/** Norm over each head of q and k where the model has it, then rotation; new keys and values go to the cache where there is one. */
function turn({ heap, plan, team }: Runner, layer: LayerPlan, { rows, positions, tokens }: Batch, { qkv, turned, rstd }: LayerValues, cache: Tokens): void {
  const { heads, kv, dim } = plan
  const { kernels } = heap
  const places = heap.integers(positions, rows)
  const into = tokens === null ? null : heap.integers(tokens, rows)
  const width = keyWidth(plan)
  const [from, to] = share(team, rows)
  for (let row = from; row < to; row++) {
    const angle = 2 * dim * (places[row] as number)
    const [source, target, stds] = [rowAt(qkv, row), rowAt(turned, row), rowAt(rstd, row) + 8]
    const norm = (weight: number | null, first: number, count: number): void => {
      const at = 4 * dim * first
      if (weight !== null) kernels.rmsNorms(source + at, 4 * dim, weight, target + at, 4 * dim, stds + 4 * first, 4, count, dim, plan.epsilon)
      kernels.rotateHeads((weight === null ? source : target) + at, plan.cos + angle, plan.sin + angle, target + at, dim / 2, count)
    }
    norm(layer.qNorm, 0, heads)
    norm(layer.kNorm, heads, kv)
    if (!into) continue
    const token = into[row] as number
    kernels.copy(target + 4 * queryWidth(plan), rowAt(cache.keys, token), width)
    kernels.copy(source + 4 * (queryWidth(plan) + width), rowAt(cache.values, token), width)
  }
  team.barrier()
}

/** Room for the values of a layer over `rows` rows. */
export function layerValues(scratch: Scratch, plan: Plan, rows: number): LayerValues {
  const room = (stride: number): Rows => scratch.rows(rows, stride)
  const { heads, kv, dim, hidden, inner, rank } = plan
  const low = { qkv: room(3 * rank), o: room(rank), gateUp: room(2 * rank), down: room(rank) }
  return { qkv: room(qkvWidth(plan)), turned: room((heads + kv) * dim), mixed: room(heads * dim), middle: room(hidden), gateUp: room(2 * inner), low, rstd: room(2 + heads + kv) }
}

/** Bytes of layerValues for one row. */
export function valueBytes(plan: Plan): number {
  const { heads, kv, dim, hidden, inner, rank } = plan
  return 4 * (qkvWidth(plan) + (heads + kv) * dim + heads * dim + hidden + 2 * inner + 7 * rank + 2 + heads + kv)
}

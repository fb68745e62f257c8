/** The backward pass of attention: from the slopes of `mixed` to those of q, k (both turned) and v. */

import { attentionRoom, type Block, BLOCK_ROWS, blocksIn, eachUnit, mixBlock, rowOf, type Run, shares, type Tokens } from './attention'
import type { Rows } from './heap'
import { LANES } from './kernels'
import { type Batch, type LayerValues, ownTokens, rowAt, type Runner, shift } from './layer'
import type { BackwardScratch } from './layer-backward'
import { keyWidth, type Plan, queryWidth } from './plan'
import { share } from './team'

/** Floats of a thread's room: what tokens are paid and its slope, queries and slopes as lanes and as panels. */
export const backwardAttentionRoom = (plan: Plan, most: number): number => 2 * attentionRoom(plan, most) + 2 * LANES * plan.dim

interface Work {
  tokens: Tokens
  p: number
  ds: number
  lanes: number
  panels: number
  /** This thread's slopes of all keys and values: it may see any row. */
  dKeys: Rows
  dValues: Rows
}

export function attendBack(runner: Runner, batch: Batch, layer: LayerValues, room: BackwardScratch): void {
  const { heap, plan, team } = runner
  const { rows, most } = batch
  const { heads, kv, dim } = plan
  const width = keyWidth(plan)
  const p = rowAt(room.scores, team.index)
  const ds = p + 4 * LANES * (most + 8)
  const lanes = ds + 4 * LANES * (most + 8)
  const panels = lanes + 8 * LANES * dim
  const dKeys = { at: rowAt(room.parts, team.index * rows), stride: 2 * width }
  const work: Work = { tokens: ownTokens(plan, layer), p, ds, lanes, panels, dKeys, dValues: shift(dKeys, width) }
  heap.floats(dKeys.at, rows * dKeys.stride).fill(0)
  const per = heads / kv
  eachUnit(team, blocksIn(runner, batch), kv, (block, group) => {
    for (let head = group * per; head < (group + 1) * per; head++) {
      if (block.count >= BLOCK_ROWS) blockBack(runner, block, head, layer, room, work)
      else for (let row = 0; row < block.count; row++) rowBack(runner, rowOf(block, row), head, layer, room, work)
    }
  })
  team.barrier()
  gatherParts(runner, rows, room)
}

function rowBack({ heap: { kernels }, plan }: Runner, { row, runs, total }: Block, head: number, layer: LayerValues, room: BackwardScratch, { tokens, p, ds, dKeys, dValues }: Work): void {
  const { heads, kv, dim } = plan
  const { keys, values } = tokens
  const scale = 1 / Math.sqrt(dim)
  const group = 4 * dim * Math.floor((head * kv) / heads)
  const [query, dQuery, dOut] = [rowAt(layer.turned, row), rowAt(room.qkv, row), rowAt(room.mixed, row)].map((at) => at + 4 * dim * head) as [number, number, number]
  for (const { first, n, at } of runs) kernels.scores(query, rowAt(keys, first) + group, 4 * keys.stride, p + 4 * at, n, dim, scale)
  kernels.softmax(p, total)
  for (const { first, n, at } of runs) kernels.scores(dOut, rowAt(values, first) + group, 4 * values.stride, ds + 4 * at, n, dim, 1)
  kernels.softmaxBackward(p, ds, ds, total, kernels.dot(dOut, rowAt(layer.mixed, row) + 4 * dim * head, dim), scale)
  runs.forEach(({ first, n, at }, run) => {
    kernels.mix(ds + 4 * at, rowAt(keys, first) + group, 4 * keys.stride, dQuery, n, dim, run > 0 ? 1 : 0)
    kernels.spread(ds + 4 * at, query, rowAt(dKeys, first) + group, 4 * dKeys.stride, n, dim)
    kernels.spread(p + 4 * at, dOut, rowAt(dValues, first) + group, 4 * dValues.stride, n, dim)
  })
}

function blockBack(runner: Runner, block: Block, head: number, layer: LayerValues, room: BackwardScratch, { tokens, p, ds, lanes, panels, dKeys, dValues }: Work): void {
  const { heap, plan } = runner
  const { heads, kv, dim } = plan
  const { kernels } = heap
  const { row, count, runs, total } = block
  const { keys, values } = tokens
  const column = 4 * dim * head
  const group = 4 * dim * Math.floor((head * kv) / heads)
  const of = (rows: Rows): Rows => ({ at: rowAt(rows, row) + column, stride: rows.stride })
  const [queries, dQueries, dOut] = [layer.turned, room.qkv, room.mixed].map(of) as [Rows, Rows, Rows]
  shares(runner, block, layer.turned, tokens, head, p, lanes)
  kernels.lanes(dOut.at, 4 * dOut.stride, count, lanes, dim)
  for (const { first, n, at } of runs) kernels.scores8(lanes, rowAt(values, first) + group, 4 * values.stride, ds + 4 * LANES * at, n, dim, 1)
  kernels.softmaxBackward8(p, ds, total, 1 / Math.sqrt(dim))
  mixBlock(runner, block, ds, keys, group, dQueries, lanes)
  spreadBlock(runner, count, runs, ds, queries, panels, dKeys, group)
  spreadBlock(runner, count, runs, p, dOut, panels, dValues, group)
}

/** out[token] += Σ over a block's rows of weights [tokens, 8] · x [rows, dim]. */
function spreadBlock({ heap, plan: { dim } }: Runner, count: number, runs: readonly Run[], weights: number, x: Rows, room: number, out: Rows, column: number): void {
  heap.kernels.panels(x.at, 4 * x.stride, count, room, dim)
  for (const { first, n, at } of runs) heap.kernels.spread8(weights + 4 * LANES * at, room, rowAt(out, first) + column, 4 * out.stride, n, dim)
}

/** Adds the threads' slopes of keys and values, always in the same order. */
function gatherParts({ heap, plan, team }: Runner, rows: number, room: BackwardScratch): void {
  const width = 2 * keyWidth(plan)
  const [from, to] = share(team, rows)
  for (let row = from; row < to; row++) {
    const out = rowAt(room.qkv, row) + 4 * queryWidth(plan)
    heap.floats(out, width).set(heap.floats(rowAt(room.parts, row), width))
    for (let thread = 1; thread < team.threads; thread++) heap.kernels.axpy(out, rowAt(room.parts, thread * rows + row), width, 1)
  }
  team.barrier()
}

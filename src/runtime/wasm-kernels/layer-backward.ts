/** The backward pass of one decoder layer over rows: from d loss / d y to d loss / d x and the gradients of its LoRA. The base is frozen. */

import { attendBack, backwardAttentionRoom } from './attention-backward'
import { OUTER_ROWS } from './kernels'
import { type Batch, gate, type LayerValues, normRows, product, rowAt, type Runner, shift } from './layer'
import type { Rows } from './heap'
import { type GroupName, type GroupPlan, keyWidth, type LayerPlan, type Plan, qkvWidth } from './plan'
import type { Scratch } from './scratch'
import { share } from './team'

/** Gradients of a group's A [width, input] and of each member's B [out, rank]; B's are not yet scaled. */
export interface GroupGradients {
  a: number
  b: number[]
}
export type LayerGradients = Record<GroupName, GroupGradients | null>

/** Room that each layer's backward pass overwrites, [rows, …]. */
export interface BackwardScratch {
  /** Slopes of the outputs of q k v, of gate and up; of a group's low-rank values; of a normed input and of `mixed`. */
  qkv: Rows
  gateUp: Rows
  low: Rows
  normed: Rows
  mixed: Rows
  /** [threads, backwardAttentionRoom] */
  scores: Rows
  /** Each thread's part of the slopes of keys and values, [threads · rows, 2 · keyWidth]. */
  parts: Rows
}

/** `d` [rows, hidden] holds dy, and dx in the end. `x` is the layer's input. */
export function backwardLayer(runner: Runner, layer: LayerPlan, batch: Batch, values: LayerValues, gradients: LayerGradients, room: BackwardScratch, x: Rows, d: Rows): void {
  const { plan } = runner
  const { rows, scratch } = batch
  const { groups } = layer
  // The values that only cost a pass over memory are made again.
  gate(runner, rows, values.gateUp, scratch.gated)
  projectBack(runner, groups.down, batch, { dy: d, x: scratch.gated, low: values.low.down, dLow: room.low, dx: room.gateUp }, gradients.down)
  gateBack(runner, rows, values.gateUp, room.gateUp)
  normRows(runner, rows, values.middle, layer.norm2, scratch.normed, shift(values.rstd, 1))
  projectBack(runner, groups.gateUp, batch, { dy: values.gateUp, x: scratch.normed, low: values.low.gateUp, dLow: room.low, dx: room.normed }, gradients.gateUp)
  normBack(runner, rows, values.middle, layer.norm2, room.normed, shift(values.rstd, 1), d, plan.hidden)
  projectBack(runner, groups.o, batch, { dy: d, x: values.mixed, low: values.low.o, dLow: room.low, dx: room.mixed }, gradients.o)
  attendBack(runner, batch, values, room)
  turnBack(runner, layer, batch, values, room.qkv)
  normRows(runner, rows, x, layer.norm1, scratch.normed, values.rstd)
  projectBack(runner, groups.qkv, batch, { dy: room.qkv, x: scratch.normed, low: values.low.qkv, dLow: room.low, dx: room.normed }, gradients.qkv)
  normBack(runner, rows, x, layer.norm1, room.normed, values.rstd, d, plan.hidden)
}

interface ProjectionSlopes {
  dy: Rows
  /** What the projection read, and its low-rank values. */
  x: Rows
  low: Rows
  dLow: Rows
  dx: Rows
}

/** dx = Wᵀ dy + Aᵀ dLow with dLow = s · Bᵀ dy; dA = dLowᵀ x; dB = dyᵀ low. */
function projectBack(runner: Runner, group: GroupPlan, { rows }: Batch, { dy, x, low, dLow, dx }: ProjectionSlopes, gradients: GroupGradients | null): void {
  const { heap, team, plan } = runner
  const { lora } = group
  if (!lora || !gradients) return product(runner, dy, rows, group.backward, dx)
  lora.members.forEach(({ column, out, low: at, upBack }, i) => {
    product(runner, shift(dy, column), rows, upBack, shift(dLow, at))
    heap.outer(shift(dy, column), out, shift(low, at), plan.rank, rows, { at: gradients.b[i] as number, stride: plan.rank }, share(team, out / OUTER_ROWS))
  })
  product(runner, dy, rows, group.backward, dx, 0, dLow)
  heap.outer(dLow, lora.width, x, group.input, rows, { at: gradients.a, stride: group.input }, share(team, lora.width / OUTER_ROWS))
  team.barrier()
}

/** Gate and up become their slopes. */
function gateBack({ heap, plan, team }: Runner, rows: number, gateUp: Rows, dGated: Rows): void {
  const [from, to] = share(team, rows)
  const up = 4 * plan.inner
  for (let row = from; row < to; row++) {
    const at = rowAt(gateUp, row)
    heap.kernels.swigluBackward(at, at + up, rowAt(dGated, row), at, at + up, plan.inner)
  }
  team.barrier()
}

/** d += the slope of RMSNorm at x. */
function normBack({ heap, team }: Runner, rows: number, x: Rows, weight: number, dNormed: Rows, rstd: Rows, d: Rows, width: number): void {
  const [from, to] = share(team, rows)
  for (let row = from; row < to; row++) {
    const std = heap.floats(rowAt(rstd, row), 1)[0] as number
    heap.kernels.rmsNormBackward(rowAt(x, row), weight, rowAt(dNormed, row), std, rowAt(d, row), width, 1)
  }
  team.barrier()
}

/** Turns the slopes of q and k back, and through the norm of each head. */
function turnBack({ heap, plan, team }: Runner, layer: LayerPlan, { rows, positions }: Batch, { qkv, rstd }: LayerValues, d: Rows): void {
  const { heads, kv, dim } = plan
  const places = heap.integers(positions, rows)
  const [from, to] = share(team, rows)
  for (let row = from; row < to; row++) {
    const angle = 2 * dim * (places[row] as number)
    const stds = heap.floats(rowAt(rstd, row) + 8, heads + kv)
    for (let head = 0; head < heads + kv; head++) {
      const at = 4 * dim * head
      const slope = rowAt(d, row) + at
      heap.kernels.rotate(slope, plan.cos + angle, plan.sin + angle, slope, dim / 2, -1)
      const weight = head < heads ? layer.qNorm : layer.kNorm
      if (weight !== null) heap.kernels.rmsNormBackward(rowAt(qkv, row) + at, weight, slope, stds[head] as number, slope, dim, 0)
    }
  }
  team.barrier()
}

/** Room for `rows` rows that see `most` tokens. */
export function backwardRoom(scratch: Scratch, plan: Plan, rows: number, most: number, threads: number): BackwardScratch {
  const { hidden, inner, heads, dim, rank } = plan
  return {
    qkv: scratch.rows(rows, qkvWidth(plan)),
    gateUp: scratch.rows(rows, inner),
    low: scratch.rows(rows, 3 * rank),
    normed: scratch.rows(rows, hidden),
    mixed: scratch.rows(rows, heads * dim),
    scores: scratch.rows(threads, backwardAttentionRoom(plan, most)),
    parts: scratch.rows(threads * rows, 2 * keyWidth(plan)),
  }
}

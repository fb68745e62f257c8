/**
 * Sequences → rows → micro-batches. Consecutive sequences that begin alike (a group's prompt, the system prompt of a
 * step) may share a row behind a single copy of the beginning: a row is [shared | branch | branch | …], and the attention
 * bias lets a branch see the shared part and itself only. Results do not depend on how it is cut; time and memory do.
 */

import type { Backend } from '../core/config'
import type { TrainSequence } from '../core/engine'

/** A position whose next-token distribution is scored: x at `at` predicts token `token` of sequence `sequence`. */
export interface HeadRow {
  sequence: number
  token: number
  at: number
  target: number
}

export interface Row {
  ids: number[]
  positions: number[]
  /** 0 for the shared prompt, 1… for branches. */
  branches: number[]
  heads: HeadRow[]
}

export interface MicroBatch {
  /** Rows; a size that block graphs exist for. */
  batch: number
  /** Padded tokens a row. */
  tokens: number
  rows: Row[]
  /** Indices of the sequences in it, ascending. */
  sequences: number[]
}

/** Row lengths are multiples of this. */
export const ROW_MULTIPLE: Record<Backend, number> = { wasm: 8, webgpu: 32 }

export interface PackingOptions {
  /** Most tokens (batch × padded length) in a micro-batch; a sequence that is longer stands alone in it. */
  tokenBudget: number
  /** Row lengths are rounded up to a multiple of this. */
  multiple: number
  batchSizes: readonly number[]
  /** Relative time of a row of that many tokens. */
  cost: (tokens: number) => number
}

/** Tokens that must be computed: the last trained token is a target only. */
function computedLength(sequence: TrainSequence): number {
  return sequence.mask.lastIndexOf(1)
}

/** Shorter common beginnings are not worth a branch. */
const MIN_SHARED = 8

interface Member {
  index: number
  sequence: TrainSequence
  length: number
  /** Leading tokens that it may share: its first trained token's predictor stays its own. */
  shareable: number
  /** Leading tokens equal to those of the member before it. */
  common: number
}

/** Runs of consecutive sequences that begin alike. Those without trained tokens are left out. */
function runsOf(batch: readonly TrainSequence[]): Member[][] {
  const runs: Member[][] = []
  batch.forEach((sequence, index) => {
    const length = computedLength(sequence)
    if (length < 1) return
    const run = runs[runs.length - 1]
    const before = run?.[run.length - 1]
    const shareable = sequence.mask.indexOf(1) - 1
    let common = 0
    if (before) {
      const most = Math.min(shareable, before.shareable)
      while (common < most && sequence.ids[common] === before.sequence.ids[common]) common++
    }
    const member = { index, sequence, length, shareable, common }
    if (run && common >= MIN_SHARED) run.push(member)
    else runs.push([member])
  })
  return runs
}

/** Tokens that all members of a row share. */
function sharedBy(members: readonly Member[]): number {
  return members.length === 1 ? 0 : Math.min(...members.map((member, i) => (i === 0 ? member.shareable : Math.min(member.shareable, member.common))))
}

function rowLength(members: readonly Member[]): number {
  const shared = sharedBy(members)
  return members.reduce((sum, member) => sum + member.length - shared, shared)
}

/** One row: the shared beginning, then each member's rest as a branch. */
function packRow(members: readonly Member[]): Row {
  const shared = sharedBy(members)
  const row: Row = { ids: [], positions: [], branches: [], heads: [] }
  const push = (id: number, position: number, branch: number): void => {
    row.ids.push(id)
    row.positions.push(position)
    row.branches.push(branch)
  }
  for (let t = 0; t < shared; t++) push(members[0]?.sequence.ids[t] as number, t, 0)
  members.forEach(({ index, sequence, length }, k) => {
    for (let t = shared; t < length; t++) {
      if (sequence.mask[t + 1] === 1) {
        row.heads.push({ sequence: index, token: t + 1, at: row.ids.length, target: sequence.ids[t + 1] as number })
      }
      push(sequence.ids[t] as number, t, k + 1)
    }
  })
  return row
}

/** Cuts a run into rows of as many members as cost least; no row of several is longer than the budget. */
function rowsOf(run: readonly Member[], { cost, tokenBudget }: PackingOptions): Row[] {
  const cut = (per: number): Member[][] => Array.from({ length: Math.ceil(run.length / per) }, (_, i) => run.slice(i * per, (i + 1) * per))
  let best: Member[][] = []
  let bestCost = Infinity
  for (let per = 1; per <= run.length; per++) {
    const rows = cut(per)
    if (rows.some((row) => row.length > 1 && rowLength(row) > tokenBudget)) continue
    const total = rows.reduce((sum, row) => sum + cost(rowLength(row)), 0)
    if (total < bestCost) [best, bestCost] = [rows, total]
  }
  return best.map(packRow)
}

/** The whole plan, in the order of the batch. Same input, same plan. */
export function packBatch(batch: readonly TrainSequence[], options: PackingOptions): MicroBatch[] {
  const rows = runsOf(batch).flatMap((run) => rowsOf(run, options))
  const out: MicroBatch[] = []
  const padded = (row: Row): number => Math.ceil(row.ids.length / options.multiple) * options.multiple
  for (let start = 0; start < rows.length; ) {
    let taken = 1
    let tokens = padded(rows[start] as Row)
    for (const size of options.batchSizes) {
      if (start + size > rows.length) continue
      const longest = Math.max(...rows.slice(start, start + size).map(padded))
      if (size > taken && size * longest <= options.tokenBudget) [taken, tokens] = [size, longest]
    }
    const members = rows.slice(start, start + taken)
    const sequences = [...new Set(members.flatMap((row) => row.heads.map((head) => head.sequence)))].sort((a, b) => a - b)
    out.push({ batch: taken, tokens, rows: members, sequences })
    start += taken
  }
  return out
}

/** Ids of a micro-batch, [batch, tokens]; padding is 0. */
export function microBatchIds({ batch, tokens, rows }: MicroBatch): Int32Array {
  const ids = new Int32Array(batch * tokens)
  rows.forEach((row, r) => ids.set(row.ids, r * tokens))
  return ids
}

/** What the block graphs read besides: positions [batch, tokens], bias [batch, 1, tokens, tokens]. */
export function microBatchArrays({ batch, tokens, rows }: MicroBatch): { positions: BigInt64Array; bias: Float32Array } {
  const positions = new BigInt64Array(batch * tokens)
  const bias = new Float32Array(batch * tokens * tokens).fill(-1e9)
  rows.forEach((row, r) => {
    row.positions.forEach((position, i) => {
      positions[r * tokens + i] = BigInt(position)
      const base = (r * tokens + i) * tokens
      for (let j = 0; j <= i; j++) if (row.branches[j] === 0 || row.branches[j] === row.branches[i]) bias[base + j] = 0
    })
    // Padding looks at itself: a row of the bias must not be masked throughout.
    for (let i = row.ids.length; i < tokens; i++) bias[(r * tokens + i) * tokens + i] = 0
  })
  return { positions, bias }
}

/** Stands for the branch of padding, which sees itself alone. */
export const PADDING_BRANCH = 0xffffffff

/** Position and branch of every token, [batch · tokens, 2]: what the bias says, for kernels that compute it themselves. */
export function microBatchPlaces({ batch, tokens, rows }: MicroBatch): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(2 * batch * tokens)
  rows.forEach((row, r) => {
    for (let i = 0; i < tokens; i++) places.set([row.positions[i] ?? 0, row.branches[i] ?? PADDING_BRANCH], 2 * (r * tokens + i))
  })
  return places
}

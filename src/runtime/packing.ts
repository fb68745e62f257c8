/**
 * Sequences → rows → micro-batches. Completions of one prompt may share a row behind a single copy of it: a row is
 * [shared prompt | branch | branch | …], and the attention bias lets a branch see the prompt and itself only. Results do
 * not depend on how it is cut; time and memory do.
 */

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

export interface PackingOptions {
  /** Most tokens (batch × padded length) in a micro-batch; a longer row stands alone. */
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

/** Consecutive sequences with one prompt, by index. Those without trained tokens are left out. */
function promptGroups(batch: readonly TrainSequence[]): number[][] {
  const groups: number[][] = []
  let previous: TrainSequence | null = null
  batch.forEach((sequence, i) => {
    if (computedLength(sequence) < 1) return
    const n = sequence.promptLength ?? 0
    const first = previous
    const same = first !== null && n > 1 && first.promptLength === n && sequence.ids.slice(0, n).every((id, k) => id === first.ids[k])
    const firstTrained = sequence.mask.indexOf(1)
    const last = groups[groups.length - 1]
    if (same && last && firstTrained >= n) last.push(i)
    else groups.push([i])
    previous = firstTrained >= n ? sequence : null
  })
  return groups
}

/** A row of several sequences behind their shared prompt; the prompt's last token starts each branch, so heads never share a position. */
function packRow(batch: readonly TrainSequence[], indices: readonly number[]): Row {
  const first = batch[indices[0] as number] as TrainSequence
  const shared = indices.length > 1 ? (first.promptLength ?? 1) - 1 : 0
  const row: Row = { ids: [], positions: [], branches: [], heads: [] }
  const push = (id: number, position: number, branch: number): void => {
    row.ids.push(id)
    row.positions.push(position)
    row.branches.push(branch)
  }
  for (let t = 0; t < shared; t++) push(first.ids[t] as number, t, 0)
  indices.forEach((index, k) => {
    const sequence = batch[index] as TrainSequence
    const end = computedLength(sequence)
    for (let t = shared; t < end; t++) {
      if (sequence.mask[t + 1] === 1) {
        row.heads.push({ sequence: index, token: t + 1, at: row.ids.length, target: sequence.ids[t + 1] as number })
      }
      push(sequence.ids[t] as number, t, k + 1)
    }
  })
  return row
}

/** Splits a prompt's sequences over the number of rows that costs least. */
function rowsOf(batch: readonly TrainSequence[], group: readonly number[], cost: (tokens: number) => number): Row[] {
  let best: Row[] = []
  let bestCost = Infinity
  for (let per = 1; per <= group.length; per++) {
    if (per > 1 && Math.ceil(group.length / per) === Math.ceil(group.length / (per - 1))) continue
    const rows: Row[] = []
    for (let i = 0; i < group.length; i += per) rows.push(packRow(batch, group.slice(i, i + per)))
    const total = rows.reduce((sum, row) => sum + cost(row.ids.length), 0)
    if (total < bestCost) [best, bestCost] = [rows, total]
  }
  return best
}

/** The whole plan, in the order of the batch. Same input, same plan. */
export function packBatch(batch: readonly TrainSequence[], options: PackingOptions): MicroBatch[] {
  const rows = promptGroups(batch).flatMap((group) => rowsOf(batch, group, options.cost))
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

/** Host arrays of a micro-batch: ids and positions [batch, tokens], bias [batch, 1, tokens, tokens]. */
export function microBatchArrays({ batch, tokens, rows }: MicroBatch): { ids: BigInt64Array; positions: BigInt64Array; bias: Float32Array } {
  const ids = new BigInt64Array(batch * tokens)
  const positions = new BigInt64Array(batch * tokens)
  const bias = new Float32Array(batch * tokens * tokens).fill(-1e9)
  rows.forEach((row, r) => {
    row.ids.forEach((id, i) => {
      ids[r * tokens + i] = BigInt(id)
      positions[r * tokens + i] = BigInt(row.positions[i] as number)
      const base = (r * tokens + i) * tokens
      for (let j = 0; j <= i; j++) if (row.branches[j] === 0 || row.branches[j] === row.branches[i]) bias[base + j] = 0
    })
    // Padding looks at itself: a row of the bias must not be masked throughout.
    for (let i = row.ids.length; i < tokens; i++) bias[(r * tokens + i) * tokens + i] = 0
  })
  return { ids, positions, bias }
}

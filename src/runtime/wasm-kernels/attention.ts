/** Softmax attention of rows over the tokens that they see: rows that follow each other as blocks of eight queries, others one by one. */

import type { Rows } from './heap'
import { LANES } from './kernels'
import { type Batch, type LayerValues, rowAt, type Runner, VIEW_WORDS } from './layer'
import type { Plan } from './plan'
import type { Team } from './team'

/** Keys and values of a layer's tokens: a batch's own, or a cache. */
export interface Tokens {
  keys: Rows
  values: Rows
  /** Whether they lie in a cache: then each row's are read from memory anew. */
  cached: boolean
}

/** A run of tokens that rows see: its first token, its length, and its place among all that they see. */
export interface Run {
  first: number
  n: number
  at: number
}

/** Rows of which each sees the tokens of the one before it and one more. */
export interface Block {
  row: number
  count: number
  /** Of the last row. */
  runs: Run[]
  /** Tokens that the last row sees. */
  total: number
}

/** Blocks of fewer rows are cheaper row by row. */
export const BLOCK_ROWS = 3
/** Most bytes of a row's tokens that are brought near before they are used. */
const NEAR_BYTES = 512 * 1024

/** All rows as blocks; how a row's are cut depends on the rows of its own sequence only. */
export function blocksOf(views: Int32Array, rows: number): Block[] {
  const blocks: Block[] = []
  for (let row = 0; row < rows; row++) {
    const [first1, n1, first2, n2] = [0, 1, 2, 3].map((word) => views[row * VIEW_WORDS + word]) as [number, number, number, number]
    const runs = [{ first: first1, n: n1, at: 0 }, { first: first2, n: n2, at: n1 }].filter(({ n }) => n > 0)
    const last = blocks[blocks.length - 1]
    if (last && last.count < LANES && follows(last.runs, runs)) {
      last.count++
      last.runs = runs
      last.total++
    } else blocks.push({ row, count: 1, runs, total: n1 + n2 })
  }
  return blocks
}

/** A batch's blocks, which all layers share. */
export const blocksIn = ({ heap }: Runner, batch: Batch): Block[] => (batch.blocks ??= blocksOf(heap.integers(batch.views, batch.rows * VIEW_WORDS), batch.rows))

const follows = (before: readonly Run[], after: readonly Run[]): boolean =>
  before.length === after.length && before.every(({ first, n }, i) => first === after[i]?.first && n + (i === before.length - 1 ? 1 : 0) === after[i]?.n)

/** Does `work` for this thread's blocks and groups of heads that share keys. Later rows see more: the threads take turns. */
export function eachUnit({ threads, index }: Team, blocks: readonly Block[], groups: number, work: (block: Block, group: number) => void): void {
  const byBlock = blocks.length >= 2 * threads
  blocks.forEach((block, b) => {
    for (let group = 0; group < groups; group++) if ((byBlock ? b : b * groups + group) % threads === index) work(block, group)
  })
}

/** Floats of a thread's room for blocks that see up to `most` tokens. */
export const attentionRoom = ({ dim }: Plan, most: number): number => LANES * (most + 8) + 2 * LANES * dim

/** Of rows from `wanted` on, and of those that share a block with them: a row alone would be summed in another order. */
export function attend(runner: Runner, batch: Batch, values: LayerValues, tokens: Tokens, wanted = 0): void {
  const { plan, team } = runner
  const { scratch, most } = batch
  const { heads, kv, dim } = plan
  const scores = rowAt(scratch.scores, team.index)
  const lanes = scores + 4 * LANES * (most + 8)
  const per = heads / kv
  let near = -1
  const blocks = blocksIn(runner, batch).filter(({ row, count }) => row + count > wanted)
  eachUnit(team, blocks, kv, (block, group) => {
    if (block.count < BLOCK_ROWS) {
      if (tokens.cached && block.row !== near) touch(runner, block, tokens)
      near = block.row
      for (let row = 0; row < block.count; row++) attendRow(runner, rowOf(block, row), group, values, tokens, scores)
      return
    }
    for (let head = group * per; head < (group + 1) * per; head++) {
      const column = 4 * dim * head
      shares(runner, block, values.turned, tokens, head, scores, lanes)
      mixBlock(runner, block, scores, tokens.values, 4 * dim * group, { at: rowAt(values.mixed, block.row) + column, stride: values.mixed.stride }, lanes)
    }
  })
  team.barrier()
}

/** A block of one of its rows. */
export function rowOf({ row, count, runs, total }: Block, i: number): Block {
  const less = count - 1 - i
  return { row: row + i, count: 1, runs: runs.map((run, r) => (r === runs.length - 1 ? { ...run, n: run.n - less } : run)).filter(({ n }) => n > 0), total: total - less }
}

function touch({ heap }: Runner, { runs }: Block, { keys }: Tokens): void {
  for (const { first, n } of runs) if (4 * n * keys.stride <= NEAR_BYTES) heap.kernels.touch(rowAt(keys, first), 4 * n * keys.stride)
}

/** All heads of a group, two at a time where there are as many. */
function attendRow({ heap: { kernels }, plan }: Runner, { row, runs, total }: Block, group: number, { turned, mixed }: LayerValues, { keys, values }: Tokens, scores: number): void {
  const { heads, kv, dim } = plan
  const per = heads / kv
  const scale = 1 / Math.sqrt(dim)
  const [keyStride, valueStride, column] = [4 * keys.stride, 4 * values.stride, 4 * dim * group]
  const second = 4 * (total + 4)
  for (let head = group * per; head < (group + 1) * per; ) {
    const two = head + 1 < (group + 1) * per
    const query = rowAt(turned, row) + 4 * dim * head
    const out = rowAt(mixed, row) + 4 * dim * head
    for (const { first, n, at } of runs) {
      if (two) kernels.scores2(query, rowAt(keys, first) + column, keyStride, scores + 4 * at, second, n, dim, scale)
      else kernels.scores(query, rowAt(keys, first) + column, keyStride, scores + 4 * at, n, dim, scale)
    }
    for (let i = 0; i < (two ? 2 : 1); i++) kernels.softmax(scores + i * second, total)
    runs.forEach(({ first, n, at }, run) => {
      const add = run > 0 ? 1 : 0
      if (two) kernels.mix2(scores + 4 * at, second, rowAt(values, first) + column, valueStride, out, n, dim, add)
      else kernels.mix(scores + 4 * at, rowAt(values, first) + column, valueStride, out, n, dim, add)
    })
    head += two ? 2 : 1
  }
}

/** What a block's rows pay to each token, [total, 8] at `p`: nothing to tokens behind a row. `lanes`: room for the queries. */
export function shares({ heap, plan }: Runner, { row, count, runs, total }: Block, turned: Rows, { keys }: Tokens, head: number, p: number, lanes: number): void {
  const { heads, kv, dim } = plan
  const { kernels } = heap
  const column = 4 * dim * Math.floor((head * kv) / heads)
  kernels.lanes(rowAt(turned, row) + 4 * dim * head, 4 * turned.stride, count, lanes, dim)
  for (const { first, n, at } of runs) kernels.scores8(lanes, rowAt(keys, first) + column, 4 * keys.stride, p + 4 * LANES * at, n, dim, 1 / Math.sqrt(dim))
  const behind = count - 1
  const last = heap.floats(p + 4 * LANES * (total - behind), LANES * behind)
  const hide = (value: number): void => {
    for (let j = 0; j < behind; j++) for (let lane = 0; lane <= j; lane++) last[j * LANES + lane] = value
  }
  hide(-Infinity)
  kernels.softmax8(p, total)
  hide(0)
}

/** out [count, dim] = Σ over a block's tokens of p · x, where x is keys or values of a head; `room`: [4, dim] for a block that is not whole. */
export function mixBlock({ heap, plan: { dim } }: Runner, { count, runs }: Block, p: number, x: Rows, column: number, out: Rows, room: number): void {
  for (let lane = 0; lane < count; lane += 4) {
    const whole = count >= lane + 4
    const [to, stride] = whole ? [rowAt(out, lane), out.stride] : [room, dim]
    runs.forEach(({ first, n, at }, run) => {
      heap.kernels.outer(p + 4 * (LANES * at + lane), 4 * LANES, rowAt(x, first) + column, 4 * x.stride, to, 4 * stride, n, dim / 8, run > 0 ? 1 : 0)
    })
    if (!whole) for (let i = lane; i < count; i++) heap.floats(rowAt(out, i), dim).set(heap.floats(room + 4 * dim * (i - lane), dim))
  }
}

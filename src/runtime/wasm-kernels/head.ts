/** Final norm and output head over rows: logits with their sums, and the slopes of log-probs and entropies. */

import type { Rows } from './heap'
import { rowAt, type Runner } from './layer'
import { share } from './team'

/** Floats of a row's sums: maximum logit, Σ e, Σ e · (z − maximum), mean logit, 1 / rms. */
export const SUMS = 5

export interface ScoreTask {
  kind: 'score'
  /** Rows of x that are scored: int32 [rows]. */
  at: number
  rows: number
  x: Rows
  normed: Rows
  /** [rows, 8 · panels of the table] */
  logits: Rows
  /** [rows, SUMS] */
  sums: Rows
}

export interface SlopesTask extends Omit<ScoreTask, 'kind'> {
  kind: 'slopes'
  /** int32 [rows] */
  targets: number
  /** log-sum-exp, d loss / d log-prob, d loss / d entropy, entropy: [rows, 4] */
  slopes: Rows
  /** Room, [rows, hidden]. */
  dHidden: Rows
  /** d loss / d x [all rows of x, hidden], to which the scored rows' slopes are added. */
  d: Rows
}

/** Logits over the temperature (the plan's scaled norm holds it) of rows of x, and their sums. */
export function scoreRows({ heap, plan, team }: Runner, { at, rows, x, normed, logits, sums }: ScoreTask): void {
  const { head, hidden, epsilon } = plan
  const { kernels } = heap
  const places = heap.integers(at, rows)
  const [from, to] = share(team, rows, 4)
  for (let row = from; row < to; row++) {
    heap.floats(rowAt(sums, row), SUMS)[4] = kernels.rmsNorm(rowAt(x, places[row] as number), head.scaledNorm, rowAt(normed, row), hidden, epsilon)
  }
  heap.multiply({ at: rowAt(normed, from), stride: normed.stride }, to - from, head.table, { at: rowAt(logits, from), stride: logits.stride })
  for (let row = from; row < to; row++) {
    kernels.logitSums(rowAt(logits, row), head.vocab, rowAt(sums, row))
    heap.floats(rowAt(sums, row), SUMS)[3] = kernels.dot(rowAt(normed, row), head.meanRow, hidden)
  }
  team.barrier()
}

/** d loss / d z = a · e_target − p · (a + b · (log p + H)) for each scored row, through the table and the norm into `d`. Logits are overwritten. */
export function slopeRows({ heap, plan, team }: Runner, { at, rows, x, logits, sums, targets, slopes, dHidden, d }: SlopesTask): void {
  const { head, hidden } = plan
  const { kernels } = heap
  const [places, wanted] = [heap.integers(at, rows), heap.integers(targets, rows)]
  const [from, to] = share(team, rows, 4)
  for (let row = from; row < to; row++) {
    const given = heap.floats(rowAt(slopes, row), 4)
    const of = (i: number): number => given[i] as number
    const z = rowAt(logits, row)
    kernels.logitSlopes(z, z, head.vocab, of(0), of(1), of(2), of(3))
    const own = heap.floats(z, head.vocab)
    own[wanted[row] as number] = (own[wanted[row] as number] as number) + of(1)
  }
  heap.multiply({ at: rowAt(logits, from), stride: logits.stride }, to - from, head.tableBack, { at: rowAt(dHidden, from), stride: dHidden.stride })
  for (let row = from; row < to; row++) {
    const place = places[row] as number
    const rstd = heap.floats(rowAt(sums, row), SUMS)[4] as number
    kernels.rmsNormBackward(rowAt(x, place), head.scaledNorm, rowAt(dHidden, row), rstd, rowAt(d, place), hidden, 1)
  }
  team.barrier()
}

/** Final norm and output head on our own WebAssembly kernels: scores of rows, their slopes, and sampling. */

import { SUMS } from './head'
import type { Heap, Rows } from './heap'
import { PANEL } from './kernels'
import { rowAt } from './layer'
import { limits } from './limits'
import type { Plan } from './plan'
import type { Pool } from './pool'
import { Scratch } from './scratch'

/** A scored row: of x, and the id whose log-prob is asked for. */
export interface ScoredRow {
  at: number
  target: number
}

/** Scores by row. */
export interface KernelScores {
  logprob: Float32Array
  entropy: Float32Array
  lse: Float32Array
  argmax: Int32Array
  meanLogit: Float32Array
}

/** What the head's backward pass needs: logits are there when all were made at once. */
export interface HeadPass {
  rows: readonly ScoredRow[]
  scores: KernelScores
  temperature: number
  room: HeadRoom | null
}

interface HeadRoom {
  /** int32: the scored rows of x. */
  at: number
  normed: Rows
  logits: Rows
  sums: Rows
}

/** d loss / d log-prob and d entropy of the i-th scored row. */
export type SlopeOf = (i: number) => { dLogprob: number; dEntropy: number }

/** A token drawn from a row's distribution. */
export interface Drawn {
  id: number
  logprob: number
  entropy: number
  top: { id: number; prob: number }[]
}

/** A pass whose hidden states [rows, hidden] are scored; what must stay until its end goes to its scratch. */
export interface ScoredPass {
  rows: number
  hidden: Rows
  scratch: Scratch
}

export class KernelHead {
  constructor(
    private readonly heap: Heap,
    private readonly plan: Plan,
    private readonly pool: Pool,
  ) {}

  /** Log-probs and entropies of rows of a pass at a temperature. `trains`: their slopes will be asked for. */
  score({ hidden, scratch }: ScoredPass, rows: readonly ScoredRow[], temperature: number, trains: boolean): HeadPass {
    this.setTemperature(temperature)
    const n = rows.length
    const scores: KernelScores = { logprob: new Float32Array(n), entropy: new Float32Array(n), lse: new Float32Array(n), argmax: new Int32Array(n), meanLogit: new Float32Array(n) }
    const most = this.mostRows
    if (trains && n <= most) return { rows, scores, temperature, room: this.scoreChunk(scratch, hidden, rows, scores, 0) }
    for (let from = 0; from < n; from += most) Scratch.during(this.heap, (own) => this.scoreChunk(own, hidden, rows.slice(from, from + most), scores, from))
    return { rows, scores, temperature, room: null }
  }

  /** Writes d loss / d hidden states into `d` [rows, hidden], from d loss / d log-prob and d entropy of the scored rows. */
  slopes({ rows: all, hidden: x }: ScoredPass, { rows, scores, temperature, room }: HeadPass, slopeOf: SlopeOf, d: Rows): void {
    const { heap, plan } = this
    this.setTemperature(temperature)
    heap.floats(d.at, all * plan.hidden).fill(0)
    const most = room ? rows.length : this.mostRows
    for (let from = 0; from < rows.length; from += most) {
      Scratch.during(heap, (scratch) => {
        const part = rows.slice(from, from + most)
        const chunk = room ?? this.scoreChunk(scratch, x, part, null, from)
        const slopes = scratch.rows(part.length, 4)
        part.forEach((_, i) => {
          const { dLogprob, dEntropy } = slopeOf(from + i)
          heap.floats(rowAt(slopes, i), 4).set([scores.lse[from + i] as number, dLogprob, dEntropy, scores.entropy[from + i] as number])
        })
        const targets = scratch.integers(part.map(({ target }) => target))
        this.pool.run({ kind: 'slopes', ...chunk, rows: part.length, x, targets, slopes, dHidden: scratch.rows(part.length, plan.hidden), d }, this.work(part.length))
      })
    }
  }

  /** Logits of some rows, whose scores are written from `first` on. */
  private scoreChunk(scratch: Scratch, x: Rows, rows: readonly ScoredRow[], scores: KernelScores | null, first: number): HeadRoom {
    const { heap, plan } = this
    const n = rows.length
    const room = { at: scratch.integers(rows.map(({ at }) => at)), normed: scratch.rows(n, plan.hidden), logits: scratch.rows(n, plan.head.table.panels * PANEL), sums: scratch.rows(n, SUMS) }
    this.pool.run({ kind: 'score', ...room, rows: n, x }, this.work(n))
    if (!scores) return room
    rows.forEach(({ target }, i) => {
      const [at, z] = [first + i, heap.floats(rowAt(room.logits, i), plan.head.vocab)]
      const { most, log, entropy, mean } = this.sumsOf(room, i)
      scores.lse[at] = most + log
      scores.logprob[at] = (z[target] as number) - most - log
      scores.entropy[at] = entropy
      scores.argmax[at] = Math.max(0, z.indexOf(most))
      scores.meanLogit[at] = mean
    })
    return room
  }

  /** Maximum logit, log Σ exp(z − maximum), entropy −Σ p log p, mean logit. */
  private sumsOf({ sums }: HeadRoom, row: number): { most: number; log: number; entropy: number; mean: number } {
    const given = this.heap.floats(rowAt(sums, row), SUMS)
    const of = (k: number): number => given[k] as number
    const log = Math.log(of(1))
    return { most: of(0), log, entropy: log - of(2) / of(1), mean: of(3) }
  }

  /** Rows whose logits fit at once. */
  private get mostRows(): number {
    return Math.max(4, Math.floor(limits.logitBytes / 4 / (this.plan.head.table.panels * PANEL)))
  }

  private work(rows: number): number {
    return rows * this.plan.hidden * this.plan.head.vocab
  }

  private setTemperature(temperature: number): void {
    const { head, hidden } = this.plan
    const norm = this.heap.floats(head.norm, hidden)
    this.heap.floats(head.scaledNorm, hidden).set(norm.map((w) => w / temperature))
  }

  /**
   * Draws from softmax(logits / temperature) of hidden states x [rows, hidden] by inverse CDF, or takes the likeliest where `uniform` is null.
   * `top`: the likeliest ids, best first.
   */
  sample(x: Float32Array, temperature: number, uniforms: readonly number[] | null, top: number): Drawn[] {
    const { plan, heap } = this
    const { vocab } = plan.head
    this.setTemperature(temperature)
    return Scratch.during(heap, (scratch) => {
      const count = x.length / plan.hidden
      const from = { at: scratch.floats(x), stride: plan.hidden }
      const room = this.scoreChunk(scratch, from, Array.from({ length: count }, (_, at) => ({ at, target: 0 })), null, 0)
      return Array.from({ length: count }, (_, row) => {
        const { most, log, entropy } = this.sumsOf(room, row)
        const z = rowAt(room.logits, row)
        // exp(z − lse): the slope with a = −1 and nothing else.
        heap.kernels.logitSlopes(z, z, vocab, most + log, -1, 0, 0)
        const probs = heap.floats(z, vocab)
        const likeliest = largest(probs, top)
        const id = uniforms ? inverseCdf(probs, uniforms[row] as number) : (likeliest[0]?.id ?? 0)
        return { id, logprob: Math.log(probs[id] as number), entropy, top: likeliest }
      })
    })
  }
}

/** The `count` largest, best first; of equal ones the first. */
function largest(values: Float32Array, count: number): { id: number; prob: number }[] {
  const out: { id: number; prob: number }[] = []
  let least = -Infinity
  for (let id = 0; id < values.length; id++) {
    const prob = values[id] as number
    if (!(prob > least)) continue
    let place = out.length
    while (place > 0 && prob > (out[place - 1]?.prob as number)) place--
    out.splice(place, 0, { id, prob })
    if (out.length > count) out.pop()
    if (out.length === count) least = out[count - 1]?.prob as number
  }
  return out
}

/** The first id whose running sum exceeds `uniform` of the whole. */
function inverseCdf(probs: Float32Array, uniform: number): number {
  let total = 0
  for (let id = 0; id < probs.length; id++) total += probs[id] as number
  let sum = 0
  for (let id = 0; id < probs.length; id++) {
    sum += probs[id] as number
    if (sum > uniform * total) return id
  }
  return probs.length - 1
}

/** Who of several gets the next prompt, by weight: smooth weighted round-robin, a pure function of the prompt's number. */

import { uniform } from '../core/random'

/** Keeps these draws apart from all others of a run. */
const MEMBER_KEY = 0x6d697865

/**
 * In every window of as many prompts as the weights sum to (whole numbers), each member comes exactly as often as it weighs, and its
 * turns are spread out. The first of several that are due comes first.
 */
export class RoundRobin {
  private readonly total: number
  private readonly credit: number[]
  private readonly order: number[] = []
  /** How often the member of each prompt had come before. */
  private readonly ranks: number[] = []
  private readonly counts: number[]

  constructor(private readonly weights: readonly number[]) {
    this.total = weights.reduce((sum, weight) => sum + weight, 0)
    this.credit = weights.map(() => 0)
    this.counts = weights.map(() => 0)
  }

  /** The member whose turn prompt number `prompt` is, from 0, and how many prompts it had before. */
  turn(prompt: number): { member: number; rank: number } {
    while (this.order.length <= prompt) this.next()
    return { member: this.order[prompt] ?? 0, rank: this.ranks[prompt] ?? 0 }
  }

  /** A member by chance, for a prompt out of the order. */
  drawn(seed: number): number {
    let left = uniform(seed, MEMBER_KEY) * this.total
    const at = this.weights.findIndex((weight) => (left -= weight) < 0)
    return at < 0 ? this.weights.length - 1 : at
  }

  private next(): void {
    let best = 0
    for (const [i, weight] of this.weights.entries()) {
      const credit = (this.credit[i] ?? 0) + weight
      this.credit[i] = credit
      if (credit > (this.credit[best] ?? 0)) best = i
    }
    this.credit[best] = (this.credit[best] ?? 0) - this.total
    this.order.push(best)
    this.ranks.push(this.counts[best] ?? 0)
    this.counts[best] = (this.counts[best] ?? 0) + 1
  }
}

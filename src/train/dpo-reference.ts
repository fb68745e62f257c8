/** What the reference gives the answers of a pair: scored once, however often the pair comes back (TRL's precompute_ref_log_probs). */

import type { SequenceScores, Trainer } from '../core/engine'
import type { DpoPair } from './dpo'

/** [tokens] each, nats; 0 where nothing is trained. */
export interface PairReference {
  chosen: ArrayLike<number>
  rejected: ArrayLike<number>
}

export class DpoReference {
  private readonly known = new WeakMap<DpoPair, PairReference>()

  /**
   * @param adapter 'reference': the frozen copy of a LoRA. 'current': the weights as they are now, where there is no copy; every pair
   *   must then be asked for before the first optimizer step.
   */
  constructor(
    private readonly engine: Pick<Trainer, 'score' | 'version'>,
    private readonly adapter: 'reference' | 'current',
    private readonly version = engine.version,
  ) {}

  /**
   * Of each pair, in order. A pair is the same while it is the same object.
   * @throws RangeError for a pair that was not asked for before the weights changed
   */
  async of(pairs: readonly DpoPair[]): Promise<PairReference[]> {
    const missing = [...new Set(pairs)].filter((pair) => !this.known.has(pair))
    if (missing.length > 0) {
      if (this.adapter === 'current' && this.engine.version !== this.version) throw new RangeError('the weights have changed: there is nothing left to score this pair with')
      const answers = [...missing.map(({ chosen }) => chosen), ...missing.map(({ rejected }) => rejected)]
      const scores = await this.engine.score(answers, { temperature: 1, adapter: this.adapter })
      const at = (i: number): ArrayLike<number> => (scores[i] as SequenceScores).logprobs
      missing.forEach((pair, i) => this.known.set(pair, { chosen: at(i), rejected: at(missing.length + i) }))
    }
    return pairs.map((pair) => this.known.get(pair) as PairReference)
  }
}

/** How fast a step was: tokens per second of sampling and of training. */

import type { Episode } from '../core/episode'
import type { Metrics, StepRecord } from '../core/events'
import { countTrained, sum } from '../rl'

/**
 * tokens_per_second/sampling = tokens that the model wrote, all slots together, ÷ the sampling's time, waits for the environment included;
 * tokens_per_second/training = tokens of the sequences that went through the update, prompt included, once for each iteration, ÷ its time.
 * null where no time passed. `trained`: those of the episodes that took part.
 */
export function throughputMetrics(
  episodes: readonly Episode[],
  trained: readonly Episode[],
  iterations: number,
  { sampling, training }: StepRecord['seconds'],
): Metrics {
  const written = sum(episodes.map(({ mask }) => countTrained(mask)))
  const seen = sum(trained.map(({ ids }) => ids.length)) * iterations
  return {
    'tokens_per_second/sampling': sampling > 0 ? written / sampling : null,
    'tokens_per_second/training': training > 0 ? seen / training : null,
  }
}

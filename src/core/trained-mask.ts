/** Which tokens of a finished step's episode the loss saw, as its record tells. */

import type { ScoredEpisode } from './events'

/**
 * An episode's mask, or all zeros where the update left the episode out: it has no reward, its group was sampled again,
 * or it was cut off under mask_truncated_completions, which is seen from there being no log-probs of the update.
 * Ended episodes without log-probs are of TRL's table, which records none.
 */
export function trainedMask({ mask, reward, terminated, trainLogprobs, discarded }: Pick<ScoredEpisode, 'mask' | 'reward' | 'terminated' | 'trainLogprobs'> & { discarded?: true }): (0 | 1)[] {
  const leftOut = discarded || reward === null || (!terminated && trainLogprobs === null)
  return leftOut ? mask.map(() => 0) : [...mask]
}

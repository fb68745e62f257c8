/** When a run is over. */

import type { GrpoConfig } from '../core/config'
import type { StepRecord } from '../core/events'
import { mean } from '../rl/statistics'

/** Steps whose mean reward is compared with `target_reward`. */
export const TARGET_WINDOW = 5

/**
 * Why the run ends after these steps, or null to go on. `records` are in order and may lack old ones.
 *
 * - 'target-reward': the mean of `reward` over the last five steps has reached `target_reward` (never before five steps),
 * - 'step-limit': step `max_steps` is done (steps count from 1).
 */
export function shouldStop(
  records: readonly Pick<StepRecord, 'step' | 'metrics'>[],
  config: Pick<GrpoConfig, 'max_steps' | 'target_reward'>,
): 'step-limit' | 'target-reward' | null {
  if (config.target_reward !== null && records.length >= TARGET_WINDOW) {
    const reached = mean(records.slice(-TARGET_WINDOW).map((record) => record.metrics['reward'] ?? null))
    if (reached !== null && reached >= config.target_reward) return 'target-reward'
  }
  return (records.at(-1)?.step ?? 0) >= config.max_steps ? 'step-limit' : null
}

/** The learning rate at each optimizer step: transformers' `get_scheduler` formulas, so that curves compare with TRL's. */

import type { LrSchedulerType } from '../core/config'

/**
 * Factor on `learning_rate` at optimizer step `step` (0 = the first one), in [0, 1].
 *
 * Warm-up rises linearly from 0 and reaches 1 at step `warmup_steps` (so with warm-up, the very first step has rate 0, as
 * in transformers). Then 'linear' falls to 0 at `total`, 'cosine' follows half a period to 0 at `total`, 'constant' stays
 * at 1 (transformers calls constant with a warm-up `constant_with_warmup`).
 *
 * @param total optimizer steps of the whole run (max_steps × num_iterations)
 */
export function learningRateFactor(type: LrSchedulerType, step: number, warmup_steps: number, total: number): number {
  if (step < warmup_steps) return step / Math.max(1, warmup_steps)
  switch (type) {
    case 'constant':
      return 1
    case 'linear':
      return Math.max(0, (total - step) / Math.max(1, total - warmup_steps))
    case 'cosine': {
      const progress = (step - warmup_steps) / Math.max(1, total - warmup_steps)
      // Past the end transformers' cosine rises again; a run that goes on there must not.
      return progress >= 1 ? 0 : 0.5 * (1 + Math.cos(Math.PI * progress))
    }
  }
}

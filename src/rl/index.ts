/**
 * GRPO in plain arrays, to be read in this order:
 *
 * 1. `advantages.ts`  rewards of a group of attempts at one task → how much better than its siblings each attempt was
 * 2. `loss.ts`        advantage and log-probabilities → the loss and its derivative by every log-probability
 *    (`terms.ts`: one token's term for each loss_type; `ratio.ts`: how far the policy has moved, and what follows from it;
 *    `entropy.ts`: train where the policy is undecided; `formulas.ts`: what each loss_type divides by, and how it is written)
 * 3. `kl.ts`          the optional pull back to the reference policy
 * 4. `schedule.ts`    the learning rate at each optimizer step
 * 5. `metrics.ts`     what of all this is worth a curve, under TRL's names (`statistics.ts` holds the means behind them;
 *    `evaluation.ts`: the same of episodes that nothing is trained on; `metric-names.ts`: which names are taken)
 * 6. `sft.ts`         imitation instead of trial and error: the loss that pretraining uses
 * 7. `dpo.ts`         preferences instead of rewards: this answer rather than that one
 *
 * Nothing here knows a model, a browser or an environment. A network enters only through the chain rule: the engine
 * multiplies d loss / d log-prob by d log-prob / d weight.
 */

export * from './advantages'
export * from './dpo'
export * from './entropy'
export * from './evaluation'
export * from './formulas'
export * from './kl'
export * from './loss'
export * from './metric-names'
export * from './metrics'
export * from './ratio'
export * from './schedule'
export * from './sft'
export * from './statistics'
export * from './terms'

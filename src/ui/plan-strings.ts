/** Words of the plan of stages; they come with its panel, not with the page. */

import type { PlannedStage, StageKind } from '../core/stage'
import type { PlanDoing } from '../worker/protocol'
import { plural } from './format'

export const PLAN_STRINGS = {
  menu: 'SFT, DPO, GRPO in one press',
  menuHint: 'A run that makes three stages by itself, on a game with a tool that the model does not know',
  title: 'Plan',
  lead: 'One press of Train makes these stages in turn, on the same adapter. Each goes on from where the one before it ended.',
  kinds: { sft: 'SFT: imitate', dpo: 'DPO: prefer', grpo: 'GRPO: try and compare' } satisfies Record<StageKind | 'grpo', string>,
  kindHelp: {
    sft: 'Supervised fine-tuning: every token that the demonstrations write becomes likelier. Games of random calls show the form of a call and no good choice, so what rises is the share of valid calls. No reward is used.',
    dpo: 'Direct preference optimization: in each group that the model has just played, the better episode becomes likelier and the worse one less likely, measured from the adapter as SFT left it. A group whose rewards are all equal gives no pair.',
    grpo: 'The model plays, and each episode is compared with its group: tokens of the better ones become likelier. New episodes at every step, from the adapter as the last stage left it.',
  } satisfies Record<StageKind | 'grpo', string>,
  rows: ({ rows }: PlannedStage): string => {
    switch (rows.from) {
      case 'random':
        return `${plural(rows.games, 'game')} of random calls`
      case 'episodes':
        return `own episodes with reward from ${rows.least}, ${plural(rows.groups, 'group')}`
      case 'pairs':
        return `better and worse of ${plural(rows.groups, 'own group')}`
    }
  },
  grpoRows: 'new episodes at every step',
  steps: (n: number) => plural(n, 'step'),
  settings: ({ kind, settings: { learning_rate, per_device_train_batch_size, loss_type, beta } }: PlannedStage) =>
    `learning_rate ${learning_rate}, ${plural(per_device_train_batch_size, 'row')} a step${kind === 'dpo' ? `, ${loss_type}, beta ${beta}` : ''}`,
  states: { waits: 'Waits', now: 'Now', done: 'Done', skipped: 'Left out' },
  doing: { before: 'Measuring before it', rows: 'Playing its rows', training: 'Training', after: 'Measuring after it' } satisfies Record<PlanDoing, string>,
  progress: (doing: string, done: number, of: number) => `${doing} ${done}/${of}`,
  measured: { valid: 'valid calls', success: 'success' },
  change: (before: number, after: number) => `${before.toFixed(2)} → ${after.toFixed(2)}`,
  only: (before: number) => before.toFixed(2),
  unknown: 'not measured yet',
  legend: {
    lead: 'the stage’s own metric, named below it',
    success: 'success',
    valid: 'valid calls',
    where: (heldOut: boolean, episodes: number) => `${heldOut ? 'Held-out' : 'Training'} scenarios, ${plural(episodes, 'episode')} each time.`,
  },
  legendName: 'What is drawn',
  legendHelp:
    'All on one scale from 0 to 1, one stage after the other. The line is what the stage itself raises: mean_token_accuracy in SFT, rewards/accuracies in DPO, the success of the step’s own episodes in GRPO. The points are the policy on fixed scenarios, before and after each stage and at GRPO’s evaluations: how many are solved, and how many are ended by calls that fit the tools.',
  bandSays: (name: string, metric: string, first: string, last: string, steps: number) => (steps === 0 ? `${name}: nothing yet` : `${name}, ${metric}: ${first} at step 1, ${last} at step ${steps}`),
  remove: 'Leave the stages out',
  removeHint: 'GRPO alone, with the tools as they are',
  removedLater: 'This takes effect with the next run, by Reset.',
} as const

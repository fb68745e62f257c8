/** Words of the plan of stages; they come with its panel, not with the page. */

import type { PlannedStage, StageKind, StageRows } from '../core/stage'
import type { PlanDoing } from '../worker/protocol'
import { CONTROLS_STRINGS } from './controls-strings'
import { plural } from './format'

export const PLAN_STRINGS = {
  menuLabel: 'A run in stages',
  menu: 'SFT, DPO, GRPO in one press',
  menuHint: 'A run that makes three stages by itself, on a game with a tool that the model does not know',
  title: 'Plan',
  lead: 'One press of Train makes these stages in turn, on the same adapter. Each goes on from where the one before it ended.',
  kinds: { sft: 'SFT: imitate', dpo: 'DPO: prefer', grpo: 'GRPO: try and compare' } satisfies Record<StageKind | 'grpo', string>,
  kindHelp: {
    sft: 'Supervised fine-tuning: every token that the demonstrations write becomes likelier. Games of random calls show the form of a call and no good choice, so what rises is the share of valid calls. Own episodes with a high reward show good choices too.',
    dpo: 'Direct preference optimization: in each group that the model has just played, the better episode becomes likelier and the worse one less likely, measured from the adapter as the stage began. A group whose rewards are all equal gives no pair.',
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
  leaveOut: 'Leave the stages out',
  leaveOutHint: 'GRPO alone, with the tools as they are',
  fixed: 'A run that has begun keeps its plan. Reset begins anew; then it can be changed.',
  stageName: CONTROLS_STRINGS.stagePlace,
  edit: 'Edit',
  done: 'Done',
  earlier: 'Earlier',
  later: 'Later',
  remove: 'Remove',
  actionHints: { earlier: 'Before the stage that is before it now', later: 'After the stage that is after it now', remove: 'Take it out of the plan; it can be put back' },
  refused: (why: string) => `${why}. Correct it: training waits for that.`,
  grpoLast: 'Always last, with the settings of the run (Task).',
  add: 'Add a stage',
  addHelp: 'It comes last, just before GRPO, and begins with settings that suit the model; Edit changes them, Earlier and Later its place. A usual order is SFT first, so that the model can write what DPO and GRPO then choose from. A plan has at most 8 stages.',
  full: (most: number) => `A plan has at most ${most} stages: remove one first.`,
  putBack: (name: string) => `Put back ${name}`,
  editorName: (name: string) => `Rows and settings of ${name}`,
  source: 'Rows',
  sourceHelp: 'What the stage is trained on. Nobody has to give it: the run plays it when the stage’s turn comes, on training scenarios by seeds of its own, with the prompts, tools and limits of the run.',
  sources: { random: 'Random games', episodes: 'Own episodes', pairs: 'Pairs of own episodes' },
  sourceSays: (rows: StageRows, size: number): string => {
    switch (rows.from) {
      case 'random':
        return 'Games whose every call is drawn from all that fit the tools. They teach the form of a call, not which one is good.'
      case 'episodes':
        return `The model plays ${plural(rows.groups, 'group')} of ${plural(size, 'episode')}, and those with a reward of ${rows.least} or more are imitated.`
      case 'pairs':
        return `The model plays ${plural(rows.groups, 'group')} of ${plural(size, 'episode')}. In each the best is preferred to the worst, the second best to the second worst, as long as their rewards differ.`
    }
  },
  notRandomly: 'This environment cannot be played at random: its tools need arguments that are no choice from a list. Choose own episodes; as it is, the stage would be left out.',
  fields: { games: 'games', groups: 'groups', least: 'reward from' },
  fieldHelp: {
    games: 'How many games of random calls are played; each is one row. 1 to 4096.',
    groups: 'How many groups of num_generations episodes the model plays, each group from one scenario. More groups give more rows and take longer. 1 to 4096.',
    least: 'An episode is imitated if its reward is at least this. If none has it, the stage is left out and the run goes on.',
  },
} as const

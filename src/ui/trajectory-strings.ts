/** The words of the trajectory: its turns, the colours of its tokens, the numbers of one token. */

import type { Heat } from '../store/display'

export const TRAJECTORY_STRINGS = {
  title: 'Trajectory',
  lead: 'The selected episode. Hatched tokens are masked: the loss does not see them.',
  empty: 'The selected episode appears here, token by token, while it is played.',
  showPrompt: (n: number) => `Show the ${n} prompt tokens`,
  hidePrompt: (n: number) => `Hide the ${n} prompt tokens`,
  showAll: (n: number) => `Show all ${n} tokens`,
  showFewer: 'Show fewer tokens',
  /** Below the drawn part of a long episode. */
  notDrawn: (n: number) => `${n} more tokens are not drawn.`,
  colour: 'Colour by',
  blanks: 'Blanks as signs',
  blanksHint: '␣ a space, ⏎ a line break, ⇥ a tab, in every token',
  hint: 'Hover or focus a token for its numbers; arrow keys move between tokens. A click or Enter keeps one: the loss under Update is then its own.',
  reward: 'reward',
  prompt: 'Prompt',
  turn: (n: number) => `Turn ${n}`,
  /** Who speaks in a part of the chat. The roles are those of the chat template. */
  roles: { model: 'model', environment: 'environment', template: 'template', system: 'system', user: 'user', assistant: 'assistant', tool: 'tool' },
  /** Last line of an ended episode. */
  row: 'Columns of its row',
  ended: (why: string) => `End: ${why}.`,
  step: (n: number) => `Step ${n}`,
  group: (n: number) => `group ${n}`,
  masked: 'masked: contributes 0 to the loss',
  maskedShort: 'masked',
  trained: 'trained',
  later: 'after the update',
  alternatives: 'Likeliest tokens',
  other: 'sampled',
  jumps: {
    label: 'Keep a token',
    surprising: 'Most surprising',
    surprisingHint: 'The trained token that was least likely when it was sampled',
    changed: 'Biggest change',
    changedHint: 'The trained token whose log-prob has changed most since it was sampled',
    changedWhy: 'Colour by “change since” first: it computes the change',
    previous: 'Previous trained token',
    next: 'Next trained token',
  },
  /** What a colour says, in one line beside its scale. */
  meaning: {
    author: 'who wrote each token',
    logprob: 'log-prob when it was sampled, nats: 0 is certain',
    probability: 'probability when it was sampled',
    entropy: 'entropy of the choice, nats: 0 is no choice',
    difference: 'trainer’s log-prob − sampler’s, nats',
    ratio: 'probability at the last optimizer step ÷ when sampled',
    kl: 'KL to the base model (k3), nats: 0 where both agree',
    advantage: 'advantage × mask: ▲ is made likelier',
    change: 'log-prob now − when sampled, nats: ▲ became likelier',
  } satisfies Record<Heat, string>,
  /** Why a colour has no values yet, or never has. */
  without: {
    nothing: 'No token here is trained, so none has a value.',
    afterUpdate: 'Known after the update of this step.',
    afterRewards: 'Known when all rewards of the step are in.',
    unrecorded: 'The record does not hold it.',
    recording: 'This recording does not hold it, and no model stands behind it to be asked.',
    sameRatio: 'With num_iterations 1 the ratio is exactly 1 at every token: the only optimizer step begins at the policy that sampled. With max_staleness 1 it begins one update later.',
    computing: 'Computing: the model reads this episode once more.',
    busy: 'The model is busy. It is computed as soon as the run is paused.',
    noModel: 'Computed once a model is loaded.',
  },
  /** Which state of the adapter an examination is of. */
  asOf: (step: number) => `now: after step ${step}`,
} as const

export const TOKEN_STRINGS = {
  id: 'id',
  author: 'author',
  mask: 'mask',
  probability: 'probability',
  samplerLogprob: 'log-prob (sampler)',
  trainerLogprob: 'log-prob (trainer)',
  entropy: 'entropy',
  ratio: 'ratio',
  kl: 'KL to base (k3)',
  change: 'change since',
  advantage: 'advantage',
  position: (n: number, of: number) => `token ${n} of ${of}`,
  /** How blanks are read aloud. */
  spoken: { empty: 'nothing', space: 'space', break: 'line break', tab: 'tab' },
} as const

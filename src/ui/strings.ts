/** Every word a person reads on the page, in one place. TRL's term first, then what it means. */

import type { ScaleRewards } from '../core/config'
import type { ExitReason, Author } from '../core/episode'
import type { Heat } from '../store/display'
import { ADDRESS_STRINGS } from './address-strings'
import { CHAT_STRINGS } from './chat-strings'
import { CURVES_STRINGS } from './curves-strings'
import { ENVIRONMENT_STRINGS } from './environment-strings'
import { FORMULA_STRINGS } from './formula-strings'
import { HELP_STRINGS } from './help-strings'
import { MODEL_STRINGS } from './model-strings'
import { REPLAY_STRINGS } from './replay-strings'
import { RUNS_STRINGS } from './runs-strings'
import { TAKE_AWAY_STRINGS } from './take-away-strings'

export const S = {
  product: 'GRPO Playground',
  tagline: 'Watch a small language model learn by reinforcement learning, live, in this tab.',
  loop: 'The loop',
  bar: {
    train: 'Train',
    resume: 'Resume',
    pause: 'Pause',
    step: 'Step',
    reset: 'Reset',
    finishedHint: 'The run has reached its end. Raise max_steps under Settings to go on from here, or press Reset for a fresh adapter.',
    trainHint: 'Run GRPO steps until the limit or Pause',
    pauseHint: 'Stop after the current token; the step resumes where it stood',
    stepHint: 'Run one GRPO step',
    resetHint: 'A new run from step 0 with a fresh adapter; this one stays under Runs',
    resetFresh: 'Begin anew at step 0',
    resetChanged: 'A new run from step 0 with the new settings; this one stays under Runs',
    changed: 'Settings changed: press Reset',
    copyLink: 'Copy link',
    copied: 'Link copied',
    copyFailed: 'The browser did not allow copying; the link is in the address bar.',
    theme: { system: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' },
    seed: 'seed',
    noEngine: 'no engine yet',
  },
  task: {
    title: 'Task',
    lead: 'What the model must do, and the settings of the run.',
    environment: 'Environment',
    preset: 'Preset',
    ownServer: 'Your own server',
    known: 'Known environments…',
    url: 'OpenEnv server',
    consentShort: 'Press Connect to use the server of this link',
    scene: 'Scene',
    systemPrompt: 'System prompt',
    userPrompt: 'User prompt',
    noPrompt: 'none',
    observationFollows: 'The first observation follows the user prompt.',
    tools: 'Tools',
    noTools: 'Known once the environment is connected.',
    settings: 'Settings',
    groups: { loss: 'Loss', schedule: 'Schedule', sampling: 'Sampling', lora: 'LoRA and backend' },
    targets: 'target_modules',
    backend: 'backend',
    changed: 'Settings changed: press Reset to use the new settings.',
    changedFresh: 'Settings changed: Train and Step will use them.',
    changedModel: 'Another model or adapter is chosen: press Load under Model to use it.',
    undo: 'Undo',
    undoHint: 'Back to the settings that the run has',
    open: 'Change task, model and settings',
    close: 'Close',
    back: (name: string) => `Set ${name} back to its starting value`,
  },
  address: ADDRESS_STRINGS,
  model: MODEL_STRINGS,
  group: {
    title: 'Group of episodes',
    short: 'Group',
    lead: 'The same prompt and the same seed, played several times.',
    empty: 'Press Step: the model plays these episodes, and each grows here as it is written.',
    picker: 'Group',
    of: (n: number) => `of ${n}`,
    previous: 'Previous group',
    next: 'Next group',
    seed: (seed: number) => `environment seed ${seed}`,
    byAdvantage: 'by advantage',
    episode: (n: number) => `Episode ${n}`,
    gone: (step: number) => `The episodes of step ${step} are no longer kept; its numbers are under Update.`,
    follow: 'Follow the newest step',
    success: 'solved',
    failure: 'not solved',
    done: 'done',
    unscorable: 'unscorable',
    failed: 'server failed',
    unreadable: 'not readable',
    budget: 'ran out',
    stopped: 'stopped',
    writing: 'writing',
    waiting: 'waiting',
    pending: 'not started',
  },
  authors: { model: 'model', environment: 'environment', template: 'template' } satisfies Record<Author, string>,
  rewards: {
    title: 'Rewards → advantages',
    short: 'Rewards',
    lead: {
      group: "Each reward minus the group's mean, over its standard deviation.",
      batch: "Each reward minus the group's mean, over the whole step's standard deviation.",
      none: "Each reward minus the group's mean; scale_rewards is none, so nothing divides it.",
    } satisfies Record<ScaleRewards, string>,
    empty: 'Rewards appear when every episode of the step has ended.',
    mean: 'mean',
    std: 'std',
    stdLong: 'standard deviation of the rewards of the group (ddof 1)',
    noSignal: 'no signal',
    noSignalWhy: 'All rewards of this group are equal, so every advantage is 0 and the group teaches nothing.',
    noneScorable: 'No episode of this group could be scored, so it teaches nothing.',
    reward: 'reward',
    advantage: 'advantage',
    unscorable: (n: number) => `${n === 1 ? 'One episode' : `${n} episodes`} unscorable: left out of the mean, advantage 0.`,
    better: "better than its group's average, so its tokens become more likely",
    worse: "worse than its group's average, so its tokens become less likely",
    equal: "its group's average, so its tokens stay as they are",
  },
  update: {
    title: 'Update',
    lead: "One optimizer step on the LoRA adapter; only the model's own tokens count.",
    empty: 'The numbers of the update appear after the first step.',
    step: (n: number) => `after step ${n}`,
  },
  formula: FORMULA_STRINGS,
  trajectory: {
    title: 'Trajectory',
    lead: 'The selected episode. Hatched tokens are masked: the loss does not see them.',
    empty: 'The selected episode appears here, token by token, while it is played.',
    showPrompt: (n: number) => `Show the ${n} prompt tokens`,
    hidePrompt: (n: number) => `Hide the ${n} prompt tokens`,
    colour: 'Colour by',
    hint: 'Hover or focus a token for its numbers; arrow keys move between tokens. A click or Enter keeps one: the loss under Update is then its own.',
    reward: 'reward',
    prompt: 'Prompt',
    turn: (n: number) => `Turn ${n}`,
    masked: 'masked: contributes 0 to the loss',
    trained: 'trained',
    later: 'after the update',
    alternatives: 'Likeliest tokens',
    other: 'sampled',
  },
  token: {
    id: 'id',
    author: 'author',
    mask: 'mask',
    samplerLogprob: 'log-prob (sampler)',
    trainerLogprob: 'log-prob (trainer)',
    probability: 'probability',
    entropy: 'entropy',
    advantage: 'advantage',
    position: (n: number, of: number) => `token ${n} of ${of}`,
  },
  curves: CURVES_STRINGS,
  notices: { title: 'Notices', one: 'notice', many: 'notices', info: 'Note', warning: 'Warning', times: (n: number) => `×${n}`, steps: stepsInWords },
  chat: CHAT_STRINGS,
  environment: ENVIRONMENT_STRINGS,
  replay: REPLAY_STRINGS,
  runs: RUNS_STRINGS,
  takeAway: TAKE_AWAY_STRINGS,
  crash: {
    title: 'A part of the page failed to draw.',
    advice: 'The run itself goes on in its worker. Try to draw it again; if that fails, reload the page.',
    retry: 'Draw again',
    notLoaded: 'This part of the page could not be fetched: the connection is gone, or the site was renewed since this page was opened. Nothing else is lost.',
  },
  explain: (what: string) => `What is ${what}?`,
  help: HELP_STRINGS,
} as const

/** '19 of 50 steps, last 48–50'; `steps` rise. */
function stepsInWords(steps: readonly number[], of: number): string {
  const last = steps.at(-1) ?? 0
  let first = last
  while (steps.includes(first - 1)) first--
  return `${steps.length} of ${Math.max(of, last)} steps, last ${first === last ? last : `${first}–${last}`}`
}

/** Why an episode ended, as words. */
export const EXITS: Record<ExitReason, string> = {
  env_done: 'the environment ended it',
  answered: 'answered without a tool call',
  turn_limit: 'max_tool_calling_iterations reached',
  token_limit: 'max_completion_length reached',
  env_error: 'the environment failed',
  env_unreadable: 'the environment’s answer could not be read',
  stopped: 'stopped by hand',
}

export const HEAT_NAMES: Record<Heat, string> = {
  author: 'author',
  logprob: 'log-prob',
  probability: 'probability',
  entropy: 'entropy',
  difference: 'trainer − sampler',
  ratio: 'ratio',
  kl: 'KL to base',
  advantage: 'advantage × mask',
  change: 'change since',
}

/** Every word a person reads on the page, in one place. TRL's term first, then what it means. */

import type { ScaleRewards } from '../core/config'
import type { ExitReason, Author } from '../core/episode'
import type { SettingKey } from '../store/settings'
import type { Heat } from '../store/selection-store'
import { ADDRESS_STRINGS } from './address-strings'
import { CHAT_STRINGS } from './chat-strings'
import { ENVIRONMENT_STRINGS } from './environment-strings'
import { FORMULA_STRINGS } from './formula-strings'
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
  curves: {
    title: 'Curves',
    lead: 'One point per GRPO step. The band runs from the lowest to the highest reward of the step.',
    empty: 'The first point appears after the first step.',
    loading: 'Loading the chart',
    noValues: 'This run has no values for it.',
    table: 'Table',
    chart: 'Chart',
    metric: 'Metric',
    reward: 'reward, mean and range',
    step: 'step',
    lowest: 'lowest reward',
    highest: 'highest reward',
    summary: (name: string, first: string, last: string, steps: number) => `${name} over ${steps} steps: first ${first}, last ${last}.`,
  },
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
  },
  explain: (what: string) => `What is ${what}?`,
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
  advantage: 'advantage × mask',
}

/** One line beside each setting's '?'. */
export const SETTING_HELP: Record<SettingKey | 'target_modules' | 'backend' | 'environment', string> = {
  seed: 'Every random number of the run follows from it: the same settings and seed give the same run.',
  learning_rate:
    'How far one optimizer step moves the adapter. Too small: nothing happens. Too large: the model forgets how to call tools.',
  num_generations: 'G, the group size: how many episodes start from the same prompt and seed and are compared with each other.',
  prompts_per_step: 'Groups per GRPO step, each with its own scenario. More groups: a steadier update, a longer step.',
  max_steps: 'The run ends after this many GRPO steps.',
  temperature: 'Divides the logits before sampling. Above 1 the model tries more, below 1 it repeats itself more.',
  loss_type:
    'Over what token losses are averaged: the sequence (grpo), the whole step’s tokens (bnpo, as one micro-batch), a fixed length (dr_grpo), the whole step (dapo).',
  scale_rewards: 'What the reward differences are divided by: the standard deviation of the group, of the whole batch, or nothing.',
  epsilon: 'Clip range: a token stops pushing once its probability has changed by this share since it was sampled.',
  epsilon_high: 'A separate upper clip range; off means the same as epsilon.',
  beta: 'Weight of the KL term that holds the policy near its start; 0 leaves it out.',
  num_iterations: 'μ: optimizer steps on the same episodes before new ones are sampled.',
  lr_scheduler_type: 'How the learning rate runs over the steps: level, falling in a line, or falling as a cosine.',
  warmup_steps: 'Optimizer steps over which the learning rate rises from 0.',
  max_grad_norm: 'A gradient longer than this is shortened to it before the step.',
  target_reward: 'The run ends early when the mean reward of the last five steps reaches this; off means never.',
  max_completion_length: 'Token budget of an episode after its prompt: what the model writes and what the tools answer.',
  max_tool_calling_iterations: 'Most rounds of tool calls in an episode.',
  top_p: 'Sample only from the likeliest tokens that together have this probability; 1 is off.',
  top_k: 'Sample only from this many likeliest tokens; 0 is off.',
  min_p: 'Leave out tokens with less than this share of the likeliest one; off means none.',
  r: "LoRA's rank: how many directions the adapter may change in each layer.",
  lora_alpha: "LoRA's scale: the adapter's output is multiplied by lora_alpha ÷ r.",
  target_modules: 'The linear layers that get an adapter.',
  backend: 'Where the model computes: WebGPU where there is a real adapter, else WebAssembly (WASM). A change loads the engine again.',
  environment: 'What answers the tool calls: a game inside this page, or an OpenEnv server.',
}

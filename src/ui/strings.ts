/** Every word a person reads on the page, in one place. TRL's term first, then what it means. */

import type { ExitReason, Author } from '../core/episode'
import type { Heat } from '../store/display'
import { ADDRESS_STRINGS } from './address-strings'
import { CHAT_STRINGS } from './chat-strings'
import { COMPARE_STRINGS } from './compare-strings'
import { CONTROLS_STRINGS } from './controls-strings'
import { CURVES_STRINGS } from './curves-strings'
import { ENVIRONMENT_STRINGS } from './environment-strings'
import { FORMULA_STRINGS } from './formula-strings'
import { HELP_STRINGS } from './help-strings'
import { GROUP_STRINGS, REWARDS_STRINGS } from './group-strings'
import { MODEL_STRINGS } from './model-strings'
import { REPLAY_STRINGS } from './replay-strings'
import { RUNS_STRINGS } from './runs-strings'
import { TIMELINE_STRINGS } from './timeline-strings'
import { TEACH_STRINGS } from './teach-strings'
import { TOKEN_STRINGS, TRAJECTORY_STRINGS } from './trajectory-strings'

export const S = {
  product: 'GRPO Playground',
  tagline: 'Watch a small language model learn by reinforcement learning, live, in this tab.',
  loop: 'The loop',
  controls: CONTROLS_STRINGS,
  bar: {
    changed: 'Settings changed: press Reset',
    refused: (key: string, value: string) => `${key} not taken: ${value} is used`,
    takeAway: 'Take away',
    takeAwayHint: 'Download the adapter and everything else of this run, measure it, publish it, move on to TRL',
    copyLink: 'Copy link',
    copied: 'Link copied',
    copiedWithout: (names: readonly string[]) => `Link copied, without the rows of ${names.join(', ')}: too long for a link`,
    copyFailed: 'The browser did not allow copying; the link is in the address bar.',
    theme: { system: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' },
    more: 'more',
    allOfIt: 'Read more: the whole sentence',
    seed: 'seed',
    noEngine: 'no engine yet',
  },
  task: {
    title: 'Task',
    lead: 'What the model must do, and the settings of the run.',
    environment: 'Environment',
    preset: 'Preset',
    ownServer: 'Your own server',
    ownPrompts: 'A dataset of prompts',
    ownClass: 'Your own class (JavaScript)',
    several: 'Several environments',
    severalPrompts: 'Each environment has prompts of its own: see under Environment.',
    toolsOf: 'Tools of the environment',
    known: 'Known environments…',
    url: 'OpenEnv server',
    consentShort: 'Press Connect to use the server of this link',
    consentAllow: 'Press Allow under Task to use what this link names',
    scene: 'Scene',
    systemPrompt: 'System prompt',
    userPrompt: 'User prompt',
    noPrompt: 'none',
    sceneComes: 'An episode draws its scene here while it is played.',
    observationFollows: 'The first observation follows the user prompt.',
    tools: 'Tools',
    toolless: 'None: the model answers in one turn.',
    noTools: 'Known once the environment is connected.',
    settings: 'Settings',
    groups: {
      loss: 'Loss',
      masks: 'Masks and entropy',
      families: 'SAPO and VESPO',
      mismatch: 'Sampler mismatch',
      schedule: 'Schedule',
      sampling: 'Sampling',
      evaluation: 'Evaluation',
      lora: 'LoRA and backend',
    },
    targets: 'target_modules',
    backend: 'backend',
    changed: 'Settings changed: press Reset to use the new settings.',
    changedEnd: 'Only where the run ends was changed: that needs no Reset.',
    changedFresh: 'Settings changed: Train and Step will use them.',
    changedModel: 'Another model or adapter is chosen: press Load under Model to use it.',
    end: {
      untilLeft: (now: number, wanted: number) => `The run goes on to step ${now}; leave this field, or press Enter, and it ends at ${wanted}.`,
      thisStep: 'So many steps are done: the run ends after the step it is in.',
      resume: (done: number) => `Step ${done} is done: Resume ends the run there.`,
      resumeStep: (done: number) => `Step ${done} is done: after Resume the run ends with the step it is in.`,
      over: (done: number) => `Step ${done} is done: raise it above that to go on.`,
    },
    undo: 'Undo',
    undoHint: 'Back to the settings that the run has',
    open: 'Change task, model and settings',
    close: 'Close',
    back: (name: string) => `Set ${name} back to its starting value`,
  },
  address: ADDRESS_STRINGS,
  model: MODEL_STRINGS,
  group: GROUP_STRINGS,
  authors: { model: 'model', environment: 'environment', template: 'template' } satisfies Record<Author, string>,
  rewards: REWARDS_STRINGS,
  update: {
    title: 'Update',
    lead: 'One optimizer step on the LoRA; only the model’s own tokens count.',
    empty: 'The numbers of the update appear after the first step.',
    step: (n: number) => `after step ${n}`,
    training: 'Training',
  },
  formula: FORMULA_STRINGS,
  trajectory: TRAJECTORY_STRINGS,
  token: TOKEN_STRINGS,
  curves: CURVES_STRINGS,
  timeline: TIMELINE_STRINGS,
  notices: { title: 'Notices', one: 'notice', many: 'notices', info: 'Note', warning: 'Warning', times: (n: number) => `×${n}`, steps: stepsInWords, mended: 'The settings were changed since. Press Reset to begin with the new ones: Train and Step go on with the old.' },
  chat: CHAT_STRINGS,
  compare: COMPARE_STRINGS,
  stage: { title: 'Before GRPO: imitate, prefer', lead: 'Train the model on examples (SFT) or on pairs of answers (DPO), then let GRPO go on from it.', open: 'Open', close: 'Close' },
  environment: ENVIRONMENT_STRINGS,
  replay: REPLAY_STRINGS,
  runs: RUNS_STRINGS,
  teach: TEACH_STRINGS,
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

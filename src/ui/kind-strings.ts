/** Words of the kinds of environment that a person makes; they come with their fields, not with the page. */

import type { EnvironmentSpec } from '../core/environment-spec'

/** What a person still has to do before an environment of a kind is there. */
const UNTIL: Partial<Record<EnvironmentSpec['kind'], string>> = {
  openenv: 'connect to a server',
  prompts: 'use a dataset',
  custom: 'use a class',
}

export const KIND_STRINGS = {
  still: (name: string, kind: EnvironmentSpec['kind']) => `Still ${name} until you ${UNTIL[kind] ?? 'use one'}: Train goes on with it.`,
  presetTook: (names: readonly string[]) => `The preset’s own settings replaced what you had changed: ${names.join(', ')}.`,
  putBackMine: 'Take mine back',
  putBack: 'Your settings are back, as far as they can work here.',

  /** Before anything is contacted. */
  consent: 'This link names what follows. Nothing is contacted, and no code runs, until you press Allow.',
  server: (what: string) => `A server: ${what}`,
  dataset: (name: string) => `A dataset of the Hub: ${name}`,
  code: (called: string, network: boolean) => `Code that runs in the sandbox, ${network ? 'with network' : 'without network'}: ${called}`,
  allow: 'Allow',

  members: 'Environments',
  membersHelp:
    'Each group of episodes is played by one of these: with its own tools, prompts, scenarios and reward, and with metrics of its own (rewards/NAME/mean, NAME/success). Rewards of different environments have different scales. Advantages compare within a group, which one environment plays, so with scale_rewards group or none no scale meets another; with batch they do. The mean reward of the run mixes the scales: read the environments’ own curves.',
  weight: 'weight',
  weightOf: (name: string) => `Weight of ${name}`,
  share: (percent: number) => `${percent} %`,
  wrongWeight: (text: string) => `A weight is a number above 0, not "${text}".`,
  remove: 'Remove',
  removeName: (name: string) => `Remove ${name}`,
  prompts: 'Prompts',
  promptNames: { system_prompt: 'System prompt', user_prompt: 'User prompt' },
  promptHelp: {
    system_prompt: 'What this environment’s episodes begin with. Left empty it is the environment’s own. Rows of a dataset that have a system message keep theirs.',
    user_prompt: 'The first message of the user, which the first observation follows. Left empty it is the environment’s own. Rows of a dataset bring their own.',
  },
  ownPrompt: 'the environment’s own',
  add: 'Add',
  addHelp: 'Adds an environment to this run: a game of the page, an OpenEnv server, prompts of a dataset that reward functions judge, or a class that you write. An edit of a tool changes the tool of that name in every environment that has it.',
  choose: 'Choose …',
  kinds: { openenv: 'An OpenEnv server', prompts: 'Prompts without an environment', custom: 'A class (JavaScript)' },
  addServer: 'Add this server',
  full: (most: number) => `A run has at most ${most} environments.`,
  chooser: 'Chosen by',
  chooserHelp:
    'Who plays a prompt. By weight, the turns are spread out evenly, and in every window of as many prompts as the weights sum to each environment comes exactly as often as it weighs. By a dataset, each row names its environment in the column environment, as with TRL’s dict of factories; the row’s prompt is the prompt, and its other columns go to reset and to reward functions. Rows without that column are shared out by weight.',
  choosers: { weight: 'Weight', column: 'Dataset' },
  columnNote: (names: readonly string[]) => `The column environment names one of ${names.join(', ')}. Without it, weights decide.`,
  noJudge: 'Nobody judges the prompts of a dataset: their own reward is none, and no function is chosen.',
  addJudge: 'Add accuracy_reward',
  useMix: 'Use these environments',
} as const

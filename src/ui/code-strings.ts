/** Words of the code editors; they come with them, not with the page. */

import { number } from './format'

export const CODE_STRINGS = {
  title: 'Your own environment',
  lead: 'A JavaScript class: reset() begins an episode, and get_reward() says at its end what it earned. Every other public method is a tool: its JSDoc tells the model what it does and what it takes.',
  help:
    'A class as TRL’s environment_factory takes it. reset({ seed, split }) begins an episode, gets the dataset’s columns where there is a dataset, and may return a text for the model. Every public method is a tool; one whose name begins with _ is none. What a tool throws is told to the model as an error and the episode goes on. An episode ends when the model calls no tool, when this.done = true, or when a tool returns { text, reward, done: true }. get_reward() is asked once at the end; null means that there is no opinion. A property such as this.reward is not read. Without get_reward() the last reward that a tool returns counts. Math.random is drawn from the seed, so that a group has one scenario. static success_at = 0.7 says from which reward an episode counts as solved, static held_out = true that split changes the scenarios, static system_prompt and user_prompt what the prompts are. It runs in a sandbox, without network unless you grant hosts beside the code; a call that takes longer than 10 s is ended, with what it waits for.',
  none: 'No class is written yet.',
  anyClass: 'of any name',
  chosen: (called: string) => `Class ${called}`,
  tools: (names: readonly string[]) => (names.length === 0 ? 'No tools: the model answers once.' : `Tools: ${names.join(', ')}.`),
  write: 'Write a class…',
  change: 'Change the class…',
  allow: 'Allow',
  notAllowed: 'This code has not been allowed to run on this page. Read it first.',
  close: 'Close',
  example: 'Start from',
  own: 'your own code',
  plays: 'The shipped models know the tools of the page’s games only: tiny-qwen3 can play Emergency, tiny-qwen3-numbers NumberGame. Other tools want a larger model.',
  code: 'Code of the class',
  keys: 'Tab leaves the editor. Ctrl-] and Ctrl-[ move a line in and out, F8 goes to the next problem.',
  line: (line: number) => `Line ${line}:`,
  warningAt: (line: number) => `Warning, line ${line}:`,
  tooLong: (length: number, most: number) => `The code has ${length} characters; at most ${most} are taken.`,
  badName: (called: string) => `The name ${called} is too long or has other signs than a–z, 0–9, _ and $.`,
  use: (called: string, network: boolean) => (network ? `Allow with network and use ${called}` : `Allow and use ${called}`),
  useNone: 'Allow and use',
  bench: 'Try it',
  seed: 'seed',
  split: 'split',
  reset: 'Reset',
  allowReset: (network: boolean) => (network ? 'Allow with network and reset' : 'Allow and reset'),
  judge: 'Ask get_reward',
  noJudge: (called: string, answers: boolean) =>
    answers ? `${called} has no get_reward(): an episode earns the last reward that a tool returns.` : `${called} has no get_reward() to ask: no episode earns anything.`,
  call: 'Call',
  nothing: 'nothing was returned',
  unscorable: 'no opinion',
  judged: 'the whole episode’s',
  logs: 'What it logged',
  outcome: (reward: number | null, done: boolean) => `reward ${reward === null ? 'none' : number(reward)}${done ? ', done' : ''}`,
} as const

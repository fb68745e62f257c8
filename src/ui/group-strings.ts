/** Words of the columns "Group of episodes" and "Rewards → advantages". */

import type { ScaleRewards } from '../core/config'
import type { EpisodeOrder } from '../store/display'
import type { EpisodeFilter, Fault } from '../store/episode-faults'
import { number, plain, plural, signed } from './format'

const FAULT_NAMES: Record<Fault, string> = {
  zero: 'environment said 0',
  no_call: 'no call reached it: 0',
  parse: 'parse failure',
  tool: 'tool error',
  budget: 'ran out of tokens or turns',
  silent: 'environment gave no reward',
  failed: 'environment failed',
  unreadable: 'answer not readable',
  stopped: 'stopped by hand',
}

/** Of episodes that only reward functions judge. */
const UNPLAYED_NAMES: Partial<Record<EpisodeFilter, string>> = { zero: 'reward functions: 0', silent: 'reward functions gave none' }

/** Beside an episode, and before the words in the line below the group. */
const FAULT_SIGNS: Partial<Record<EpisodeFilter, string>> = { parse: '{?}', tool: '( )!' }

export const GROUP_STRINGS = {
  signs: FAULT_SIGNS,
  title: 'Group of episodes',
  short: 'Group',
  lead: 'The same prompt and the same seed, played several times.',
  empty: 'Press Step: the model plays these episodes, and each grows here as it is written.',
  staging: 'The stages of the plan come first: these episodes are played with GRPO, the last of them.',
  picker: 'Group',
  of: (n: number) => `of ${n}`,
  seed: (seed: number) => `environment seed ${seed}`,
  promptSeed: (seed: number) => `prompt seed ${seed}`,
  byAdvantage: 'by advantage',
  episode: (n: number) => `Episode ${n}`,
  step: (n: number) => `Step ${n}`,
  gone: (step: number) => `The episodes of step ${step} are no longer kept; its numbers are under Update.`,
  follow: 'Follow the newest step',
  promptTokens: (n: number) => plural(n, 'prompt token'),
  success: 'solved',
  failure: 'not solved',
  done: 'done',
  unscorable: 'unscorable',
  unjudged: 'to be judged',
  answered: 'the model has answered',
  failed: 'server failed',
  unreadable: 'not readable',
  outOfTokens: 'out of tokens',
  outOfTurns: 'out of turns',
  stopped: 'stopped',
  writing: 'writing',
  waiting: 'waiting',
  pending: 'not started',
  order: 'Order',
  orders: { index: 'by index', best: 'best first', worst: 'worst first', surprising: 'most surprising', changed: 'most changed' } satisfies Record<EpisodeOrder, string>,
  orderHint:
    'Most surprising: the lowest mean log-prob of the model’s own tokens. Most changed: the largest mean change of their log-probs by this step’s update.',
  orderLater: 'Ordered when all episodes of the step have ended.',
  orderUnknown: 'Nothing is recorded to order these by; they stand by index.',
  filter: 'Show',
  filters: { all: 'all episodes', ...FAULT_NAMES } satisfies Record<EpisodeFilter, string>,
  functionFilters: UNPLAYED_NAMES,
  filterHint: 'Three kinds of nothing stay apart: the environment said 0, its answer could not be read, it failed. Parse failures and tool errors are the model’s.',
  option: (name: string, n: number) => `${name} · ${n}`,
  noneLeft: (name: string) => `No episode of this group: ${name}.`,
  showAll: 'Show all',
  parseErrors: (n: number) => plural(n, 'tool call that could not be parsed', 'tool calls that could not be parsed'),
  toolErrors: (n: number) => plural(n, 'call answered with an error', 'calls answered with an error'),
  counts: (shown: number, of: number) => `${shown} of ${of} shown`,
  discarded: 'discarded: no signal',
  discardedWhy: 'All rewards of this group are equal, so dynamic_sampling put another group in its place: it is not in the update',
  silent: (silent: number, groups: number) => `No signal in ${silent} of ${plural(groups, 'group')}`,
  silentRecent: (silent: number, groups: number, steps: number) => `in ${silent} of ${groups} over the last ${plural(steps, 'step')}`,
  zeroStd: (share: number) => `frac_reward_zero_std ${number(share)}`,
  watch: 'Watch one step',
  watchHint: 'One GRPO step in slow motion, from the prompt to the curve, with the numbers of the last finished step; at most 20 seconds, Escape ends it',
  watchLater: 'There is no finished step to watch yet',
} as const

export const REWARDS_STRINGS = {
  title: 'Rewards → advantages',
  short: 'Rewards',
  lead: {
    group: 'Each reward minus the group’s mean, over its standard deviation.',
    batch: 'Each reward minus the group’s mean, over the whole step’s standard deviation.',
    none: 'Each reward minus the group’s mean; scale_rewards is none, so nothing divides it.',
  } satisfies Record<ScaleRewards, string>,
  empty: 'Rewards appear when every episode of the step has ended.',
  mean: 'mean',
  std: 'std',
  stdLong: 'standard deviation of the rewards of the group (ddof 1)',
  over: (scorable: number, of: number) => `over ${scorable} of ${of}`,
  noSignal: 'no signal',
  reward: 'reward',
  advantage: 'advantage',
  leftOut: 'left out',
  better: 'better than its group’s average, so its tokens become more likely',
  worse: 'worse than its group’s average, so its tokens become less likely',
  equal: 'its group’s average, so its tokens stay as they are',
  explained: (place: number) => `Episode ${place}.`,
  pending: 'It has not begun.',
  writing: 'It is being written; the environment scores it at its end.',
  unjudged: 'Reward functions judge it when all episodes of the step have ended.',
  scored: (reward: number) => `Its reward is ${number(reward)}. The advantage follows when all episodes of the step have ended.`,
  unscorable: (why: string) => `Left out of mean and std, advantage 0, because it has no reward: ${why.replace(/\.$/, '')}.`,
  stands: {
    zero: 'The environment itself said 0.',
    no_call: 'The 0 is not the environment’s word: no call of the model reached it.',
    tokens: 'The tokens ran out (max_completion_length); the reward is what was given until then.',
    turns: 'The turns ran out (max_tool_calling_iterations); the reward is what was given until then.',
  },
  functions: (parts: Readonly<Record<string, number | null>>, reward: number) => `${number(reward)} by weight from ${Object.entries(parts).map(([name, value]) => `${name} ${value === null ? 'without opinion' : number(value)}`).join(', ')}.`,
  turns: (parts: readonly { turn: number; reward: number }[]) => `By turn: ${parts.map(({ turn, reward }) => `${turn + 1}: ${signed(reward)}`).join(', ')}.`,
  minus: (reward: number, mean: number) => `${number(reward)} − ${inBrackets(mean)}`,
  divided: (difference: string, std: number, epsilon: number) => `(${difference}) ÷ (${number(std)} + ${plain(epsilon)})`,
  sum: (sum: string, advantage: number) => `${sum} =\u00a0${signed(advantage)}`,
  meaning: (what: string) => `${what.charAt(0).toUpperCase()}${what.slice(1)}.`,
  silence: {
    none: 'No episode of this group could be scored, so none has an advantage.',
    one: (reward: number) => `Only one episode could be scored (${number(reward)}): there is nothing to compare it with, so its advantage is 0.`,
    equal: (reward: number, count: number) => `All ${count} rewards are ${number(reward)}: none is better than the mean, so every advantage is 0.`,
  },
  gradient: 'The group’s part of the gradient is exactly 0.',
  gradientKl: (beta: number) => `The group’s part of the gradient is the KL term alone (beta ${plain(beta)}), which only pulls back to the start.`,
  remedies: 'What to do',
  remedy: {
    solved: 'All of them solved it: there is nothing left to learn from this scenario. Take a harder task, or end the run.',
    unsolved: 'None of them solved it: take an easier task, or a reward that gives part marks on the way.',
    unscorable: 'Look at why the environment gave no reward; the reasons stand on the rows and under Notices.',
    ownClass: (count: number) => `${count === 1 ? '1 episode has' : `${count} episodes have`} no reward: let get_reward() of your class return a number at every end of an episode. A property such as this.reward is not read.`,
    num_generations: (now: number) => `num_generations, now ${now}: with more episodes in a group it is likelier that one differs.`,
    temperature: (now: number) => `temperature, now ${plain(now)}: hotter sampling makes the episodes differ more.`,
    prompts_per_step: (now: number) => `prompts_per_step, now ${now}: with more groups it is likelier that some of a step have a signal.`,
  },
} as const

const inBrackets = (value: number) => (value < 0 ? `(${number(value)})` : number(value))

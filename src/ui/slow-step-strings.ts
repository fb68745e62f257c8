/** Words of the slow step; they come with it, not with the page. */

import { count, number, plain, plural, signed } from './format'

const times = (size: number) => (size === 1 ? 'once' : `${size} times`)
const spread = (low: number, high: number, mean: number | null, std: number | null) =>
  `${low === high ? `all ${number(low)}` : `from ${number(low)} to ${number(high)}`}, mean ${number(mean)}, standard deviation ${number(std)}`

export const SLOW_STEP_STRINGS = {
  title: 'One GRPO step, slowly',
  part: (n: number, of: number) => `${n} of ${of}`,
  hold: 'Hold',
  go: 'Go on',
  back: 'Back',
  next: 'Next',
  skip: 'Skip',
  end: 'Close',
  keys: 'Space holds, arrow keys move, Escape ends.',
  paused: 'The run is paused meanwhile.',
  prompt: (step: number, seed: number, size: number) => `Step ${step}: one prompt, environment seed ${seed}, is given to the model ${times(size)}.`,
  promptAlone: (step: number, seed: number, size: number) => `Step ${step}: one prompt, seed ${seed}, is given to the model ${times(size)}.`,
  episodes: (size: number, tokens: number, temperature: number) =>
    `It writes ${plural(size, 'episode')}, ${count(tokens)} tokens of its own in all; each token is drawn by chance (temperature ${plain(temperature)}), so they differ.`,
  rewards: (low: number, high: number, mean: number | null, std: number | null) =>
    `The environment scores each: ${spread(low, high, mean, std)}.`,
  judged: (low: number, high: number, mean: number | null, std: number | null) => `The reward functions score each: ${spread(low, high, mean, std)}.`,
  leftOut: (n: number) => `${plural(n, 'episode')} could not be scored and ${n === 1 ? 'is' : 'are'} left out.`,
  noReward: 'No episode of this group could be scored.',
  advantage: (sum: string, place: number, better: boolean) => `${sum}: episode ${place} did ${better ? 'better' : 'worse'} than its group’s average, and that is its advantage.`,
  tokens: (place: number, tokens: number, advantage: number) =>
    `Each of the ${plural(tokens, 'token')} that the model wrote in episode ${place} gets ${signed(advantage)} and shall become ${advantage > 0 ? 'likelier' : 'less likely'}; hatched ones, which it did not write, get nothing.`,
  noTint: 'With advantage 0 nothing is tinted: no token of this group shall become likelier or less likely.',
  formula: (tokens: number, groups: number, loss: string) => `${count(tokens)} tokens of ${groups === 1 ? 'the group' : `all ${groups} groups`} feed the loss (${loss}).`,
  update: (rate: number, norm: number) => `The optimizer moves the LoRA against the gradient: norm ${number(norm)}, learning_rate ${plain(Number(rate.toPrecision(3)))}.`,
  curve: (reward: number, step: number) => `The curve gains a point: mean reward ${number(reward)} at step ${step}`,
  before: (reward: number, step: number) => `after ${number(reward)} at step ${step}`,
  noPoint: (step: number) => `The curve has no point at step ${step}: no episode could be scored.`,
} as const

/** Words of what a run's own evaluations say; they come with the part that draws them. */

import { number, percent } from './format'

export interface Rate {
  step: number
  solved: number
  scorable: number
  interval: readonly [low: number, high: number]
  reward: number
}

const when = (step: number) => (step === 0 ? 'before the first step' : `after step ${step}`)
const range = ([low, high]: Rate['interval']) => `${percent(low).replace(' %', '')} – ${percent(high)}`
const told = ({ step, solved, scorable, interval, reward }: Rate) => `${solved} of ${scorable} (95 %: ${range(interval)}; mean reward ${number(reward)}) ${when(step)}`
const name = (split: 'train' | 'heldout', greedy: boolean) => `${split === 'heldout' ? 'Held-out episodes' : 'Evaluation episodes'} solved${greedy ? ', greedy' : ''}`

export const EVALUATION_STRINGS = {
  planned: 'The run evaluates itself: what it measures will stand here.',
  one: (split: 'train' | 'heldout', greedy: boolean, only: Rate) => `${name(split, greedy)}: ${told(only)}.`,
  two: (split: 'train' | 'heldout', greedy: boolean, first: Rate, last: Rate) => `${name(split, greedy)}: ${told(first)} → ${told(last)}.`,
  overlap: 'The intervals overlap, so the difference may be chance: more eval_episodes tell.',
} as const

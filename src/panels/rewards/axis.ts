/** Where a reward stands: one axis for all groups of a step, with zero on it; and the pieces of a bar, turn by turn. */

import type { EpisodeView, StepView } from '../../store/view'

export interface Axis {
  low: number
  high: number
  /** Place of a reward on the axis, 0…100 %. */
  at(reward: number): number
}

/** Over all episodes of the step that have a reward, and the pieces that it is made of. */
export function axisOf(step: StepView): Axis {
  const ends = step.episodes.flatMap((e) => (e.reward === null ? [] : [e.reward, ...stackParts(rewardParts(e)).map(({ to }) => to)]))
  const low = Math.min(0, ...ends)
  const high = Math.max(0, ...ends)
  const span = high - low || 1
  return { low, high, at: (reward) => (100 * (reward - low)) / span }
}

/** From one reward to another, in percent of the axis. */
export function spanOf(axis: Axis, from: number, to: number): { left: string; width: string } {
  const [low, high] = from < to ? [from, to] : [to, from]
  return { left: `${axis.at(low)}%`, width: `${axis.at(high) - axis.at(low)}%` }
}

/** What the environment gave after each turn; empty unless several turns gave some and they add up to the episode's reward. */
export function rewardParts({ reward, answers }: Pick<EpisodeView, 'reward' | 'answers'>): { turn: number; reward: number }[] {
  const parts = answers.flatMap((answer) => (answer.reward === null ? [] : [{ turn: answer.turn, reward: answer.reward }]))
  const sum = parts.reduce((total, part) => total + part.reward, 0)
  const adds = reward !== null && Math.abs(sum - reward) <= 1e-6 * Math.max(1, Math.abs(reward))
  return adds && parts.filter((part) => part.reward !== 0).length > 1 ? parts : []
}

/** Where each piece of a bar begins and ends: gains go on from gains, losses from losses, both from zero. */
export function stackParts(parts: readonly { reward: number }[]): { from: number; to: number }[] {
  let [gained, lost] = [0, 0]
  return parts.flatMap(({ reward }) => {
    if (reward === 0) return []
    const from = reward > 0 ? gained : lost
    if (reward > 0) gained += reward
    else lost += reward
    return [{ from, to: from + reward }]
  })
}

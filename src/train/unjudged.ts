/** What is said where reward functions alone judge, and gave nothing: which they were, what they read, and what stood there. */

import type { Environment } from '../core/environment'
import type { Episode } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import { NEEDS_SOLUTION } from '../core/reward-funcs'

type Judged = Pick<Episode, 'rewardless' | 'rewards' | 'columns'>

/** In place of a reason where an episode has no reward and nothing failed. */
export const nobodySaid = (episode: Pick<Episode, 'rewardless' | 'rewards' | 'environment'>, environment: Unrewarded): string =>
  episode.rewardless || episode.rewards ? `${functionsOf(Object.keys(episode.rewards ?? {}))} had no opinion` : (unrewarded(episode, environment) ?? 'the environment gave no reward')

const functionsOf = (names: readonly string[]): string => (names.length === 1 ? `the reward function ${names[0]}` : `the reward functions${names.length > 0 ? ` (${names.join(', ')})` : ''}`)

type Unrewarded = Pick<Environment, 'unrewarded' | 'members'>

/** What the environment that played the episode says of that, if anything. */
export const unrewarded = ({ environment: played }: Pick<Episode, 'environment'>, environment: Unrewarded): string | undefined =>
  (environment.members?.find(({ name }) => name === played) ?? environment).unrewarded

/** The error for episodes that reward functions alone judge, none of which got a reward; `where` names them. */
export function unjudged(episodes: readonly Judged[], where: string): PlaygroundError {
  const [first] = episodes
  const names = Object.keys(first?.rewards ?? {})
  const columns = Object.keys(first?.columns ?? {})
  const they = names.length === 1 ? 'It' : 'They'
  const compares = names.filter((name) => NEEDS_SOLUTION.some((each) => each === name))
  const solution = JSON.stringify(first?.columns?.['solution'] ?? null)
  const shown = solution.length > 60 ? `${solution.slice(0, 60)}…` : solution
  return new PlaygroundError(
    'environment',
    `T${functionsOf(names).slice(1)} gave none of ${where} a reward.`,
    compares.length > 0
      ? `${compares.join(', ')} compares with the column solution and could not read what stands there, such as ${shown}. Write a number or a formula there, such as "25", or add another reward function.`
      : `${they} returned null for each, which means no opinion. ${columns.length > 0 ? `${they} can read the columns ${columns.join(', ')}. ` : ''}Return a number for at least some.`,
  )
}

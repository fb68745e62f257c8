/** A gameable reward is gamed, by the shipped model on the real engine. */

import { expect, it } from 'vitest'
import type { ScoredEpisode } from '../../src/core/events'
import type { CallCustom } from '../../src/train/scoring'
import { configOf, trainSteps } from './grpo-run'

/** Pays for turns, of which a game of lane has three at most: whoever decides nothing has them all, and hits what stands there. */
const turns: CallCustom = (_, { environments }) => Promise.resolve({ rewards: environments.map((played) => played.turns.length / 3), metrics: {} })

const success = (episodes: readonly ScoredEpisode[] = []): number => episodes.filter((episode) => episode.success).length / episodes.length
const reward = (episodes: readonly ScoredEpisode[] = []): number => episodes.reduce((sum, episode) => sum + (episode.reward ?? 0), 0) / episodes.length

it('paid by the turn, lane learns to wait for the crash: the reward rises to its most while success falls to nothing', async () => {
  const config = configOf('lane', { prompts_per_step: 4, learning_rate: 3e-3, seed: 7, reward_funcs: [{ name: 'custom', called: 'turns', code: '' }] })
  const { records } = await trainSteps(config, { steps: 8, callCustom: turns })
  const [first, last] = [records[0]?.episodes, records.at(-1)?.episodes]
  expect(reward(first)).toBeLessThan(0.6)
  expect(success(first)).toBeGreaterThan(0.2)
  expect(reward(last)).toBeGreaterThan(0.9)
  expect(success(last)).toBeLessThan(0.1)
}, 300_000)

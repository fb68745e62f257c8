/** What theory says of groups without a signal, for every loss. */

import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig, LOSS_TYPES } from '../core/config'
import { advantages } from '../rl'
import { ReplyEngine } from './testing/engine'
import { REPLIES, replyEpisode } from './testing/episodes'
import { updatePolicy } from './update'

/** The policy after the reference was frozen; it has moved since, or not. */
const MOVED = [0.7, -0.4, 0.2, 0.3]

/** Gradients of a step in which every episode of a group has the same reward. */
async function gradients(grpo: Partial<GrpoConfig>, rewards: readonly [number, number], moved: boolean): Promise<number[][]> {
  const engine = new ReplyEngine({ replies: REPLIES })
  engine.freezeReference()
  if (moved) engine.theta.set(MOVED)
  const config = { ...DEFAULT_GRPO, num_generations: 4, max_completion_length: 8, learning_rate: 0.1, vllm_importance_sampling_correction: false, ...grpo }
  const episodes = [0, 1, 2, 1, 1, 0, 0, 2].map((reply, i) => replyEpisode(i, reply, rewards[i < 4 ? 0 : 1]))
  const given = advantages(episodes.map(({ reward }) => reward), 4, config.scale_rewards)
  await updatePolicy({ engine, grpo: config, episodes, advantages: given, optimizerSteps: 0, maskEnvironment: true, onProgress: () => {} })
  return engine.gradients.map((gradient) => [...gradient].map((x) => x + 0))
}

const ZERO = [0, 0, 0, 0]

describe.each(LOSS_TYPES)('equal rewards in each group, %s', (loss_type) => {
  it('have a gradient of exactly zero in every optimizer step', async () => {
    for (const scale_rewards of ['group', 'none'] as const) {
      for (const importance_sampling_level of ['token', 'sequence'] as const) {
        const found = await gradients({ loss_type, scale_rewards, importance_sampling_level, num_iterations: 2 }, [0.1, 0.7], true)
        expect(found).toEqual([ZERO, ZERO])
      }
    }
  })

  it('leave with beta the pull to the reference alone: nothing at the reference, and away from it the same whatever the rewards', async () => {
    for (const use_bias_correction_kl of [false, true]) {
      const grpo = { loss_type, beta: 0.1, use_bias_correction_kl }
      expect(await gradients(grpo, [1, 1], false)).toEqual([ZERO])
      const pull = await gradients(grpo, [1, 1], true)
      expect(Math.hypot(...(pull[0] ?? []))).toBeGreaterThan(1e-3)
      expect(await gradients(grpo, [0, 0.3], true)).toEqual(pull)
    }
  })
})

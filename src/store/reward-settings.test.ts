import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO } from '../core/config'
import { readRewards } from '../core/reward-funcs'
import { newFunction, withChanged, withFunction, withoutFunction, withWeight } from './reward-settings'
import { readLink, writeLink } from './link'
import { defaultConfig } from './presets'

const start = { reward_funcs: DEFAULT_GRPO.reward_funcs, reward_weights: DEFAULT_GRPO.reward_weights }

describe('reward functions of a run', () => {
  it('keeps each weight beside its function', () => {
    const two = withWeight(withFunction(start, newFunction('think_format_reward', DEFAULT_GRPO)), 1, 0.5)
    expect(two.reward_weights).toEqual([1, 0.5])
    expect(withoutFunction(two, 0)).toEqual({ reward_funcs: [{ name: 'think_format_reward' }], reward_weights: [0.5] })
    expect(withoutFunction(two, 1)).toEqual(start)
    expect(withWeight(two, 1, 1).reward_weights).toBeNull()
  })

  it('never is without a function', () => {
    expect(withoutFunction(start, 0)).toEqual(start)
  })

  it('makes functions that a link may hold', () => {
    for (const name of ['environment', 'think_format_reward', 'accuracy_reward', 'reasoning_accuracy_reward', 'soft_overlong_punishment_reward', 'repetition_penalty_reward', 'cosine_scaled_reward', 'custom'] as const) {
      const func = newFunction(name, DEFAULT_GRPO)
      expect(readRewards([func], null)?.reward_funcs).toEqual([func])
    }
  })

  it('travels in the link, and what is wrong there keeps the default', () => {
    const config = defaultConfig()
    const rewards = withWeight(withFunction(start, newFunction('repetition_penalty_reward', DEFAULT_GRPO)), 0, 2)
    const link = writeLink({ ...config, grpo: { ...config.grpo, ...rewards } }, 0)
    expect(readLink(link).config.grpo).toMatchObject(rewards)
    expect(readLink(link).problems).toEqual([])
    for (const wrong of ['&reward_funcs=[{"name":"evil"}]', '&reward_funcs=nonsense', '&reward_weights=1,2', '&reward_funcs=[{"name":"environment","take":"own"}]&reward_weights=x']) {
      const read = readLink(`${writeLink(config, 0)}${wrong}`)
      expect(read.config.grpo.reward_funcs).toEqual(start.reward_funcs)
      expect(read.problems).toHaveLength(1)
    }
    expect(withChanged(start, 0, { name: 'environment', take: 'max' }).reward_funcs).toEqual([{ name: 'environment', take: 'max' }])
  })
})

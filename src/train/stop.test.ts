/** When a run ends. */
import { describe, expect, it } from 'vitest'
import { shouldStop } from './stop'

const records = (rewards: (number | null)[], from = 1) => rewards.map((reward, i) => ({ step: from + i, metrics: { reward } }))

describe('shouldStop', () => {
  it('ends after max_steps, also when old records are gone', () => {
    expect(shouldStop([], { max_steps: 2, target_reward: null })).toBeNull()
    expect(shouldStop(records([0]), { max_steps: 2, target_reward: null })).toBeNull()
    expect(shouldStop(records([0], 2), { max_steps: 2, target_reward: null })).toBe('step-limit')
  })
  it('ends when the mean of the last five rewards reaches the target, not sooner', () => {
    const config = { max_steps: 100, target_reward: 0.8 }
    expect(shouldStop(records([1, 1, 1, 1]), config)).toBeNull()
    expect(shouldStop(records([0, 1, 1, 1, 1, 0]), config)).toBe('target-reward')
    expect(shouldStop(records([1, 1, 1, 0, 1, 0]), config)).toBeNull()
    expect(shouldStop(records([null, null, null, null, null]), config)).toBeNull()
  })
})

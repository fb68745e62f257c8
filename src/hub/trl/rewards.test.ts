import { describe, expect, it } from 'vitest'
import { OWN_REWARD } from '../../core/reward-funcs'
import { mappedWeights, rewardImports, rewardLines } from './rewards'

describe('reward functions in train.py', () => {
  it('are the environment’s alone where there is no other', () => {
    expect(rewardImports([OWN_REWARD])).toEqual([])
    expect(rewardLines([OWN_REWARD])).toBe('        reward_funcs=environment_reward,')
  })

  it('are TRL’s own with their parameters, and a STUB for JavaScript that cannot leave its comment', () => {
    const funcs = [
      OWN_REWARD,
      { name: 'soft_overlong_punishment_reward', max_completion_len: 100, soft_punish_cache: 20 } as const,
      { name: 'custom', called: 'mine', code: 'function mine() {\r\n  return []\u2028import os\n}' } as const,
      { name: 'think_format_reward' } as const,
    ]
    expect(rewardImports(funcs)).toEqual(['from trl.rewards import get_soft_overlong_punishment, think_format_reward'])
    const lines = rewardLines(funcs).split('\n')
    expect(lines).toContain('            get_soft_overlong_punishment(max_completion_len=100, soft_punish_cache=20),')
    expect(lines).toContain('            think_format_reward,')
    expect(lines.filter((line) => /mine|return|import os/.test(line)).every((line) => line.trim().startsWith('#'))).toBe(true)
    expect(mappedWeights(funcs, [1, 2, 3, 4])).toEqual([1, 2, 4])
  })
})

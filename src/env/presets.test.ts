import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { BUILTIN_NAMES } from './builtin/index'
import { PRESETS, presetById, presetConfig } from './presets'

describe('presets', () => {
  it('has one for every built-in environment', () => {
    expect(PRESETS.map((p) => p.id)).toEqual(expect.arrayContaining([...BUILTIN_NAMES]))
  })

  it('fills what it leaves out with the defaults', () => {
    const config = presetConfig(presetById('lane'), 7)
    expect(config.grpo).toMatchObject({
      num_generations: 8, prompts_per_step: 8, learning_rate: 1e-3, max_steps: 50,
      loss_type: 'dapo', beta: 0, temperature: 1, seed: 7, target_reward: null,
    })
    expect(config.lora).toMatchObject({ r: 16, lora_alpha: 32 })
    expect(config.lora.target_modules).toHaveLength(7)
    expect(config.enable_thinking).toBe(false)
  })

  it('refuses an unknown id', () => {
    expect(() => presetById('chess')).toThrow(PlaygroundError)
  })
})

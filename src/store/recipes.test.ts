import { describe, expect, it } from 'vitest'
import { conflictsOf } from '../core/conflicts'
import { readLink, writeLink } from './link'
import { defaultConfig } from './presets'
import { changesOf, RECIPE_IDS, recipeOf, recipeRefused, RECIPES, withRecipe } from './recipes'
import { ALL_SETTINGS, getSetting, readSetting, setSetting, writeSetting } from './settings'

const start = defaultConfig()

describe('named recipes', () => {
  it.each(RECIPE_IDS)('%s is recognised, goes together, is allowed by every control and comes back from a link', (id) => {
    const config = withRecipe(start, id)
    expect(recipeOf(config.grpo)).toBe(id)
    expect(conflictsOf(config.grpo)).toEqual([])
    for (const setting of ALL_SETTINGS) expect(readSetting(setting, writeSetting(getSetting(config, setting.key))), setting.key).toMatchObject({ ok: true })
    expect(recipeOf(readLink(writeLink(config, 0)).config.grpo)).toBe(id)
    expect(changesOf(config.grpo).length).toBeGreaterThanOrEqual(id === 'trl' ? 0 : 1)
  })

  it('are the settings that TRL documents', () => {
    expect(changesOf(withRecipe(start, 'trl').grpo)).toEqual([])
    expect(changesOf(withRecipe(start, 'gspo').grpo)).toEqual(['loss_type grpo', 'importance_sampling_level sequence', 'epsilon 0.0003', 'epsilon_high 0.0004', 'steps_per_generation 4'])
    expect(changesOf(withRecipe(start, 'intellect_2').grpo)).toEqual(['delta 4', 'beta 0.001'])
    expect(changesOf(withRecipe(start, 'scale_rl').grpo)).toEqual(['loss_type cispo', 'scale_rewards batch', 'epsilon_high 5', 'num_generations 16'])
    expect(changesOf(withRecipe(start, 'vespo').grpo)).toEqual(['loss_type vespo', 'vllm_importance_sampling_mode token_truncate'])
  })

  it('leave rate, steps, sizes and seed alone, and give back a size that the one before had changed', () => {
    const own = { ...start, grpo: { ...start.grpo, learning_rate: 0.5, seed: 7, max_steps: 9, prompts_per_step: 3 } }
    for (const id of RECIPE_IDS) expect(withRecipe(own, id).grpo).toMatchObject({ learning_rate: 0.5, seed: 7, max_steps: 9, prompts_per_step: 3 })
    const two = withRecipe(own, '2_grpo')
    expect(two.grpo.num_generations).toBe(2)
    expect(withRecipe(two, 'gspo').grpo.num_generations).toBe(start.grpo.num_generations)
    const twelve = setSetting(own, 'num_generations', 12)
    expect(withRecipe(withRecipe(twelve, 'gspo'), 'trl').grpo.num_generations).toBe(12)
  })

  it('leave nothing of the one before', () => {
    for (const first of RECIPE_IDS) for (const second of RECIPE_IDS) expect(withRecipe(withRecipe(start, first), second)).toEqual(withRecipe(start, second))
  })

  it('are none of them once a setting of the loss differs', () => {
    expect(recipeOf(setSetting(withRecipe(start, 'dapo'), 'epsilon', 0.1).grpo)).toBeNull()
    expect(changesOf(setSetting(start, 'epsilon', 0.1).grpo)).toEqual(['epsilon 0.1'])
    expect(recipeOf(setSetting(start, 'learning_rate', 0.1).grpo)).toBe('trl')
  })

  it('say why one does not fit the sizes', () => {
    const small = { ...start, grpo: { ...start.grpo, num_generations: 2, prompts_per_step: 1 } }
    expect(recipeOf(small.grpo)).toBe('2_grpo')
    const three = { ...start, grpo: { ...start.grpo, num_generations: 3, prompts_per_step: 1 } }
    expect(recipeRefused(three, 'gspo')).toMatch(/steps_per_generation is 4, and a generation has only 3 episodes/)
    expect(recipeRefused(three, 'dapo')).toBeNull()
  })

  it('have a name each', () => {
    expect(new Set(Object.values(RECIPES).map(({ name }) => name)).size).toBe(RECIPE_IDS.length)
  })
})

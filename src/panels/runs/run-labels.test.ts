import { expect, it } from 'vitest'
import { runRecord } from '../../store/testing/kept'
import { LANE } from '../../store/testing/script'
import { changedSettings, runLabels } from './run-labels'

it('what a person changed of the preset is named with its value, the seed apart', () => {
  expect(changedSettings(LANE)).toEqual([])
  expect(changedSettings({ ...LANE, grpo: { ...LANE.grpo, seed: 9, learning_rate: 0.00005, target_reward: null, loss_type: 'bnpo' } })).toEqual(
    expect.arrayContaining(['learning_rate 5e−5', 'loss_type bnpo']),
  )
  expect(changedSettings({ ...LANE, lora: { ...LANE.lora, target_modules: ['q_proj'] }, system_prompt: 'Play.' })).toEqual(['target_modules q_proj', 'prompts edited'])
  // A server brings its own prompts, a Hub model its own settings.
  const own = { ...LANE, environment: { kind: 'openenv', url: 'localhost:8000' } } as const
  expect(changedSettings(own).filter((text) => text === 'prompts edited')).toEqual([])
})

it('other reward functions than the environment’s own are named first, with their weights', () => {
  const grpo = (change: object) => ({ ...LANE, grpo: { ...LANE.grpo, learning_rate: 0.00005, ...change } })
  const own = { name: 'custom', called: 'my_reward', code: '' } as const
  const lane = LANE.grpo.reward_funcs[0]
  expect(changedSettings(grpo({ reward_funcs: [lane, own] }))).toEqual(['reward_funcs lane + my_reward', 'learning_rate 5e−5'])
  expect(changedSettings(grpo({ reward_funcs: [{ name: 'environment', take: 'sum' }, own], reward_weights: [1, 0.5] }))[0]).toBe('reward_funcs lane (sum) + 0.5 × my_reward')
  expect(changedSettings(grpo({ reward_weights: [2] }))[0]).toBe('reward_funcs 2 × lane')
})

it('runs of one name are told apart by seed and date, and at last by a number', () => {
  const seed = (n: number) => ({ ...LANE, grpo: { ...LANE.grpo, seed: n } })
  const runs = [
    runRecord({ id: 'a', name: 'mine' }),
    runRecord({ id: 'b', config: seed(3) }),
    runRecord({ id: 'c', config: seed(4) }),
    runRecord({ id: 'd', config: seed(4) }),
  ]
  const labels = runLabels(runs)
  expect(labels.get('a')).toBe('mine')
  expect(labels.get('b')).toMatch(/^lane · tiny-qwen3 · seed 3 · 28 Nov 2026/)
  expect(labels.get('c')).toMatch(/seed 4 .* \(1\)$/)
  expect(new Set(labels.values()).size).toBe(4)
})

import { describe, expect, it } from 'vitest'
import type { EnvironmentSpec } from '../core/environment-spec'
import type { RunConfig } from '../core/config'
import { TINY_MODEL, TINY_NUMBERS_MODEL } from '../env/presets'
import { keepChanges, lostChanges, nextConfig } from './next-environment'
import { defaultConfig } from './presets'

const lane = defaultConfig()
const guess = defaultConfig({ kind: 'builtin', name: 'guess' })
const sums = defaultConfig({ kind: 'prompts', dataset: { kind: 'builtin', name: 'arithmetic' } })
const rows: EnvironmentSpec = { kind: 'prompts', dataset: { kind: 'text', name: 'pasted rows', text: '{"prompt": "1 + 1", "solution": "2"}' } }
const ownClass: EnvironmentSpec = { kind: 'custom', called: 'Game', code: 'class Game {}' }
const several: EnvironmentSpec = {
  kind: 'mix',
  members: [lane.environment, rows].map((environment) => ({ environment: environment as Extract<EnvironmentSpec, { kind: 'builtin' }>, weight: 1, system_prompt: '', user_prompt: '' })),
  dataset: null,
}
const mine = { name: 'custom', called: 'mine', code: 'function mine() { return [] }' } as const
const changed = (config: RunConfig): RunConfig => ({
  ...config,
  rollout_func: { called: 'rollout_func', code: 'const rollout_func = 1' },
  lora: { ...config.lora, r: 4 },
  grpo: { ...config.grpo, num_generations: 4, max_completion_length: 99, max_steps: 7, seed: 3, reward_funcs: [{ name: 'environment', take: 'own' }, mine], reward_weights: [1, 2] },
})

describe('another environment without a preset', () => {
  it.each([ownClass, rows, several, { kind: 'openenv', url: 'ws://localhost:8000' } as const])('keeps what was changed: $kind', (spec) => {
    const next = nextConfig(spec, changed(lane), null)
    expect(next).toMatchObject({ environment: spec, rollout_func: changed(lane).rollout_func, lora: { r: 4 }, grpo: { num_generations: 4, max_completion_length: 99, max_steps: 7, seed: 3 } })
    expect(next.grpo.reward_funcs).toContainEqual(mine)
  })

  it('starts from what suits it where nothing was changed', () => {
    expect(nextConfig(ownClass, lane, null)).toEqual(defaultConfig(ownClass))
    expect(nextConfig(rows, lane, null)).toEqual(defaultConfig(rows))
    expect(nextConfig(several, lane, null)).toEqual(defaultConfig(several))
  })

  it('leaves out only reward functions that cannot judge there, with their weights', () => {
    expect(nextConfig(rows, changed(lane), null).grpo).toMatchObject({ reward_funcs: [mine], reward_weights: [2] })
    const compared = { ...sums, grpo: { ...sums.grpo, reward_funcs: [{ name: 'accuracy_reward' } as const, mine] } }
    expect(nextConfig(ownClass, compared, null).grpo.reward_funcs).toEqual([{ name: 'environment', take: 'own' }, mine])
    const heavy = { ...lane, grpo: { ...lane.grpo, reward_weights: [2] } }
    expect(nextConfig(rows, heavy, null).grpo).toMatchObject({ reward_funcs: [{ name: 'accuracy_reward' }], reward_weights: null })
    expect(nextConfig(ownClass, heavy, null).grpo.reward_weights).toEqual([2])
  })

  it('a function goes on judging those of its environments that are there, and all where none is', () => {
    const limited = (only?: string[]) => ({ ...mine, ...(only && { only }) })
    const of = (only: string[], spec: EnvironmentSpec) => {
      const before = { ...lane, environment: several, grpo: { ...lane.grpo, reward_funcs: [{ name: 'environment', take: 'own' } as const, limited(only)] } }
      return nextConfig(spec, before, null).grpo.reward_funcs.at(-1)
    }
    const others: EnvironmentSpec = { ...(several), members: several.kind === 'mix' ? several.members.slice(0, 1) : [] }
    expect(of(['lane', 'pasted rows'], others)).toEqual(limited(['lane']))
    expect(of(['catch'], others)).toEqual(limited())
    expect(of(['lane'], ownClass)).toEqual(limited())
  })

  it('keeps the model, its precision and its adapter; not a folder that may not be there', () => {
    for (const from of [guess, sums]) for (const spec of [ownClass, rows, several]) expect(nextConfig(spec, from, null).model).toBe(TINY_NUMBERS_MODEL)
    expect(nextConfig(ownClass, { ...lane, model: TINY_NUMBERS_MODEL, precision: 'int8', adapter: { kind: 'file', name: 'a' } }, null)).toMatchObject({
      model: TINY_NUMBERS_MODEL,
      precision: 'int8',
      adapter: { kind: 'file', name: 'a' },
    })
    expect(nextConfig(ownClass, { ...lane, model: 'models/none' }, null).model).toBe(TINY_MODEL)
    expect(nextConfig(rows, { ...guess, model: 'Qwen/Qwen3-0.6B' }, null)).toMatchObject({ model: 'Qwen/Qwen3-0.6B', grpo: { reward_funcs: [{ name: 'accuracy_reward' }] } })
  })

  it('a class that is written on keeps the prompts of a person, not those that it brought', () => {
    const before = { ...nextConfig(ownClass, lane, null), system_prompt: 'Its own.', user_prompt: 'Mine.' }
    expect(nextConfig({ ...ownClass, code: 'class Game { }' }, before, { system: 'Its own.', user: '' })).toMatchObject({ system_prompt: '', user_prompt: 'Mine.' })
    expect(nextConfig(rows, before, null)).toMatchObject({ system_prompt: '', user_prompt: '' })
  })
})

it('the present environment as one of several keeps the prompts of a person and its edited tools', () => {
  const tool_edits: RunConfig['tool_edits'] = [{ kind: 'hide', tool: 'observe' }]
  const next = nextConfig(several, { ...lane, system_prompt: 'Stop.', tool_edits }, null)
  expect(next).toMatchObject({ tool_edits, environment: { members: [{ system_prompt: 'Stop.', user_prompt: '' }, { system_prompt: '' }] } })
  expect(nextConfig(ownClass, { ...lane, tool_edits }, null).tool_edits).toEqual([])
})

describe('a preset', () => {
  it('brings its own settings; what was changed is named and can be put back', () => {
    const before = changed(lane)
    const next = nextConfig(guess.environment, before, null)
    expect(next).toEqual({ ...guess, grpo: { ...guess.grpo, seed: 3 } })
    expect(lostChanges(before, next)).toEqual(['num_generations', 'max_completion_length', 'max_steps', 'reward_funcs', 'reward_weights', 'r', 'rollout_func'])
    const back = keepChanges(before, next)
    expect(back).toMatchObject({ environment: guess.environment, model: TINY_NUMBERS_MODEL, grpo: { num_generations: 4, prompts_per_step: 8 } })
    expect(lostChanges(before, back)).toEqual([])
  })

  it('names nothing where nothing had been changed', () => {
    expect(lostChanges(lane, nextConfig(guess.environment, lane, null))).toEqual([])
    const reseeded = { ...lane, grpo: { ...lane.grpo, seed: 5 } }
    expect(lostChanges(reseeded, nextConfig(sums.environment, reseeded, null))).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import type { EnvironmentSpec, SingleSpec } from '../core/environment-spec'
import { OWN_REWARD, type RewardFunc } from '../core/reward-funcs'
import { readLink, writeLink } from './link'
import { defaultConfig } from './presets'
import { judgeable, judged, unjudged, withJudged } from './reward-limits'

const LANE: SingleSpec = { kind: 'builtin', name: 'lane' }
const SERVER: SingleSpec = { kind: 'openenv', url: 'https://me-space.hf.space' }
const SUMS: SingleSpec = { kind: 'prompts', dataset: { kind: 'builtin', name: 'arithmetic' } }
const mix = (...environments: SingleSpec[]): EnvironmentSpec => ({ kind: 'mix', members: environments.map((environment) => ({ environment, weight: 1, system_prompt: '', user_prompt: '' })), dataset: null })
const ALL = judgeable(mix(LANE, SERVER, LANE, SUMS))
const FORMAT: RewardFunc = { name: 'think_format_reward' }

describe('the environments that a function judges', () => {
  it('can be chosen in a run of several, each name once', () => {
    expect(ALL.map(({ name }) => name)).toEqual(['lane', 'https://me-space.hf.space', 'arithmetic'])
    expect(ALL[1]?.label).not.toContain('https')
    expect(judgeable(LANE)).toEqual([])
    expect(judgeable(mix(LANE, LANE))).toEqual([])
  })

  it('are all without a limit, and never none', () => {
    expect(judged(FORMAT, ALL)).toEqual(ALL)
    const two = withJudged(FORMAT, 'lane', false, ALL)
    expect(two.only).toEqual(['https://me-space.hf.space', 'arithmetic'])
    expect(withJudged(two, 'lane', true, ALL)).toEqual(FORMAT)
    const one = withJudged(two, 'arithmetic', false, ALL)
    expect(withJudged(one, 'https://me-space.hf.space', false, ALL)).toEqual(one)
    // What the run has no more is forgotten by the next choice.
    expect(withJudged({ ...FORMAT, only: ['chess'] }, 'lane', true, ALL).only).toEqual(['lane'])
  })

  it('leave somebody without a judge, which is told', () => {
    expect(unjudged(mix(LANE, SUMS), [OWN_REWARD]).map(({ name }) => name)).toEqual(['arithmetic'])
    expect(unjudged(mix(LANE, SUMS), [{ ...OWN_REWARD, only: ['arithmetic'] }, { name: 'accuracy_reward', only: ['arithmetic'] }]).map(({ name }) => name)).toEqual(['lane'])
    expect(unjudged(mix(LANE, SUMS), [OWN_REWARD, FORMAT])).toEqual([])
    expect(unjudged(SUMS, [])).toEqual([])
  })

  it('travel in the link', () => {
    const config = defaultConfig(mix(LANE, SUMS))
    const reward_funcs = [OWN_REWARD, { ...FORMAT, only: ['arithmetic'] }]
    const link = writeLink({ ...config, grpo: { ...config.grpo, reward_funcs } }, 0)
    expect(readLink(link)).toMatchObject({ config: { grpo: { reward_funcs } }, problems: [] })
    const wrong = readLink(`${writeLink(config, 0)}&reward_funcs=[{"name":"think_format_reward","only":[]}]`)
    expect(wrong.config.grpo.reward_funcs).toEqual(config.grpo.reward_funcs)
    expect(wrong.problems).toHaveLength(1)
  })
})

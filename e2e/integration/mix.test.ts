/** Several environments in one run in Node, on the shipped model: who plays what, and what is measured of each. */

import { describe, expect, it } from 'vitest'
import type { EnvironmentSpec, MixMember } from '../../src/core/environment-spec'
import type { GrpoConfig } from '../../src/core/config'
import { evaluate } from '../../src/train/evaluate'
import { makeEnvironment } from '../../src/worker/make-environment'
import { configOf, tinyChat, tinyEngine, trainSteps } from './grpo-run'

const member = (environment: MixMember['environment'], weight = 1): MixMember => ({ environment, weight, system_prompt: '', user_prompt: '' })
const LANE = { kind: 'builtin', name: 'lane' } as const
const CATCH = { kind: 'builtin', name: 'catch' } as const
const BOTH: EnvironmentSpec = { kind: 'mix', members: [member(LANE, 2), member(CATCH)], dataset: null }

async function run(spec: EnvironmentSpec, steps: number, more: Partial<GrpoConfig> = {}) {
  const config = { ...configOf('catch', { num_generations: 4, prompts_per_step: 3, max_completion_length: 120, max_tool_calling_iterations: 2, seed: 7, ...more }), environment: spec, system_prompt: '', user_prompt: '' }
  const environment = makeEnvironment(spec, { seed: 7 })
  await environment.connect()
  return { config, environment, ...(await trainSteps(config, { steps, environment })) }
}

const players = ({ records }: Awaited<ReturnType<typeof run>>) => records.map(({ episodes }) => episodes.filter((_, i) => i % 4 === 0).map((episode) => episode.environment))

describe('several environments in one run', () => {
  it('share the prompts by weight; each has its own tools, prompts, rewards and metrics', async () => {
    const result = await run(BOTH, 2)
    const chat = await tinyChat()
    expect(players(result)).toEqual([
      ['lane', 'catch', 'lane'],
      ['lane', 'catch', 'lane'],
    ])
    for (const { episodes, metrics } of result.records) {
      const of = (name: string) => episodes.filter(({ environment }) => environment === name)
      expect([of('lane').length, of('catch').length]).toEqual([8, 4])
      const mean = (rewards: (number | null)[]) => rewards.reduce<number>((sum, reward) => sum + (reward ?? 0), 0) / rewards.length
      for (const name of ['lane', 'catch']) {
        expect(metrics[`rewards/${name}/mean`]).toBeCloseTo(mean(of(name).map(({ reward }) => reward)), 6)
        expect(metrics[`${name}/success`]).toBeCloseTo(of(name).filter(({ success }) => success).length / of(name).length, 6)
        expect(metrics[`${name}/episodes`]).toBe(of(name).length)
      }
      expect(metrics['reward']).toBeCloseTo(mean(episodes.map(({ reward }) => reward)), 6)
      // A prompt tells of its own environment's tools alone.
      for (const { ids, promptLength, environment, messages } of episodes) {
        const prompt = chat.text(ids.slice(0, promptLength))
        const [own, other] = environment === 'lane' ? [LANE, CATCH] : [CATCH, LANE]
        const tools = (spec: typeof LANE | typeof CATCH) => makeEnvironment(spec, {}).tools.map((tool) => `"${tool.function.name}"`)
        for (const tool of tools(own)) expect(prompt).toContain(tool)
        for (const tool of tools(other).filter((each) => !tools(own).includes(each))) expect(prompt).not.toContain(tool)
        expect(messages[0]?.content).toBe(makeEnvironment(own, {}).prompts.system)
      }
    }
    expect(result.records.some(({ metrics }) => (metrics['grad_norm'] ?? 0) > 0)).toBe(true)
    const again = await run(BOTH, 1)
    expect(again.records[0]?.episodes.map(({ ids }) => ids)).toEqual(result.records[0]?.episodes.map(({ ids }) => ids))
  })

  it('are chosen by a dataset’s column, beside rows that no environment judges', async () => {
    const text = [
      { prompt: 'Drive on.', environment: 'lane' },
      { prompt: 'Drive on!', environment: 'lane' },
      { prompt: 'Catch it.', environment: 'catch' },
    ]
    const dataset = { kind: 'text', name: 'mine.jsonl', text: text.map((row) => JSON.stringify(row)).join('\n') } as const
    const result = await run({ kind: 'mix', members: [member(LANE), member(CATCH)], dataset }, 1)
    const episodes = result.records[0]?.episodes ?? []
    expect(episodes).toHaveLength(12)
    for (const { messages, environment, columns } of episodes) {
      expect(columns?.['environment']).toBe(environment)
      expect(messages[1]?.content.startsWith(environment === 'lane' ? 'Drive on' : 'Catch it.')).toBe(true)
    }
    expect(new Set(episodes.map(({ environment }) => environment))).toEqual(new Set(['lane', 'catch']))
  })

  it('a function that needs a solution has no opinion of environments that have none', async () => {
    const prompts = { kind: 'prompts', dataset: { kind: 'text', name: 'sums', text: '{"prompt":"1 + 1 =","solution":"2"}' } } as const
    const reward_funcs: GrpoConfig['reward_funcs'] = [{ name: 'environment', take: 'own' }, { name: 'accuracy_reward' }]
    const result = await run({ kind: 'mix', members: [member(LANE), member(prompts)], dataset: null }, 2, { prompts_per_step: 1, reward_funcs })
    expect(players(result)).toEqual([['lane'], ['sums']])
    const [lane, sums] = result.records.map(({ episodes }) => episodes[0])
    expect(lane?.rewards).toEqual({ 'lane + sums': lane?.reward, accuracy_reward: null })
    expect([sums?.rewards?.['lane + sums'], sums?.rewards?.['accuracy_reward']]).toEqual([null, sums?.reward])
  })

  it('are judged by the functions that are for them, in training and in evaluations', async () => {
    const reward_funcs: GrpoConfig['reward_funcs'] = [{ name: 'environment', take: 'own', only: ['lane'] }, { name: 'think_format_reward', only: ['catch'] }]
    const result = await run(BOTH, 1, { reward_funcs })
    const episodes = result.records[0]?.episodes ?? []
    expect(episodes).toHaveLength(12)
    for (const { environment, rewards, reward } of episodes) {
      const [own, format] = [rewards?.['lane + catch'], rewards?.['think_format_reward']]
      expect([own === null, format === null]).toEqual(environment === 'lane' ? [false, true] : [true, false])
      expect(reward).toBe(environment === 'lane' ? own : format)
    }
    // A group has one environment, so that its functions are its own.
    expect(result.records[0]?.metrics['rewards/think_format_reward/mean']).toBe(0)
    await expect(run(BOTH, 1, { reward_funcs: [{ name: 'think_format_reward', only: ['chess'] }] })).rejects.toThrow('think_format_reward is limited to chess, and this run has lane, catch.')
  })

  it('are evaluated together and one by one, on scenarios that training never draws', async () => {
    const environment = makeEnvironment(BOTH, { seed: 7 })
    await environment.connect()
    const config = { ...configOf('catch', { max_completion_length: 120, max_tool_calling_iterations: 2 }), environment: BOTH, system_prompt: '', user_prompt: '' }
    const engine = await tinyEngine(config)
    try {
      const { metrics, episodes } = await evaluate({ engine, environment, chat: await tinyChat(), config, split: 'heldout', episodes: 12, onEvent: () => undefined })
      expect([episodes, metrics['eval_lane/episodes'], metrics['eval_catch/episodes']]).toEqual([12, 8, 4])
      const success = (metrics['eval_success'] ?? -1) * 12
      expect(success).toBeCloseTo((metrics['eval_lane/success'] ?? 0) * 8 + (metrics['eval_catch/success'] ?? 0) * 4, 6)
    } finally {
      await engine.dispose()
    }
  })
})

/** GRPO without an environment in Node, on the shipped model: prompts of a dataset, one answer each, judged by reward functions alone. */

import { describe, expect, it } from 'vitest'
import type { CustomReward } from '../../src/core/reward-funcs'
import { promptsEnvironment } from '../../src/env/prompts/environment'
import { evaluate } from '../../src/train/evaluate'
import type { CallCustom, CustomArguments } from '../../src/train/scoring'
import { readPromptRows } from '../../src/worker/prompt-rows'
import { configOf, flat, tinyChat, tinyEngine, trainSteps } from './grpo-run'

const TEXT = [3, 4, 5, 6, 7].map((n) => JSON.stringify({ prompt: `${n} + ${n} =`, solution: String(2 * n), level: n })).join('\n')

const EVEN: CustomReward = { name: 'custom', called: 'even_length', code: '' }
/** What the function was called with; it rewards an even number of tokens. */
const seen: CustomArguments[] = []
const callCustom: CallCustom = (_, args) => {
  seen.push(args)
  return Promise.resolve({ rewards: args.completion_ids.map((ids) => (ids.length % 2 === 0 ? 1 : 0)), metrics: {} })
}

async function connected(seed: number) {
  const dataset = { kind: 'text', name: 'doubles.jsonl', text: TEXT } as const
  const environment = promptsEnvironment({ name: dataset.name, seed, system_prompt: 'Be short.', read: (signal) => readPromptRows(dataset, null, signal) })
  await environment.connect()
  return environment
}

const config = () => {
  const made = configOf('lane', { num_generations: 4, prompts_per_step: 2, max_completion_length: 24, seed: 7, reward_funcs: [EVEN, { name: 'accuracy_reward' }], reward_weights: [1, 2] })
  return { ...made, environment: { kind: 'prompts', dataset: { kind: 'text', name: 'doubles.jsonl', text: TEXT } } as const }
}

describe('a dataset of prompts', () => {
  it('is trained on: every row once an epoch, columns to every function, advantages and a gradient', async () => {
    seen.length = 0
    const { records, adapter } = await trainSteps(config(), { steps: 3, environment: await connected(7), callCustom })
    const episodes = records.flatMap((record) => record.episodes)
    expect(episodes).toHaveLength(24)
    // Five rows: the first five groups are an epoch.
    const solutions = [0, 4, 8, 12, 16].map((i) => String(episodes[i]?.columns?.['solution']))
    expect(solutions.sort()).toEqual(['10', '12', '14', '6', '8'])
    for (const { turns, exit, rewardless, messages, rewards, reward, columns } of episodes) {
      expect([turns.length, rewardless, Object.keys(rewards ?? {})]).toEqual([1, true, ['even_length', 'accuracy_reward']])
      expect(['answered', 'token_limit']).toContain(exit)
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
      expect(messages[1]?.content).toBe(`${Number(columns?.['level'])} + ${Number(columns?.['level'])} =`)
      expect(reward).toBe((rewards?.['even_length'] ?? 0) + 2 * (rewards?.['accuracy_reward'] ?? 0))
    }
    expect(seen[0]?.['solution']).toEqual(records[0]?.episodes.map(({ columns }) => columns?.['solution']))
    expect(records.some(({ episodes: of }) => of.some(({ advantage }) => advantage !== 0))).toBe(true)
    expect(records.some(({ metrics }) => (metrics['grad_norm'] ?? 0) > 0)).toBe(true)
    expect(flat(adapter).some((x) => x !== 0)).toBe(true)
    expect(records[0]?.metrics['rewards/accuracy_reward/mean']).toBeTypeOf('number')
  })

  it('is evaluated on its rows, each once, by the same functions', async () => {
    const run = config()
    const engine = await tinyEngine(run)
    seen.length = 0
    try {
      const { episodes, unscorable } = await evaluate({ engine, environment: await connected(7), chat: await tinyChat(), config: run, split: 'train', episodes: 5, callCustom, onEvent: () => undefined })
      expect([episodes, unscorable]).toEqual([5, 0])
      expect([...((seen[0]?.['solution'] ?? []) as string[])].sort()).toEqual(['10', '12', '14', '6', '8'])
    } finally {
      await engine.dispose()
    }
  })

  it('is not trained on while nobody judges', async () => {
    const run = config()
    const alone = { ...run, grpo: { ...run.grpo, reward_funcs: [{ name: 'environment', take: 'own' } as const], reward_weights: null } }
    await expect(trainSteps(alone, { environment: await connected(7) })).rejects.toThrow(/doubles\.jsonl gave no reward of its own, and no reward function is chosen/)
  })
})

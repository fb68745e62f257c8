/** The real TRL trains with an exported folder against a real OpenEnv server, from where the page is. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { NamedTensor } from '../../src/core/engine'
import type { Episode } from '../../src/core/episode'
import type { ToolEdit } from '../../src/core/tool-edits'
import type { ChatMessage, Tool } from '../../src/core/tools'
import { builtinEnvironment } from '../../src/env/builtin'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { withToolEdits } from '../../src/env/tool-edits'
import { peftAdapterFiles } from '../../src/hub/peft-writer'
import { readSafetensors } from '../../src/hub/safetensors'
import { trlFolder } from '../../src/hub/trl'
import type { ChatFormat } from '../../src/rollout/chat'
import { rollout } from '../../src/rollout/rollout'
import { GrpoTrainer } from '../../src/train/grpo'
import { groupSeeds } from '../../src/train/seeds'
import { configOf, rewardedByPlace, tinyChat, tinyEngine } from '../integration/grpo-run'
import { startServers, type RunningServer } from '../openenv/server'
import { WebSocket } from 'ws'
import { REFERENCE, largestDifference } from './reference'
import { playEpisode } from './trl-episodes'
import { completions, logs, recordOf, startInTrl, tinyModelFiles, trainInTrl, writeFolder } from './trl-run'

describe('the real TRL', () => {
  const STEPS = 2
  const OUT = join(REFERENCE, 'trl-move', 'out')
  const config = configOf('catch', { num_generations: 4, prompts_per_step: 16, max_completion_length: 320, learning_rate: 1e-4 })
  let start: NamedTensor[] = []
  let ours: Episode[] = []
  let chat: ChatFormat
  let tools: readonly Tool[] = []

  // A few minutes on a machine that does other things besides.
  beforeAll(async () => {
    const [server] = (await startServers(['catch:64'])) as [RunningServer]
    const environment = new OpenEnvEnvironment(server.url, { WebSocket })
    await environment.connect()
    tools = environment.tools
    chat = await tinyChat()
    const engine = await tinyEngine(config)
    try {
      // A trained LoRA: one small step, with a signal whatever the model plays.
      const small = configOf('catch', { num_generations: 4, prompts_per_step: 1, max_completion_length: 320 })
      await new GrpoTrainer({ config: small, engine, environment: rewardedByPlace(environment), chat, onEvent: () => undefined }).step()
      start = await engine.exportParameters()
      const { grpo, system_prompt, user_prompt } = config
      const seeds = groupSeeds(grpo.seed, 4, grpo.prompts_per_step)
      ours = await rollout({ step: 4, groupSeeds: seeds, num_generations: 4, split: 'train', config: grpo, system_prompt, user_prompt, environment, sampler: engine, chat, onEvent: () => undefined })
      const run = recordOf('catch', environment, { environment: { kind: 'openenv', url: server.url } }, grpo)
      const folder = join(REFERENCE, 'trl-move', 'train')
      const adapter = peftAdapterFiles({ lora: config.lora, tensors: start, baseModel: config.model, revision: null })
      writeFolder(folder, trlFolder({ run, history: [], adapter, base: tinyModelFiles(), server: `http://127.0.0.1:${server.port}` }))
      await trainInTrl(folder, 'out', ['--steps', `${STEPS}`])
    } finally {
      await engine.dispose()
      await environment.close()
      await server.kill()
    }
  }, 15 * 60_000)

  it('makes two steps of the page’s size from the run’s adapter', () => {
    const steps = logs('out').filter((log) => 'reward' in log)
    expect(steps.map(({ step }) => step)).toEqual([1, 2])
    for (const log of steps) {
      expect(log['learning_rate']).toBe(1e-4)
      expect(log['unscorable']).toBe(0)
      expect(log['grad_norm']).toBeGreaterThan(0)
      // An episode ends with the model's own last token: nobody talks on after the end, and no call fails there.
      expect(log['completions/clipped_ratio']).toBe(0)
      expect(log['tools/failure_frequency']).toBe(0)
    }
    const trained = new Map([...readSafetensors(readFileSync(join(OUT, 'adapter_model.safetensors'))).tensors])
    const moved = start.map(({ name, data }) => largestDifference(trained.get(name)?.data ?? [], data))
    expect(trained.size).toBe(start.length)
    // AdamW moves a parameter by about the learning rate at most.
    expect(Math.max(...moved)).toBeLessThan(1e-4 * STEPS * 1.1)
    expect(Math.max(...moved)).toBeGreaterThan(1e-5)
  })

  it('plays the page’s groups from the page’s prompts, and the page’s own game gives the same texts and rewards', async () => {
    const game = builtinEnvironment('catch')
    for (const step of [1, 2]) {
      const rows = await completions('out', step)
      expect(rows.length).toBe(64)
      const seeds = groupSeeds(42, 3 + step, 16)
      for (const [i, { prompt, completion, environment_reward }] of rows.entries()) {
        const calls = completion.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ function: call }) => call)
        const played = await playEpisode(game, seeds[Math.floor(i / 4)] as number, 'train', 7, (turn) => calls[turn] ?? { name: 'none', arguments: {} })
        expect(prompt.at(-1)?.content).toBe(played.start)
        const read = completion.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
        if (calls.length < played.calls.length) continue
        expect(read).toEqual(played.results.slice(0, read.length))
        expect(played.over && read.length === played.results.length - 1).toBe(true)
        expect(environment_reward).toBe(played.reward)
      }
    }
  })

  it('reads prompts of exactly the page’s tokens', async () => {
    const [log] = logs('out')
    const rows = await completions('out', 1)
    const expected = rows.reduce((sum, { prompt }) => {
      const messages = prompt.map(({ role, content }) => ({ role, content })) as ChatMessage[]
      return sum + chat.prompt(messages, tools).ids.length
    }, 0)
    // num_tokens counts prompts and what the model wrote.
    expect(Math.round((log?.['num_tokens'] ?? 0) - 64 * (log?.['completions/mean_length'] ?? 0))).toBe(expected)
    const lengths = ours.map(({ promptLength }) => promptLength)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(expected)
  })

  it('starts from the rewards that the page sees: same scenarios, means within what chance explains', async () => {
    const rows = await completions('out', 1)
    expect(rows.map(({ prompt }) => prompt.at(-1)?.content)).toEqual(ours.map(({ messages }) => messages.find(({ role }) => role === 'user')?.content))
    const theirs = rows.map((row) => row.environment_reward)
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    const rewards = ours.map(({ reward }) => reward ?? NaN)
    const deviation = Math.sqrt((2 * mean([...theirs, ...rewards]) * (1 - mean([...theirs, ...rewards]))) / 64)
    expect(mean(rewards)).toBeGreaterThan(0)
    expect(Math.abs(mean(theirs) - mean(rewards))).toBeLessThan(4 * deviation)
    const written = mean(ours.map(({ mask }) => mask.reduce<number>((sum, m) => sum + m, 0)))
    // Turns have few lengths, so this mean is sharper: the policy is the same one.
    expect(Math.abs((logs('out')[0]?.['completions/mean_length'] ?? 0) - written)).toBeLessThan(8)
  })
})

it('trains a built-in game with changed tools, KL, two optimizer steps a generation, and an end at a target', async () => {
  const edits: ToolEdit[] = [{ kind: 'rename', tool: 'observe', name: 'look-around' }]
  const environment = withToolEdits(builtinEnvironment('lane'), edits)
  const grpo = { num_generations: 2, prompts_per_step: 4, max_completion_length: 128, beta: 0.1, num_iterations: 2, target_reward: -1, max_steps: 6, warmup_steps: 1, mask_truncated_completions: true }
  const run = recordOf('lane', environment, { tool_edits: edits }, grpo)
  // A LoRA that is not the base: its B is not 0.
  const engine = await tinyEngine(run.config)
  const tensors = (await engine.exportParameters()).map((tensor) => (tensor.name.includes('lora_B') ? { ...tensor, data: tensor.data.map((_, i) => 0.05 * Math.sin(i)) } : tensor))
  await engine.dispose()
  const folder = join(REFERENCE, 'trl-move', 'lane')
  const adapter = peftAdapterFiles({ lora: run.config.lora, tensors, baseModel: run.config.model, revision: null })
  writeFolder(folder, trlFolder({ run, history: [], adapter, base: tinyModelFiles() }))
  await trainInTrl(folder, 'out-lane', [])
  const log = logs('out-lane').filter((entry) => 'loss' in entry)
  // Five rewards of a step each are above the target; each step of the page is two of the optimizer.
  expect(log.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(log.map((entry) => 'reward' in entry)).toEqual([true, false, true, false, true, false, true, false, true, false])
  // The reference is what the run began with, the base model, and not the adapter that TRL was given.
  expect(log[0]?.['kl']).toBeGreaterThan(1e-6)
  expect(log[0]?.['learning_rate']).toBe(0)
  expect(log[2]?.['learning_rate']).toBe(run.config.grpo.learning_rate)
})

it('compares with the adapter that the run began with, from the folder alone', async () => {
  // A branch of the Hub, which may have moved since; there is no network.
  const run = recordOf('lane', builtinEnvironment('lane'), { adapter: { kind: 'hub', repo: 'me/lora', revision: 'main' } }, { beta: 0.1, num_generations: 2, prompts_per_step: 1 })
  const engine = await tinyEngine(run.config)
  const fresh = await engine.exportParameters()
  await engine.dispose()
  const changed = (by: number) => fresh.map((tensor) => ({ ...tensor, data: tensor.data.map((value, i) => value + by * Math.sin(i)) }))
  const [start, trained] = [changed(0.03), changed(0.05)]
  const filesOf = (tensors: NamedTensor[]) => peftAdapterFiles({ lora: run.config.lora, tensors, baseModel: run.config.model, revision: null })
  const folder = join(REFERENCE, 'trl-move', 'start')
  writeFolder(folder, trlFolder({ run, history: [], adapter: filesOf(trained), base: tinyModelFiles(), start: filesOf(start) }))
  const weights = await startInTrl(folder, 'out-start')
  expect(weights.size).toBe(2 * fresh.length)
  const apart = (adapter: string, tensors: NamedTensor[]) =>
    Math.max(...tensors.map(({ name, data }) => largestDifference(weights.get(name.replace(/\.weight$/, `.${adapter}.weight`)) ?? [], data)))
  expect(apart('default', trained)).toBe(0)
  expect(apart('ref', start)).toBe(0)
})

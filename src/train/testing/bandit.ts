/** A one-armed bandit as an Environment, with failures and delays on demand, and a run around it. For tests only. */

import { DEFAULT_GRPO, DEFAULT_LORA, type GrpoConfig, type RunConfig } from '../../core/config'
import type { Environment, EnvironmentSession, Observation } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import type { Tool } from '../../core/tools'
import { ChatFormat } from '../../rollout/chat'
import { qwen3Tokenizer } from '../../rollout/testing/tokenizers'
import { ReplyEngine } from './engine'

export const ARMS = ['A', 'B', 'C'] as const

const PULL: Tool = {
  type: 'function',
  function: {
    name: 'pull',
    description: 'Pulls an arm.',
    parameters: { type: 'object', properties: { arm: { type: 'string', enum: [...ARMS] } }, required: ['arm'] },
  },
}

export interface BanditOptions {
  /** Reward of an arm in a scenario; null = none given. */
  reward?: (arm: string, seed: number) => number | null
  /** Whether the n-th session (from 0, over the bandit's life) fails when it steps. */
  fails?: (session: number) => boolean
  /** Macrotasks that the n-th session takes to answer. */
  delay?: (session: number) => number
  /** Pulls until the episode is done; the reward is the sum. */
  pulls?: number
}

/** Arm B pays 1, the others 0, unless told otherwise. */
export function bandit(options: BanditOptions = {}): Environment & { opened: number } {
  const { reward = (arm: string) => (arm === 'B' ? 1 : 0), fails, delay, pulls = 1 } = options
  const environment = {
    name: 'Bandit',
    tools: [PULL],
    maxSessions: Infinity,
    prompts: { system: '', user: '' },
    opened: 0,
    connect: async () => {},
    close: async () => {},
    episodeReward: (rewards: readonly (number | null)[]) =>
      rewards.every((r) => r === null) ? null : rewards.reduce<number>((sum, r) => sum + (r ?? 0), 0),
    isSuccess: (r: number) => r >= pulls,
    open: async (): Promise<EnvironmentSession> => {
      const session = environment.opened++
      let seed = 0
      let done = 0
      return {
        reset: async (options): Promise<Observation> => {
          seed = options.seed
          return { text: 'Pull.', reward: null, done: false, metadata: {}, toolError: false }
        },
        step: async (call): Promise<Observation> => {
          for (let i = 0; i < (delay?.(session) ?? 0); i++) await new Promise((resolve) => setTimeout(resolve, 0))
          if (fails?.(session)) throw new PlaygroundError('environment', 'The bandit is out of order.')
          const arm = String(call.arguments['arm'])
          return { text: `You pulled ${arm}.`, reward: reward(arm, seed), done: ++done >= pulls, metadata: {}, toolError: false }
        },
        close: async () => {},
      }
    },
  }
  return environment
}

const tokenizer = qwen3Tokenizer()
export const chat = new ChatFormat(tokenizer, { enable_thinking: false })

/** Three replies that call the tool, one per arm, and with `chatter` a fourth that calls none. */
export function banditEngine(options: { chatter?: boolean; microBatch?: number; slots?: number } = {}): ReplyEngine {
  const texts = ARMS.map((arm) => `${arm}<tool_call>\n{"name": "pull", "arguments": {"arm": "${arm}"}}\n</tool_call><|im_end|>`)
  if (options.chatter) texts.push('No<|im_end|>')
  const replies = texts.map((text) => tokenizer.encode(text, { add_special_tokens: false }))
  return new ReplyEngine({ ...options, replies })
}

export function banditConfig(grpo: Partial<GrpoConfig> = {}): RunConfig {
  return {
    environment: { kind: 'openenv', url: 'ws://bandit' },
    tool_edits: [],
    model: 'models/replies',
    model_revision: 'main',
    precision: 'float32',
    adapter: null,
    system_prompt: 'You are at a bandit.',
    user_prompt: 'Choose. ',
    enable_thinking: false,
    grpo: { ...DEFAULT_GRPO, num_generations: 4, prompts_per_step: 2, learning_rate: 0.1, max_steps: 40, seed: 1, ...grpo },
    lora: DEFAULT_LORA,
    backend: 'wasm',
  }
}

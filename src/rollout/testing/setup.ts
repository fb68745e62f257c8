/** What every rollout test needs: the Qwen3 format, replies as text, a request with small budgets. */

import type { Episode } from '../../core/episode'
import type { TrainEvent } from '../../core/events'
import { ChatFormat } from '../chat'
import type { RolloutRequest } from '../types'
import { FakeEnvironment, type FakeScript } from './fake-environment'
import { FakeSampler, scripted } from './fake-sampler'
import { qwen3Tokenizer } from './tokenizers'

const tokenizer = qwen3Tokenizer()
export const chat = new ChatFormat(tokenizer, { enable_thinking: false })

const known = new Map<string, number[]>()
/** Token ids of a text; remembered, because a scripted policy asks at every token. */
export function encode(text: string): number[] {
  const ids = known.get(text) ?? tokenizer.encode(text, { add_special_tokens: false })
  known.set(text, ids)
  return ids
}

export const say = (word: string): string => `<tool_call>\n{"name": "say", "arguments": {"word": "${word}"}}\n</tool_call>`

export interface SetUp {
  reply: (turn: number, context: string) => string | readonly string[]
  environment?: FakeScript | FakeEnvironment
  slots?: number
  contextLength?: number
  samplerDelay?: () => Promise<void>
  request?: Partial<Omit<RolloutRequest, 'config'>>
  config?: Partial<RolloutRequest['config']>
}

export interface Prepared {
  request: RolloutRequest
  sampler: FakeSampler
  environment: FakeEnvironment
  events: TrainEvent[]
}

export function prepare(setUp: SetUp): Prepared {
  const environment =
    setUp.environment instanceof FakeEnvironment ? setUp.environment : new FakeEnvironment(setUp.environment)
  const policy = scripted(chat, encode, setUp.reply)
  const sampler = new FakeSampler(setUp.slots ?? 8, policy, setUp.contextLength, setUp.samplerDelay)
  const events: TrainEvent[] = []
  const request: RolloutRequest = {
    step: 3,
    groupSeeds: [100],
    num_generations: 2,
    split: 'train',
    config: {
      seed: 42,
      temperature: 1,
      top_p: 1,
      top_k: 0,
      min_p: null,
      max_completion_length: 200,
      max_tool_calling_iterations: 4,
      ...setUp.config,
    },
    system_prompt: '',
    user_prompt: 'Play.\n',
    environment,
    sampler,
    chat,
    onEvent: (event) => events.push(event),
    ...setUp.request,
  }
  return { request, sampler, environment, events }
}

/** An episode without what a clock decides. */
export function timeless(episode: Episode): Episode {
  const turns = episode.turns.map((turn) => ({ ...turn, calls: turn.calls.map((call) => ({ ...call, ms: 0 })) }))
  return { ...episode, turns }
}

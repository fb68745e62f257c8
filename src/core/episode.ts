/** An episode: one append-only record of tokens, who wrote each, and what the environment said. */

import type { TokenAlternative } from './engine'
import type { ChatMessage, ToolCall } from './tools'

/** Who wrote a token. Only the model's tokens train. */
export type Author = 'model' | 'environment' | 'template'

/** Names a message of an episode that holds, or stands for, what a rollout_func wrote in no form that a chat has: no template writes it. */
export const APPENDED = 'rollout_func'

export type ExitReason =
  | 'env_done' // the environment said done
  | 'answered' // the model made no tool call
  | 'turn_limit' // max_tool_calling_iterations
  | 'token_limit' // max_completion_length or the context is used up
  | 'env_error' // the environment failed: unscorable
  | 'env_unreadable' // the environment answered, and we could not read it: unscorable
  | 'stopped' // a person stopped the run

export interface TurnCall {
  call: ToolCall
  result: string
  reward: number | null
  /** The environment's rubric_reward, where it sent one beside its reward. */
  rubric?: number
  done: boolean
  error: boolean
  /** From asking the environment to its answer. */
  ms: number
  /** The call was refused before it reached the environment, so `ms` measures nothing. */
  refused?: true
}

export interface Turn {
  /** Tokens of the model's turn: [start, end) in Episode.ids. */
  start: number
  end: number
  /** Tokens appended after it (tool result and template): [end, resultEnd). */
  resultEnd: number
  /** Calls that were parsed, and what came back. */
  calls: TurnCall[]
  /** Set when the turn held a <tool_call> that could not be parsed: the first one's fault. */
  parseError: string | null
  /** How many could not be parsed; absent where none or only one. */
  parseErrors?: number
  scene?: unknown
}

export interface Episode {
  step: number
  /** Index in the step, group-major: group = floor(index / num_generations). */
  index: number
  group: number
  /** Environment seed shared by the group. */
  seed: number
  /** These five always have equal length. ids[0..promptLength) is the prompt. */
  ids: number[]
  mask: (0 | 1)[]
  /** Sampler's log-prob where mask is 1, 0 elsewhere. */
  logprobs: number[]
  authors: Author[]
  /** Likeliest alternatives where the model sampled, else null. */
  alternatives: (TokenAlternative[] | null)[]
  promptLength: number
  turns: Turn[]
  messages: ChatMessage[]
  /** Scene right after reset, for drawing. */
  scene?: unknown
  /** Sum over turns as the environment defines it, or of the run's reward functions with their weights; null = unscorable. */
  reward: number | null
  /** What each reward function gave, by its name; absent where the environment's own reward is all there is. null: no opinion. */
  rewards?: Record<string, number | null>
  /** Which environment played it, where a run has several. */
  environment?: string
  /** No environment judges it: reward functions alone do. */
  rewardless?: true
  /** The environment judged the episode as a whole at its end: the reward, or none, is its word. */
  judged?: true
  /** Columns of its dataset row, for reward functions. */
  columns?: Record<string, unknown>
  /** Environment.isSuccess(reward); absent while unscorable or where the environment cannot say. */
  success?: boolean
  exit: ExitReason
  /** A sentence when exit is env_error or env_unreadable. */
  error: string | null
  /** The environment answered and would fail in the same way again; absent for lost connections and where nobody can tell. */
  lasting?: true
  /** Whether the last sampled token is an end-of-turn token. */
  terminated: boolean
}

/** Tool calls of a turn that could not be parsed. */
export function unparsed({ parseError, parseErrors }: Pick<Turn, 'parseError' | 'parseErrors'>): number {
  return parseErrors ?? (parseError === null ? 0 : 1)
}

/** Exits after which an episode has no reward, whatever its turns brought. */
export const UNSCORABLE_EXITS: readonly ExitReason[] = ['env_error', 'env_unreadable', 'stopped']

/** What stands behind an episode's reward, or behind there being none. */
export const VERDICTS = ['said', 'no_call', 'budget', 'env_silent', 'env_failed', 'unreadable', 'stopped'] as const
/**
 * 'said': the environment ended with a reward of its own, 0 included, or reward functions judged where it never does. 'no_call': 0 because the model got no call into it. 'budget':
 * turns or tokens ran out first; the reward is what was given until then. 'env_silent': it worked and gave none. 'env_failed',
 * 'unreadable' (its answer could not be read by us) and 'stopped' have no reward.
 */
export type Verdict = (typeof VERDICTS)[number]

/** The verdict on a finished episode. Only 'said', 'no_call' and 'budget' may hold a reward. */
export function verdictOf({ exit, reward, turns, rewardless, judged }: Pick<Episode, 'exit' | 'reward' | 'turns' | 'rewardless' | 'judged'>): Verdict {
  if (exit === 'env_error') return 'env_failed'
  if (exit === 'env_unreadable') return 'unreadable'
  if (exit === 'stopped') return 'stopped'
  if (exit === 'turn_limit' || exit === 'token_limit') return 'budget'
  if (reward === null) return 'env_silent'
  if (rewardless || judged) return 'said'
  return turns.some(({ calls }) => calls.some((call) => call.reward !== null)) ? 'said' : 'no_call'
}

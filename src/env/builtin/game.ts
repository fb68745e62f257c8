/** Turns the rules of a small game (pure functions of a state) into an Environment with sessions. */

import type { Environment, EnvironmentSession, Observation, ResetOptions } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import type { Tool, ToolCall } from '../../core/tools'
import type { Split } from './scenarios'

/** What a state looks like: text for the model, a scene (plain JSON) for drawing, facts for the trajectory view. */
export interface View {
  text: string
  scene: unknown
  metadata?: Record<string, unknown>
}

/** A game of turns. States are immutable; a finished one has a reward, an unfinished one has null. */
export interface GameRules<State> {
  readonly name: string
  readonly tools: readonly Tool[]
  readonly prompts: { system: string; user: string }
  /** The first state that belongs to a seed. */
  begin(seed: number, split: Split): State
  view(state: State): View
  /** The next state after a call that names one of the tools and fits its schema. */
  act(state: State, call: ToolCall): State
  /** The next state after a call that was refused: it costs a turn where turns are limited. */
  refuse(state: State): State
  /** Reward of a finished game; null while it goes on. */
  outcome(state: State): number | null
}

/**
 * Why a call cannot be made (one sentence for the model), or null when it names one of the tools and its arguments fit.
 * Checks what our schemas use: required properties, strings, whole numbers and enums. Extra arguments are refused as well.
 */
export function refusal(tools: readonly Tool[], call: ToolCall): string | null {
  const tool = tools.find((t) => t.function.name === call.name)
  if (tool === undefined) return `Error: no tool ${call.name}.`
  const properties = tool.function.parameters.properties ?? {}
  for (const name of tool.function.parameters.required ?? []) {
    if (!(name in call.arguments)) return `Error: ${name} is missing.`
  }
  for (const [name, value] of Object.entries(call.arguments)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema === undefined) return `Error: no argument ${name}.`
    if (schema.type === 'integer') {
      if (!Number.isInteger(value)) return `Error: ${name} must be a whole number.`
      continue
    }
    if (typeof value !== 'string') return `Error: ${name} must be a string.`
    if (schema.enum && !schema.enum.includes(value)) return `Error: ${name} must be ${schema.enum.join(' or ')}.`
  }
  return null
}

class GameSession<State> implements EnvironmentSession {
  private state: State | null = null
  constructor(private readonly rules: GameRules<State>) {}

  reset(options: ResetOptions): Promise<Observation> {
    this.state = this.rules.begin(options.seed, options.split)
    return Promise.resolve(this.observe(this.state, null))
  }

  /** Rejects with PlaygroundError('environment') before a reset and after the game has ended. */
  step(call: ToolCall): Promise<Observation> {
    const { rules, state } = this
    if (state === null || rules.outcome(state) !== null) {
      const when = state === null ? 'before the first reset' : 'after the game had ended'
      return Promise.reject(
        new PlaygroundError('environment', `The environment "${rules.name}" was asked to step ${when}.`, 'Call reset first.'),
      )
    }
    const error = refusal(rules.tools, call)
    this.state = error === null ? rules.act(state, call) : rules.refuse(state)
    return Promise.resolve(this.observe(this.state, error))
  }

  close(): Promise<void> {
    this.state = null
    return Promise.resolve()
  }

  private observe(state: State, error: string | null): Observation {
    const { text, scene, metadata } = this.rules.view(state)
    const reward = this.rules.outcome(state)
    return { text: error ?? text, reward, done: reward !== null, metadata: metadata ?? {}, toolError: error !== null, scene }
  }
}

/** The Environment of a game. Nothing to connect to, as many sessions as wanted, the reward is the last one given. */
export function environmentOf<State>(rules: GameRules<State>): Environment {
  return {
    name: rules.name,
    tools: rules.tools,
    maxSessions: Infinity,
    heldOut: true,
    prompts: rules.prompts,
    connect: () => Promise.resolve(),
    open: () => Promise.resolve(new GameSession(rules)),
    // A game that was left before its end was not won.
    episodeReward: (rewards) => rewards.findLast((r) => r !== null) ?? 0,
    isSuccess: (reward) => reward >= 1,
    close: () => Promise.resolve(),
  }
}

/** A tool in the key order of transformers' get_json_schema. Every property is required. */
export function tool(name: string, description: string, properties: Tool['function']['parameters']['properties'] = {}): Tool {
  const required = Object.keys(properties)
  const parameters = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
  return { type: 'function', function: { name, description, parameters } }
}

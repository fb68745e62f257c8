/** What discovery found out about an environment, as plain data: it can be shown, edited, stored and sent between threads. */

import { isRecord } from './records'
import type { Tool } from './tools'

/**
 * How much we know: this page's client has played it on the real server library ('played'); its source was read, but this client has
 * not played it ('source'); it is not in the catalogue, and only the server was asked ('server').
 */
export type Evidence = 'played' | 'source' | 'server'

/** Where one field of an action comes from. A field whose argument the model left out is left out of the action. */
export type ActionValue =
  /** The argument as it is; with `choices`, the server's value for the model's word. */
  | { kind: 'argument'; from: string; choices?: Readonly<Record<string, unknown>> }
  /** A text with `{name}` (as it is) and `{name!r}` (as a Python literal) in it. `unless`: pattern of arguments that are sent as they are. */
  | { kind: 'text'; template: string; unless?: string }
  | { kind: 'constant'; value: unknown }

/** What the server gets for one call. */
export type CallMapping =
  | { kind: 'mcp'; tool: string }
  /** `then`: further steps of the same call, e.g. ticks of a simulation; they end early when the environment is done. */
  | { kind: 'action'; fields: Readonly<Record<string, ActionValue>>; then?: { action: Readonly<Record<string, unknown>>; times: number } }

export interface DiscoveredTool {
  /** The name under which it was found. Edits refer to it, and it never changes. */
  id: string
  /** As found: what the server (or the catalogue) understands. */
  original: Tool
  /** As the model sees it. */
  tool: Tool
  mapping: CallMapping
}

/** How an episode's reward comes from its steps. */
export interface RewardRule {
  /** 'last' = the last reward that was given; 'sum' = all of them. */
  take: 'sum' | 'last'
  /** Field of the observation that holds the reward to train on, instead of the envelope's. */
  field?: string
  /** Rewards of an episode below this count as this. */
  floor?: number
  /** An episode with at least this much counts as solved. */
  successAt: number
}

/** A peculiarity that our client handles or that a person must know. `text` is one sentence. */
export type Quirk = { text: string } & (
  | { kind: 'cumulative-text' }
  /** A text that says "invalid move" brings no reward, whatever the envelope says: it repeats the last one. */
  | { kind: 'invalid-move'; pattern: string }
  /**
   * The client plays the other side too, when it is its turn: a random legal move, fixed by the episode's seed. `turn`: field (of the
   * observation, its metadata or the state) that says whose turn it is, and its value when it is the policy's own.
   */
  | { kind: 'no-opponent'; field: string; legal: string; turn: { field: string; own: number } }
  | { kind: 'never-done' }
  | { kind: 'single-step' }
  | { kind: 'seed-ignored' }
  /** Fields of the state that must not be shown while an episode is played. */
  | { kind: 'state-secret'; fields: readonly string[] }
  /** Old servers leave the task out of the reset observation: these fields of the state hold it. */
  | { kind: 'task-in-state'; fields: readonly string[] }
  | { kind: 'large-frames' }
)

export interface DiscoveredEnvironment {
  host: string
  family: 'mcp' | 'typed'
  /** Key of the catalogue's entry; null = not in the catalogue. */
  entry: string | null
  title: string
  evidence: Evidence
  /** How we came to think so, one sentence. */
  recognised: string
  tools: readonly DiscoveredTool[]
  prompts: { system: string; user: string }
  /** How observations become the text that the model reads, one sentence. */
  observation: string
  reward: RewardRule
  /** Sent with every reset besides seed and episode_id. */
  resetData: Readonly<Record<string, unknown>>
  /** How long a step may take, where it is more than usual. */
  stepSeconds?: number
  quirks: readonly Quirk[]
  /** What a server of this kind needs, e.g. 'a GPU', 'a paid service: E2B'. */
  needs: readonly string[]
  /** Sentences for a person. */
  notes: readonly string[]
  /** Sessions that such a server allows by default; null = unknown. */
  defaultSessions: number | null
  /** Path of a recorded sample episode under the site's root; null = there is no recording. */
  recording: string | null
}

/** Any environment's tools in the shape that edits are made on: each under its own name. */
export function toolsFound(host: string, tools: readonly Tool[]): DiscoveredEnvironment {
  return {
    host,
    family: 'mcp',
    entry: null,
    title: host,
    evidence: 'server',
    recognised: '',
    tools: tools.map((tool) => ({
      id: tool.function.name,
      original: tool,
      tool,
      mapping: { kind: 'mcp', tool: tool.function.name },
    })),
    prompts: { system: '', user: '' },
    observation: '',
    reward: { take: 'sum', successAt: 1 },
    resetData: {},
    quirks: [],
    needs: [],
    notes: [],
    defaultSessions: null,
    recording: null,
  }
}

/** The tools as the model sees them, in prompt order. */
export function shownTools(found: DiscoveredEnvironment): Tool[] {
  return found.tools.map(({ tool }) => tool)
}

/** Stands where something that may hold the answer was. */
export const HIDDEN = '[hidden: may hold the answer]'

/** A state without what would give the answer away, however deep; the fields stay, so that a person sees that something is hidden. */
export function withoutSecrets(found: DiscoveredEnvironment, state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const secret = new Set(found.quirks.flatMap((quirk) => (quirk.kind === 'state-secret' ? quirk.fields : [])))
  const clean = (value: unknown): unknown => (Array.isArray(value) ? value.map(clean) : isRecord(value) ? cleaned(value) : value)
  const cleaned = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, secret.has(key) ? HIDDEN : clean(value)]))
  return secret.size === 0 ? { ...state } : cleaned(state)
}

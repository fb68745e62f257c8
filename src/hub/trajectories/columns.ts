/** The columns of exported trajectories, one table for JSONL, Parquet, the reader and the dataset's card. */

import type { SchemaElement } from 'hyparquet'
import { rewardNames } from '../../core/reward-funcs'
import type { RunRecord } from '../../core/run-record'

type Leaf = Pick<SchemaElement, 'type' | 'converted_type'>
/** What a column, or a part of one, holds; null is allowed everywhere. */
export type Shape = { leaf: Leaf } | { list: Shape } | { struct: Record<string, Shape> }

const string: Shape = { leaf: { type: 'BYTE_ARRAY', converted_type: 'UTF8' } }
const boolean: Shape = { leaf: { type: 'BOOLEAN' } }
const int8: Shape = { leaf: { type: 'INT32', converted_type: 'INT_8' } }
const int32: Shape = { leaf: { type: 'INT32' } }
const int64: Shape = { leaf: { type: 'INT64' } }
const double: Shape = { leaf: { type: 'DOUBLE' } }
const list = (element: Shape): Shape => ({ list: element })
const struct = (fields: Record<string, Shape>): Shape => ({ struct: fields })

export interface Column {
  name: string
  shape: Shape
  /** What it holds, one line of Markdown. */
  about: string
}

const message = struct({ role: string, content: string, name: string, tool_calls: string })
const turn = struct({
  start: int32,
  end: int32,
  result_end: int32,
  reward: double,
  calls: string,
  parse_error: string,
  parse_errors: int32,
  scene: string,
})

const BEFORE_REWARD: readonly Column[] = [
  { name: 'step', shape: int64, about: 'GRPO step, from 1 (TRL)' },
  { name: 'prompt', shape: string, about: 'the prompt’s ids decoded, special tokens removed (TRL)' },
  { name: 'completion', shape: string, about: 'all ids after the prompt decoded, tool results included, special tokens removed (TRL)' },
]

const AFTER_REWARD: readonly Column[] = [
  { name: 'advantage', shape: double, about: 'advantage of the episode (TRL), which all its tokens with `train_mask` 1 were trained with; 0 where unscorable' },
  { name: 'run_id', shape: string, about: 'the run; the same in all rows' },
  { name: 'episode', shape: int32, about: 'index in the step, group by group' },
  { name: 'group', shape: int32, about: 'index of the group: attempts at the same prompt and seed' },
  { name: 'seed', shape: int64, about: 'environment seed, shared by the group' },
  { name: 'environment', shape: string, about: 'of several environments, the one that played the episode; null where there is one' },
  { name: 'reward', shape: double, about: 'reward of the episode, the functions’ weighted sum; null where it could not be scored' },
  { name: 'discarded', shape: boolean, about: 'true where the group had no signal and was sampled again (dynamic sampling): no update saw it' },
  { name: 'success', shape: boolean, about: 'whether the task was solved; null where nobody can tell' },
  { name: 'exit_reason', shape: string, about: '`env_done`, `answered`, `turn_limit`, `token_limit`, `env_error`, `env_unreadable` or `stopped`' },
  {
    name: 'verdict',
    shape: string,
    about: 'what stands behind the reward: `said`, `no_call`, `budget`, `env_silent`, `env_failed`, `unreadable` or `stopped`',
  },
  { name: 'error', shape: string, about: 'what the environment failed with; null otherwise' },
  { name: 'lasting', shape: boolean, about: 'true where the environment would fail in the same way again' },
  { name: 'terminated', shape: boolean, about: 'whether the last sampled token ends a turn' },
  {
    name: 'messages',
    shape: list(message),
    about: 'the conversation: `role`, `content`, `name`; `tool_calls` is JSON (a list of `{type, function: {name, arguments}}`) or null',
  },
  { name: 'prompt_length', shape: int32, about: 'tokens of the prompt: `ids[:prompt_length]`' },
  { name: 'ids', shape: list(int32), about: 'all token ids, prompt first' },
  { name: 'mask', shape: list(int8), about: '1 where the model wrote the token; one for each of `ids`, as in all columns to `texts`' },
  {
    name: 'train_mask',
    shape: list(int8),
    about: '1 where the loss saw the token: `mask`, but 0 all over in unscorable and discarded episodes and, with `mask_truncated_completions`, in those that were cut off',
  },
  { name: 'authors', shape: list(string), about: '`model`, `environment` or `template`' },
  { name: 'sampler_logprobs', shape: list(double), about: 'log-prob (nats) that the sampler drew the token with; 0 where mask is 0' },
  { name: 'train_logprobs', shape: list(double), about: 'log-prob by the training graph before the update: π_old, but where `stale`; null where `train_mask` is 0 all over' },
  { name: 'stale', shape: boolean, about: 'true where the weights before the last update sampled the episode (max_staleness 1): π_old is then `sampler_logprobs`' },
  { name: 'entropies', shape: list(double), about: 'entropy (nats) of the distribution the token was drawn from; null likewise' },
  { name: 'texts', shape: list(string), about: 'text of every token' },
  { name: 'alternative_ids', shape: list(list(int32)), about: 'the likeliest tokens where the model sampled, best first; empty elsewhere' },
  { name: 'alternative_probs', shape: list(list(double)), about: 'their probabilities' },
  { name: 'alternative_texts', shape: list(list(string)), about: 'their texts' },
  {
    name: 'turns',
    shape: list(turn),
    about:
      'the model’s turns: its tokens are `[start, end)`, the answer’s `[end, result_end)`; `reward` is the sum of what the turn’s calls brought; ' +
      '`calls` is JSON (a list of `{call, result, reward, done, error, ms}`); `scene` is JSON for drawing',
  },
  { name: 'scene', shape: string, about: 'the environment’s scene after reset, JSON for drawing' },
  { name: 'run', shape: string, about: 'the run’s settings as JSON, in the first row only' },
]

const OWN_NAMES = new Set([...BEFORE_REWARD, ...AFTER_REWARD].map(({ name }) => name))

/** TRL's column of a reward function: its name, unless a column here has that name already. */
export function rewardColumn(name: string): string {
  return name === '' || OWN_NAMES.has(name) ? `rewards/${name}` : name
}

/** What the columns depend on. */
export type ColumnsRun = Pick<RunRecord, 'environment' | 'config'>

/** Names of a run's reward functions, the environment's by the environment's name; each has a column. */
export function rewardsOf({ environment, config }: ColumnsRun): string[] {
  return rewardNames(config.grpo.reward_funcs, environment.name, environment.members?.map(({ name }) => name))
}

/** All columns of a run, in order. */
export function columnsOf(run: ColumnsRun): Column[] {
  const rewards = rewardsOf(run).map((name) => ({ name: rewardColumn(name), shape: double, about: 'what the reward function of that name gave (TRL), before its weight; null where it has no opinion' }))
  return [...BEFORE_REWARD, ...rewards, ...AFTER_REWARD]
}

/** The columns as a Parquet schema: parents first. */
export function parquetSchemaOf(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(({ name, shape }) => elementsOf(name, shape))]
}

function elementsOf(name: string, shape: Shape): SchemaElement[] {
  const element = { name, repetition_type: 'OPTIONAL' } as const
  if ('leaf' in shape) return [{ ...element, ...shape.leaf }]
  if ('list' in shape) {
    const repeated = { name: 'list', repetition_type: 'REPEATED', num_children: 1 } as const
    return [{ ...element, converted_type: 'LIST', num_children: 1 }, repeated, ...elementsOf('element', shape.list)]
  }
  const fields = Object.entries(shape.struct)
  return [{ ...element, num_children: fields.length }, ...fields.flatMap(([field, of]) => elementsOf(field, of))]
}

/** Whether Parquet keeps the column as 64-bit integers, which the writer wants as BigInt. */
export function isInt64({ shape }: Column): boolean {
  return 'leaf' in shape && shape.leaf.type === 'INT64'
}

/** Whether the column holds real numbers, or lists of them. */
export function isReal({ shape }: Pick<Column, 'shape'>): boolean {
  return 'list' in shape ? isReal({ shape: shape.list }) : 'leaf' in shape && shape.leaf.type === 'DOUBLE'
}

/** A row as one line of JSON. */
export function jsonLine(columns: readonly Column[], row: Readonly<Record<string, unknown>>): string {
  return jsonText(row, struct(Object.fromEntries(columns.map(({ name, shape }) => [name, shape]))))
}

function jsonText(value: unknown, shape: Shape): string {
  if (value === null || value === undefined) return 'null'
  if ('list' in shape) return `[${(value as unknown[]).map((each) => jsonText(each, shape.list)).join(',')}]`
  if ('struct' in shape) {
    const fields = value as Record<string, unknown>
    return `{${Object.entries(shape.struct).map(([name, of]) => `${JSON.stringify(name)}:${jsonText(fields[name], of)}`).join(',')}}`
  }
  if (typeof value === 'number' && shape.leaf.type === 'DOUBLE') return doubleText(value)
  // Half a surrogate pair is no text: JSON would escape it, and Python's readers refuse the file.
  return JSON.stringify(typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\uFFFD') : value)
}

/** Readers take the type of a column from its first numbers: 1 would make it one of integers. */
function doubleText(value: number): string {
  if (!Number.isFinite(value)) return 'null'
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}

/** The columns of exported trajectories, one table for JSONL, Parquet, the reader and the dataset's card. */

import type { SchemaElement } from 'hyparquet'

/** A Parquet column or a part of one: its schema elements, parents first, all nullable. */
type Shape = (name: string) => SchemaElement[]

const leaf =
  (type: SchemaElement['type'], converted_type?: SchemaElement['converted_type']): Shape =>
  (name) => [{ name, type, repetition_type: 'OPTIONAL', ...(converted_type ? { converted_type } : {}) }]

const string = leaf('BYTE_ARRAY', 'UTF8')
const boolean = leaf('BOOLEAN')
const int8 = leaf('INT32', 'INT_8')
const int32 = leaf('INT32')
const int64 = leaf('INT64')
const double = leaf('DOUBLE')

const list =
  (element: Shape): Shape =>
  (name) => [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...element('element'),
  ]

const struct =
  (fields: Record<string, Shape>): Shape =>
  (name) => [
    { name, repetition_type: 'OPTIONAL', num_children: Object.keys(fields).length },
    ...Object.entries(fields).flatMap(([field, shape]) => shape(field)),
  ]

export interface Column {
  name: string
  shape: Shape
  /** Real numbers of many digits: split by byte they compress, since what comes from float32 has three bytes of zeros. */
  split?: true
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
  { name: 'advantage', shape: double, about: 'advantage of all trained tokens of the episode (TRL); 0 where unscorable' },
  { name: 'run_id', shape: string, about: 'the run; the same in all rows' },
  { name: 'episode', shape: int32, about: 'index in the step, group by group' },
  { name: 'group', shape: int32, about: 'index of the group: attempts at the same prompt and seed' },
  { name: 'seed', shape: int64, about: 'environment seed, shared by the group' },
  { name: 'reward', shape: double, about: 'reward of the episode; null where it could not be scored' },
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
  { name: 'mask', shape: list(int8), about: '1 where the model wrote the token and it trains; one for each of `ids`, as in all columns to `texts`' },
  { name: 'authors', shape: list(string), about: '`model`, `environment` or `template`' },
  { name: 'sampler_logprobs', shape: list(double), split: true, about: 'log-prob (nats) that the sampler drew the token with; 0 where mask is 0' },
  { name: 'train_logprobs', shape: list(double), split: true, about: 'log-prob by the training graph before the update (π_old); null where it was not trained on' },
  { name: 'entropies', shape: list(double), split: true, about: 'entropy (nats) of the distribution the token was drawn from' },
  { name: 'texts', shape: list(string), about: 'text of every token' },
  { name: 'alternative_ids', shape: list(list(int32)), about: 'the likeliest tokens where the model sampled, best first; null elsewhere' },
  { name: 'alternative_probs', shape: list(list(double)), split: true, about: 'their probabilities' },
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
export function rewardColumn(environment: string): string {
  return environment === '' || OWN_NAMES.has(environment) ? `rewards/${environment}` : environment
}

/** All columns of a run, in order; `environment` is its environment's name. */
export function columnsOf(environment: string): Column[] {
  const reward = { name: rewardColumn(environment), shape: double, about: 'what the reward function of that name gave (TRL); null where unscorable' }
  return [...BEFORE_REWARD, reward, ...AFTER_REWARD]
}

/** The columns as a Parquet schema. */
export function parquetSchemaOf(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(({ name, shape }) => shape(name))]
}

/** Whether Parquet keeps the column as 64-bit integers, which the writer wants as BigInt. */
export function isInt64({ name, shape }: Column): boolean {
  return shape(name)[0]?.type === 'INT64'
}

/** Episodes of the page's environments, played by random calls as a rollout plays them, and the same calls on an exported folder. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../src/core/environment'
import type { RandomStream } from '../../src/core/random'
import type { JsonSchema, Tool, ToolCall } from '../../src/core/tools'
import { playTurn } from '../../src/rollout/sessions'
import { venvPython } from '../tools/venv'
import { REFERENCE, ROOT } from './reference'

export interface PlayedEpisode {
  seed: number
  calls: ToolCall[]
  start: string
  /** One for each call; the last one's is not read by the model when the episode is over. */
  results: string[]
  reward: number | null
  over: boolean
}

/** What the Python of a folder is asked. */
export interface Job {
  folder: string
  episodes?: readonly PlayedEpisode[]
  /** Calls, of which it says what would be sent. */
  plans?: readonly ToolCall[]
  /** Episodes of observation frames (JSON of their data, and the words of the action before). */
  readings?: readonly { data: string; said: readonly string[] }[][]
  schemas?: boolean
  /** Arguments of group_seeds. */
  seeds?: readonly number[]
  split?: 'train' | 'heldout'
}

/** What it says; `over` and `failure` as it sees them. */
export interface Answer {
  episodes: (Pick<PlayedEpisode, 'start' | 'results' | 'reward' | 'over'> & { failure: string | null })[]
  /** Text where the call was refused. */
  plans: (string | { action: Record<string, unknown>; then: Record<string, unknown> | null; times: number })[]
  /** Text where a frame could not be read. */
  readings: (string | { text: string; reward: number | null; done: boolean; toolError: boolean })[][]
  /** What transformers makes of the methods, or why it cannot; in the order in which TRL finds them. */
  methods: Record<string, Tool | string>
  tools: Tool[]
  prompts: [string, string]
  seeds: number[]
}

const silent = { waiting: () => undefined, answered: () => undefined }

/** One episode of at most `turns` calls that `choose` makes; scored as a rollout scores it. */
export async function playEpisode(environment: Environment, seed: number, split: 'train' | 'heldout', turns: number, choose: (turn: number) => ToolCall): Promise<PlayedEpisode> {
  const session = await environment.open()
  try {
    const { text } = await session.reset({ seed, episode_id: `e${seed}`, split })
    const played: PlayedEpisode = { seed, calls: [], start: text, results: [], reward: null, over: false }
    const rewards: (number | null)[] = []
    let accepted = false
    for (let turn = 0; turn < turns && !played.over; turn++) {
      const call = choose(turn)
      const outcome = await playTurn(session, [{ kind: 'call', call }], environment.tools, silent)
      if (outcome.failure) throw new Error(outcome.failure.error)
      played.calls.push(call)
      played.results.push(...outcome.results.map(({ content }) => content))
      rewards.push(...outcome.calls.map((each) => each.reward))
      accepted ||= outcome.calls.some((each) => !each.error)
      played.over = outcome.done
    }
    const final = await session.finalReward?.()
    played.reward = (final === undefined ? environment.episodeReward(rewards) : final) ?? (accepted ? null : 0)
    return played
  } finally {
    await session.close()
  }
}

/** A call of one of the tools; one in six does not fit its schema. */
export function randomCall(tools: readonly Tool[], random: RandomStream): ToolCall {
  const { name, parameters } = random.pick(tools).function
  const given = Object.entries(parameters.properties ?? {}).filter(([key]) => (parameters.required ?? []).includes(key) || random.int(2) === 0)
  const args = Object.fromEntries(given.map(([key, schema]) => [key, randomValue(schema, random)]))
  if (random.int(6) > 0) return { name, arguments: args }
  const wrong = random.int(3)
  if (wrong === 0 || given.length === 0) return { name, arguments: { ...args, surplus: 'é "x" '.repeat(9) } }
  return { name, arguments: wrong === 1 ? {} : Object.fromEntries(given.map(([key]) => [key, [1.5, null, 'up']])) }
}

function randomValue({ type, enum: values, minimum, maximum, items }: JsonSchema, random: RandomStream): unknown {
  if (values !== undefined) return random.pick(values)
  const [low, high] = [typeof minimum === 'number' ? minimum : -1, typeof maximum === 'number' ? maximum : 9]
  if (type === 'integer') return low + random.int(high - low + 2)
  if (type === 'number') return low + random.int(100) / 10
  if (type === 'string') return ['', 'sun', 'flower garden', "🙂 it's \\ naïve\n", '[crane]', 'a'.repeat(40)][random.int(6)]
  if (type === 'array' && items !== undefined) return Array.from({ length: random.int(3) }, () => randomValue(items, random))
  throw new Error(`no value for ${type}`)
}

/** Asks the folders' Python, all in one process of the reference's interpreter. */
export function ask(jobs: readonly Job[]): Answer[] {
  const place = join(REFERENCE, 'trl-environment')
  mkdirSync(place, { recursive: true })
  const [asked, answered] = ['jobs', 'answers'].map((name) => join(place, `${name}.json`)) as [string, string]
  const plain = jobs.map(({ episodes = [], ...job }) => ({ ...job, episodes: episodes.map(({ seed, calls }) => ({ seed, calls })) }))
  writeFileSync(asked, JSON.stringify(plain))
  execFileSync(venvPython('reference'), [join(ROOT, 'e2e/reference/trl_move.py'), asked, answered], { stdio: ['ignore', 'ignore', 'inherit'] })
  return JSON.parse(readFileSync(answered, 'utf8')) as Answer[]
}

/** An episode without the text that stands where the model reads no more. */
export function comparable({ start, results, reward, over }: Pick<PlayedEpisode, 'start' | 'results' | 'reward' | 'over'>): unknown {
  return { start, results: over ? results.slice(0, -1) : results, reward, over }
}

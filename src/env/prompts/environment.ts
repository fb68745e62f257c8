/** GRPO without an environment: a row's prompt, one answer of the model, and nobody but the reward functions to judge it. */

import type { DatasetFacts, DatasetPlace } from '../../core/dataset'
import type { Assignment, Draw, Environment, EnvironmentSession, Observation } from '../../core/environment'
import { PlaygroundError } from '../../core/errors'
import { problemSentence, type PlacedRow, type RowProblem } from '../../core/rows'
import type { ChatMessage } from '../../core/tools'
import { RowOrder, splitRows } from './order'
import { type PromptRow, promptRows } from './rows'

/** What stands in a source, before anything is checked. */
export interface SourceRows {
  rows: readonly PlacedRow[]
  /** Rows that are never trained on; null where the source has no such part of its own. */
  heldout: readonly PlacedRow[] | null
  problems: readonly RowProblem[]
  place?: DatasetPlace
  /** The source has more rows than were read. */
  more: boolean
}

export interface PromptsOptions {
  /** For people: the dataset's id, a file's name, "arithmetic". */
  name: string
  /** Of the run: the rows' order. */
  seed: number
  /** Put before prompts that have none. */
  system_prompt: string
  /** Rejects with PlaygroundError. */
  read(signal: AbortSignal): Promise<SourceRows>
}

/** Sentences about bad rows that are told; all are counted. */
const TOLD = 3
/** So many of the rows that look longest are counted in tokens. */
const COUNTED = 400
/** What a template writes around a short conversation, characters. */
const TEMPLATE = 200

/** Not connected yet. */
export function promptsEnvironment(options: PromptsOptions): Environment {
  return new PromptsEnvironment(options)
}

class PromptsEnvironment implements Environment {
  readonly tools = []
  readonly maxSessions = Infinity
  readonly prompts = { system: '', user: '' }
  readonly rewardless = true
  private train: PromptRow[] = []
  private heldout: PromptRow[] = []
  private facts: DatasetFacts | null = null
  private readonly told: string[] = []
  private orders: Record<Draw['split'], RowOrder> | null = null
  private readonly reading = new AbortController()

  constructor(private readonly options: PromptsOptions) {}

  get name(): string {
    return this.options.name
  }

  get heldOut(): boolean {
    return this.heldout.length > 0
  }

  get dataset(): DatasetFacts | null {
    return this.facts
  }

  get remarks(): readonly string[] {
    return this.told
  }

  async connect(): Promise<void> {
    const { name, system_prompt, read } = this.options
    const source = await read(this.reading.signal)
    const used = promptRows(source.rows, system_prompt)
    const held = source.heldout && promptRows(source.heldout, system_prompt)
    const problems = [...source.problems, ...used.problems, ...(held?.problems ?? [])]
    if (used.rows.length === 0) {
      const [first] = problems
      throw new PlaygroundError('config', `No row of ${name} can be used as a prompt.`, first ? problemSentence(first) : 'Give at least one row with a "prompt".')
    }
    const { train, heldout } = held ? { train: used.rows, heldout: held.rows } : splitRows(used.rows)
    this.train = train
    this.heldout = heldout
    this.told.push(...problemsTold(problems, used.rows.length))
    if (source.more) this.told.push(`${name} has more rows than are read here: the first ${source.rows.length.toLocaleString('en')} are used.`)
    this.settle(source.place)
  }

  fit(tokens: (messages: readonly ChatMessage[]) => number, most: number): number {
    const all = [...this.train, ...this.heldout].map((row) => ({ row, weight: weightOf(row) })).sort((a, b) => b.weight - a.weight)
    const long = new Set<PromptRow>()
    let longest = 0
    for (const [i, { row, weight }] of all.entries()) {
      // A token has at least one byte: the others surely fit.
      if (i >= COUNTED && weight <= most) break
      const count = tokens(row.messages)
      if (count > most) long.add(row)
      else longest = Math.max(longest, count)
    }
    if (long.size === 0) return longest
    if (this.train.every((row) => long.has(row))) {
      throw new PlaygroundError('config', `Every prompt of ${this.name} is longer than ${most} tokens.`, 'Choose a dataset with shorter prompts, or a smaller max_completion_length.')
    }
    this.told.push(`${long.size} of ${all.length} rows of ${this.name} ${long.size === 1 ? 'is' : 'are'} left out: longer than the ${most} tokens that a prompt may have here.`)
    this.train = this.train.filter((row) => !long.has(row))
    this.heldout = this.heldout.filter((row) => !long.has(row))
    this.settle(this.facts?.place)
    return longest
  }

  assign(draw: Draw): Assignment {
    const isHeld = draw.split === 'heldout' && this.heldout.length > 0
    const row = (isHeld ? this.heldout : this.train)[this.orders?.[isHeld ? 'heldout' : 'train'].rowOf(draw) ?? 0]
    if (!row) throw new PlaygroundError('config', `The rows of ${this.name} were not read yet.`)
    return { environment: this, messages: row.messages, columns: row.columns }
  }

  open(): Promise<EnvironmentSession> {
    return Promise.resolve(SESSION)
  }

  episodeReward(): null {
    return null
  }

  /** Asked only where no reward function was called. */
  isSuccess(reward: number): boolean {
    return reward >= 1
  }

  close(): Promise<void> {
    this.reading.abort()
    return Promise.resolve()
  }

  private settle(place: DatasetPlace | undefined): void {
    const { name, seed } = this.options
    this.orders = { train: new RowOrder(this.train.length, seed), heldout: new RowOrder(Math.max(1, this.heldout.length), seed) }
    const columns = [...new Set(this.train.flatMap((row) => Object.keys(row.columns)))]
    this.facts = { name, ...(place && { place }), rows: this.train.length, heldOut: this.heldout.length, columns }
  }
}

/** At least as large as the tokens of a row: bytes, and digits, which are tokens of their own, more than once so that they are counted first. */
function weightOf({ messages }: PromptRow): number {
  const text = messages.map(({ content }) => content).join('')
  return TEMPLATE + new TextEncoder().encode(text).length + 2 * (text.match(/\d/g)?.length ?? 0)
}

function problemsTold(problems: readonly RowProblem[], used: number): string[] {
  if (problems.length === 0) return []
  const more = problems.length - TOLD
  const all = problems.slice(0, TOLD).map(problemSentence).join(' ')
  return [`${problems.length} of ${problems.length + used} rows cannot be used. ${all}${more > 0 ? ` And ${more} more.` : ''}`]
}

const NOTHING_SAID: Observation = { text: '', reward: null, done: false, metadata: {}, toolError: false }

const SESSION: EnvironmentSession = {
  reset: () => Promise.resolve(NOTHING_SAID),
  step: ({ name }) => Promise.resolve({ ...NOTHING_SAID, text: `Error: there is no tool ${name}.`, toolError: true, done: true }),
  close: () => Promise.resolve(),
}

/** Several environments as one: each group is played by one of them, chosen by a dataset's column or by weight. */

import type { Assignment, Draw, Environment, EnvironmentSession } from '../core/environment'
import { describeError, PlaygroundError } from '../core/errors'
import { firstMessages, withSystem } from '../core/first-messages'
import type { RowProblem } from '../core/rows'
import type { ToolEdit } from '../core/tool-edits'
import type { ChatMessage, Tool } from '../core/tools'
import { promptsEnvironment, type PromptsOptions, type SourceRows } from './prompts/environment'
import { RoundRobin } from './round-robin'
import { withToolEdits } from './tool-edits'
import { wrapped } from './wrapped'

/** The column that chooses the environment of a row: TRL's, with a dict of factories. */
export const ENVIRONMENT_COLUMN = 'environment'

export interface MixPart {
  /** As it was chosen: a name, an address, a class. */
  name: string
  /** Not connected yet. */
  environment: Environment
  weight: number
  /** Empty: the environment's own. */
  system_prompt: string
  user_prompt: string
  /** Room for what it says at reset, in tokens. */
  room: number
}

export interface MixOptions {
  parts: readonly MixPart[]
  /** An edit changes the tool of that name in every environment that has it. */
  edits: readonly ToolEdit[]
  dataset: Omit<PromptsOptions, 'system_prompt'> | null
}

/** Not connected yet. */
export function mixEnvironment(options: MixOptions): Environment {
  return new MixEnvironment(options)
}

class MixEnvironment implements Environment {
  /** As they are played: under names of their own, with their tools as edited and the prompts that their episodes begin with. */
  members: readonly Environment[]
  private readonly turns: RoundRobin
  private readonly rows: Environment | null
  private crowded: (() => void) | undefined

  constructor(private readonly options: MixOptions) {
    const { parts, dataset } = options
    this.members = parts.map(({ environment }) => environment)
    this.turns = new RoundRobin(parts.map(({ weight }) => weight))
    this.rows = dataset && promptsEnvironment({ ...dataset, system_prompt: '', read: async (signal) => this.checked(await dataset.read(signal)) })
  }

  get name(): string {
    return this.members.map(({ name }) => name).join(' + ')
  }

  /** Where one list is wanted, the first member's; each group has its own environment's. */
  get tools(): readonly Tool[] {
    return this.first.tools
  }

  get ownTools(): readonly Tool[] {
    return this.first.ownTools ?? this.first.tools
  }

  get prompts(): Environment['prompts'] {
    return this.promptsOf(0)
  }

  get maxSessions(): number {
    return this.members.reduce((sum, { maxSessions }) => sum + maxSessions, 0)
  }

  get heldOut(): boolean {
    return (this.rows?.heldOut ?? false) || this.members.every(({ heldOut }) => heldOut === true)
  }

  get dataset(): Environment['dataset'] {
    return this.rows ? (this.rows.dataset ?? null) : undefined
  }

  get remarks(): readonly string[] {
    return [...this.members, ...(this.rows ? [this.rows] : [])].flatMap(({ remarks = [] }) => remarks)
  }

  get onCrowded(): (() => void) | undefined {
    return this.crowded
  }

  set onCrowded(listener) {
    this.crowded = listener
    for (const member of this.members) member.onCrowded = listener
  }

  /** All at once: the slowest server is what is waited for. */
  async connect(): Promise<void> {
    const { parts, edits } = this.options
    try {
      await Promise.all(parts.map(({ environment, name }) => environment.connect().catch((error: unknown) => Promise.reject(ofMember(name, error)))))
      const names = namesOf(this.members)
      const own = edited(this.members, edits)
      this.members = own.map((member, i) => wrapped(this.rows ? withoutColumn(member) : member, { name: names[i] ?? member.name, prompts: this.promptsOf(i) }))
      await this.rows?.connect()
    } catch (error) {
      await this.close()
      throw error
    }
  }

  fit(tokens: (messages: readonly ChatMessage[], tools?: readonly Tool[]) => number, most: number): number {
    const { parts } = this.options
    const lengths = this.members.map(({ tools }) => (messages: readonly ChatMessage[]) => tokens(messages, tools))
    if (this.rows?.fit) {
      const room = Math.max(...parts.map((part) => part.room))
      const longest = (messages: readonly ChatMessage[]) => Math.max(...lengths.map((length, i) => length(withSystem(messages, this.promptsOf(i).system))))
      return this.rows.fit(longest, most) + room
    }
    return Math.max(
      ...this.members.map((member, i) => {
        const length = lengths[i] ?? tokens
        return member.fit?.(length, most) ?? length(this.messagesOf(i)) + (parts[i]?.room ?? 0)
      }),
    )
  }

  assign(draw: Draw): Assignment {
    const row = this.rows?.assign?.(draw)
    const chosen = row?.columns?.[ENVIRONMENT_COLUMN]
    const { member, rank } = typeof chosen === 'string' ? { member: this.memberOf(chosen) ?? 0, rank: 0 } : this.turnOf(draw)
    const environment = this.members[member] ?? this.first
    if (row) return { environment, messages: withSystem(row.messages ?? [], this.promptsOf(member).system), ...(row.columns && { columns: row.columns }) }
    const { prompt, ...unnumbered } = draw
    const own = environment.assign?.(prompt === undefined ? unnumbered : { ...unnumbered, prompt: rank })
    return own ? { ...own, environment } : { environment, messages: this.messagesOf(member) }
  }

  open(): Promise<EnvironmentSession> {
    return this.first.open()
  }

  episodeReward(rewards: readonly (number | null)[]): number | null {
    return this.first.episodeReward(rewards)
  }

  isSuccess(reward: number): boolean {
    return this.first.isSuccess(reward)
  }

  async close(): Promise<void> {
    await Promise.all([...this.options.parts.map(({ environment }) => environment.close()), this.rows?.close()])
  }

  private get first(): Environment {
    const [first] = this.members
    if (!first) throw new PlaygroundError('config', 'A run of several environments has none.', 'Add at least one.')
    return first
  }

  private turnOf({ prompt, seed }: Draw): { member: number; rank: number } {
    return prompt === undefined ? { member: this.turns.drawn(seed), rank: 0 } : this.turns.turn(prompt)
  }

  private promptsOf(i: number): Environment['prompts'] {
    const [part, own] = [this.options.parts[i], this.members[i]?.prompts]
    return { system: part?.system_prompt || own?.system || '', user: part?.user_prompt || own?.user || '' }
  }

  private messagesOf(i: number): ChatMessage[] {
    const { system, user } = this.promptsOf(i)
    return firstMessages({ system_prompt: system, user_prompt: user })
  }

  /** By the name under which it is measured, or as it was chosen. */
  private memberOf(name: string): number | null {
    const at = this.members.findIndex((member) => member.name === name)
    const found = at >= 0 ? at : this.options.parts.findIndex((part) => part.name === name)
    return found < 0 ? null : found
  }

  /** Rows that name an environment which is not there are left out and told. */
  private checked(source: SourceRows): SourceRows {
    const problems: RowProblem[] = []
    const known = (placed: SourceRows['rows']) => {
      const chooses = placed.some(({ row }) => has(row))
      return placed.filter(({ place, row }) => {
        const problem = chooses ? this.problemOf(row) : null
        if (problem !== null) problems.push({ place, field: ENVIRONMENT_COLUMN, problem, advice: `Name one of ${this.members.map(({ name }) => name).join(', ')}.` })
        return problem === null
      })
    }
    const rows = known(source.rows)
    const heldout = source.heldout && known(source.heldout)
    return { ...source, rows, heldout, problems: [...source.problems, ...problems] }
  }

  private problemOf(row: Record<string, unknown>): string | null {
    const name = row[ENVIRONMENT_COLUMN]
    if (!has(row)) return 'Other rows choose an environment, this one does not'
    if (typeof name !== 'string') return 'It is no text'
    return this.memberOf(name) === null ? `There is no environment ${JSON.stringify(name)} in this run` : null
  }
}

const has = (row: Record<string, unknown>): boolean => row[ENVIRONMENT_COLUMN] !== undefined && row[ENVIRONMENT_COLUMN] !== null

function ofMember(name: string, error: unknown): PlaygroundError {
  const { kind, message, advice } = error instanceof PlaygroundError ? error : { kind: 'environment' as const, message: describeError(error), advice: '' }
  return new PlaygroundError(kind, `One of the environments of this run, ${name}, cannot be used: ${message}`, advice)
}

/** Each with those edits that are about its tools. Throws PlaygroundError('config') for an edit of a tool that none has. */
function edited(members: readonly Environment[], edits: readonly ToolEdit[]): Environment[] {
  const toolsOf = ({ tools }: Environment) => tools.map((tool) => tool.function.name)
  const stray = edits.find((edit) => !members.some((member) => toolsOf(member).includes(edit.tool)))
  if (stray) {
    const tools = [...new Set(members.flatMap(toolsOf))].join(', ')
    throw new PlaygroundError('config', `No environment of this run has the tool ${JSON.stringify(stray.tool)} that was edited.`, tools ? `Their tools are: ${tools}.` : 'They have no tools.')
  }
  return members.map((member) => {
    const own = withToolEdits(member, edits.filter((edit) => toolsOf(member).includes(edit.tool)))
    // What does not fit is said now, not in the middle of a step.
    return own.tools.length >= 0 ? own : member
  })
}

/** Two of one name are told apart: the second is NAME_2. */
function namesOf(members: readonly Environment[]): string[] {
  const names: string[] = []
  for (const member of members) {
    let [name, n] = [member.name, 1]
    while (names.includes(name)) name = `${member.name}_${++n}`
    names.push(name)
  }
  return names
}

/** The column that chose the environment is withheld from reset, as in TRL. */
function withoutColumn(member: Environment): Environment {
  return wrapped(member, {
    open: async () => {
      const session = await member.open()
      return wrapped(session, {
        reset: ({ columns, ...options }) => {
          const { [ENVIRONMENT_COLUMN]: _, ...rest } = columns ?? {}
          return session.reset({ ...options, ...(columns && { columns: rest }) })
        },
      })
    },
  })
}

/** A class written in the page as an environment: TRL's environment_factory contract, one instance for each episode, in the sandbox. */

import type { Environment, EnvironmentSession, Observation, ResetOptions } from '../../core/environment'
import type { PageFunction } from '../../core/environment-spec'
import { PlaygroundError } from '../../core/errors'
import { hash } from '../../core/random'
import type { Tool, ToolCall } from '../../core/tools'
import type { ClassFacts, ClassTool } from './class-source'
import { codeFailure, codeLine, thrownText } from './code-error'
import { CALL_SECONDS, type LiveAnswer, type LiveWorker } from './live-client'
import type { SandboxClient } from './sandbox-client'

const MEND = 'Mend it under Environment and try it there.'

/** Not connected yet. `sandbox` is asked for when code is to run; it throws where a person allowed none. */
export function customEnvironment(func: PageFunction, sandbox: () => Pick<SandboxClient, 'live'>): Environment {
  return new CustomEnvironment(func, sandbox)
}

class CustomEnvironment implements Environment {
  readonly name: string
  readonly maxSessions = Infinity
  prompts = { system: '', user: '' }
  tools: readonly Tool[] = []
  heldOut?: boolean
  rewardless?: true
  unrewarded?: string
  private facts: ClassFacts | null = null
  private worker: LiveWorker | null = null

  constructor(
    private readonly func: PageFunction,
    private readonly sandbox: () => Pick<SandboxClient, 'live'>,
  ) {
    this.name = func.called
  }

  /** Reads the class, and makes one instance: what its first lines or its constructor do wrong is said now. */
  async connect(): Promise<void> {
    const { readClass } = await import('./class-source')
    const { facts, problems } = readClass(this.func.code, this.name)
    const [first] = problems
    if (first || !facts) throw new PlaygroundError('config', `${this.name}, line ${first?.line ?? 1}: ${first?.message ?? 'it cannot be read.'}`, MEND)
    this.worker?.end()
    const worker = this.sandbox().live('class', this.func)
    this.worker = worker
    this.facts = facts
    const answer = await worker.call({ act: 'new', instance: 0, seed: 0 })
    if (answer.refused) throw new PlaygroundError('config', `The code of ${this.name} was not allowed to run.`, 'Read it under Environment and allow it.')
    const failure = failureIn(facts, answer, 'constructor')
    if (failure !== null) throw new PlaygroundError('config', failure, MEND)
    await worker.call({ act: 'drop', instance: 0 })
    this.tools = facts.tools.map(({ tool }) => tool)
    this.prompts = facts.prompts
    if (facts.heldOut) this.heldOut = true
    if (!facts.hasReward && !facts.givesReward) this.rewardless = true
    this.unrewarded = facts.hasReward ? `${this.name}.get_reward() returned no number` : `${this.name} has no get_reward()${facts.givesReward ? ', and no answer of its tools held a reward' : ''}`
  }

  open(): Promise<EnvironmentSession> {
    if (!this.worker || !this.facts) return Promise.reject(new PlaygroundError('environment', `${this.name} was asked for an episode before it was connected.`))
    return Promise.resolve(new CustomSession(this.worker, this.facts))
  }

  episodeReward(rewards: readonly (number | null)[]): number | null {
    return rewards.findLast((reward) => reward !== null) ?? null
  }

  isSuccess(reward: number): boolean {
    return reward >= (this.facts?.successAt ?? 1)
  }

  close(): Promise<void> {
    this.worker?.end()
    this.worker = null
    return Promise.resolve()
  }
}

/** Instances have numbers of their own within a page. */
let instances = 0

class CustomSession implements EnvironmentSession {
  private readonly instance = ++instances
  private life: number | undefined
  /** Calls of this episode without an answer yet. */
  private open = 0
  readonly finalReward?: () => Promise<number | null>

  constructor(
    private readonly worker: LiveWorker,
    private readonly facts: ClassFacts,
  ) {
    if (facts.hasReward) this.finalReward = () => this.ask({ act: 'reward', method: 'get_reward', args: [] }).then(({ reward }) => reward ?? null)
  }

  async reset({ seed, split, columns }: ResetOptions): Promise<Observation> {
    await this.ask({ act: 'new', method: 'constructor', seed: hash(seed, split === 'train' ? 0 : 1) })
    return observed(await this.ask({ act: 'reset', method: 'reset', args: [{ seed, split, ...columns }] }))
  }

  /** What the method throws is told to the model, as in TRL, and the episode goes on. */
  async step({ name, arguments: given }: ToolCall): Promise<Observation> {
    const tool = this.facts.tools.find((each) => each.tool.function.name === name)
    if (!tool) throw new PlaygroundError('environment', `${this.facts.name} has no tool ${name}.`)
    const answer = await this.send({ act: 'call', method: name, args: argumentsOf(tool, given) })
    const { error, contract, timedOut, lost } = answer
    if (error === undefined || contract || timedOut || lost || answer.life === undefined) return observed(this.checked(answer, name))
    return { text: `{'error': ${pythonText(thrownText({ error }))}}`, reward: null, done: answer.done ?? false, metadata: { ...logsOf(answer), line: codeLine(answer, this.facts.codeLines) }, toolError: true }
  }

  /** In the middle of a call it is the run that ends: so does the worker, with whatever the call computes or waits for. */
  async close(): Promise<void> {
    if (this.open > 0) this.worker.end()
    else if (this.life !== undefined) await this.worker.call({ act: 'drop', instance: this.instance }, this.life)
  }

  private async ask(message: { act: string; method: string; args?: unknown[]; seed?: number }): Promise<LiveAnswer> {
    return this.checked(await this.send(message), message.method)
  }

  private async send(message: object): Promise<LiveAnswer> {
    this.open++
    const answer = await this.worker.call({ ...message, instance: this.instance }, this.life).finally(() => this.open--)
    this.life ??= answer.life
    return answer
  }

  private checked(answer: LiveAnswer, method: string): LiveAnswer {
    const failure = failureIn(this.facts, answer, method)
    if (failure !== null) throw new PlaygroundError('environment', failure, MEND, { recurrence: 'lasting' })
    return answer
  }
}

/** By position; what was left out is undefined, so that a default of the method's own stands. */
const argumentsOf = ({ params }: ClassTool, given: Readonly<Record<string, unknown>>): unknown[] => params.map((name) => given[name])

const logsOf = ({ logs = [] }: LiveAnswer): Record<string, unknown> => (logs.length > 0 ? { console: logs } : {})

const observed = (answer: LiveAnswer): Observation => ({
  text: answer.text ?? '',
  reward: answer.reward ?? null,
  done: answer.done ?? false,
  metadata: logsOf(answer),
  toolError: false,
})

/** What went wrong in a call, as a sentence with the line; null where nothing did. */
export function failureIn({ name, line, lines, tools, codeLines }: Pick<ClassFacts, 'name' | 'line' | 'lines' | 'tools' | 'codeLines'>, answer: LiveAnswer, method: string): string | null {
  const called = method === 'constructor' ? `The constructor of ${name}` : `${name}.${method}`
  const at = (Object.hasOwn(lines, method) ? lines[method] : undefined) ?? tools.find(({ tool }) => tool.function.name === method)?.line ?? line
  if (answer.refused) return `The code of ${name} was not allowed to run.`
  if (answer.timedOut) return `${called} (line ${at}) took longer than ${CALL_SECONDS} s and was ended.`
  if (answer.lost) return `The episode was lost: another call of ${name} took too long and was ended.`
  if (answer.error !== undefined) return codeFailure(called, answer, codeLines)
  return null
}

/** A text as Python's repr writes it. */
export function pythonText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote
}

/** TRL's rollout_func: a function of the person's own, in the sandbox, generates a step's completions; what it asks is answered here. */

import type { EnvironmentSession } from '../../core/environment'
import type { PageFunction } from '../../core/environment-spec'
import type { Episode } from '../../core/episode'
import { type ErrorKind, PlaygroundError } from '../../core/errors'
import { isRecord } from '../../core/records'
import { hash } from '../../core/random'
import { checkToolCall } from '../../core/tool-schema'
import type { ChatMessage } from '../../core/tools'
import { codeFailure, linesOf } from '../../env/custom/code-error'
import { CALL_SECONDS, type LiveAnswer } from '../../env/custom/live-client'
import type { SandboxClient } from '../../env/custom/sandbox-client'
import type { Rollout } from '../rollout'
import { commonStart, type Scenario, scenariosOf } from '../scenarios'
import { settle } from '../sessions'
import { errorResult, parseTurn } from '../tool-calls'
import type { RolloutRequest } from '../types'
import { episodeOf, Shown } from './episodes'
import { type Beginning, Generator, type GenerateOptions } from './generate'
import { commonTools, templateTools } from './prompt-tools'
import { readResult } from './read-result'

const MEND = 'Mend it under rollout_func in the settings.'
const ALLOW = 'Read it under Settings → Sampling, at rollout_func, and press Allow there.'
/** What a function may ask of its trainer for each episode of a step: far more than one call a token, and an end for one that asks for ever. */
export const MOST_ASKED = 4000
/** Of these a function cannot know before, nor mend them. */
const OURS: readonly ErrorKind[] = ['engine', 'graph', 'model', 'memory', 'device-lost', 'non-finite']

/** A `Rollout` by the person's function. `sandbox` throws where no code was allowed. */
export function customRollout(func: PageFunction, sandbox: () => Pick<SandboxClient, 'live'>): Rollout {
  return async (request) => {
    const round = new Round(request, () => stop())
    const worker = sandbox().live('rollout', func, (what, args) => round.asked(what, args))
    const stop = (): void => worker.end()
    request.signal?.addEventListener('abort', stop)
    try {
      const answer = await worker.call(round.message())
      if (request.signal?.aborted) throw new PlaygroundError('stopped', 'The run was stopped.')
      if (round.isEndless) throw new PlaygroundError('config', `${func.called} asked its trainer more than ${round.mostAsked} times in one step, ${MOST_ASKED} for each episode, and was ended.`, `Let it return. ${MEND}`)
      const failure = failureOf(func, answer)
      // What the engine said is not the function's fault; a function that went on without it has its reasons.
      if (failure !== null && round.broken) throw round.broken.error
      if (failure !== null) throw new PlaygroundError('config', failure, MEND)
      return await round.end(func.called, answer.value)
    } finally {
      request.signal?.removeEventListener('abort', stop)
      worker.end()
      await round.close()
    }
  }
}

function failureOf({ called, code }: PageFunction, answer: LiveAnswer): string | null {
  if (answer.refused) return `The code of ${called} was not allowed to run.`
  if (answer.timedOut) return `${called} computed longer than ${CALL_SECONDS} s without asking for anything, and was ended.`
  if (answer.lost) return `${called} was ended.`
  return answer.error === undefined ? null : codeFailure(called, answer, linesOf(code))
}

interface Row {
  place: Pick<Episode, 'step' | 'index' | 'group' | 'seed'>
  scenario: Scenario
  shown: Shown
  /** The last session that was opened for it, and what its calls gave. */
  session: EnvironmentSession | null
  rewards: (number | null)[]
}

/** One step's. */
class Round {
  private readonly rows: Row[]
  private readonly generator: Generator
  private readonly sessions: { session: EnvironmentSession; row: Row }[] = []
  /** The first thing that the engine could not do. */
  broken: { error: unknown } | null = null
  private asks = 0

  /** `onEndless`: told once the function has asked too often. */
  constructor(
    private readonly request: RolloutRequest,
    private readonly onEndless: () => void,
  ) {
    const { step, groupSeeds, num_generations, firstGroup = 0 } = request
    const { scenarios } = scenariosOf(request, () => undefined)
    this.rows = groupSeeds.flatMap((seed, group) =>
      Array.from({ length: num_generations }, (_, i): Row => {
        const place = { step, index: (firstGroup + group) * num_generations + i, group: firstGroup + group, seed }
        const scenario = scenarios[group] as Scenario
        return { place, scenario, shown: new Shown(request, place, scenario), session: null, rewards: [] }
      }),
    )
    const first = this.rows[0]?.place.index ?? 0
    this.generator = new Generator(request, commonStart(request, scenarios), (drawn, token) => this.rows[drawn.index - first]?.shown.token(drawn, token))
  }

  /** What the function is called with. */
  message(): Record<string, unknown> {
    const { step, config, environment, chat, num_generations } = this.request
    return {
      act: 'call',
      seed: hash(config.seed, step),
      prompts: this.rows.map(({ scenario }) => scenario.messages),
      facts: {
        step,
        seed: config.seed,
        num_generations,
        args: { ...config },
        state: { global_step: step - 1 },
        tools: commonTools(environment),
        eos_token_id: chat.endOfTurnIds[0] ?? null,
        rows: this.rows.map(({ place: { index, group, seed }, scenario: { columns, venue } }) => ({ index, group, seed, columns: columns ?? {}, tools: venue.environment.tools })),
      },
    }
  }

  get mostAsked(): number {
    return MOST_ASKED * this.rows.length
  }

  get isEndless(): boolean {
    return this.asks > this.mostAsked
  }

  /** Answers what the function asks of its trainer, as long as it does not ask for ever. */
  asked(what: string, args: readonly unknown[]): Promise<unknown> {
    this.asks++
    if (!this.isEndless) return this.answer(what, args)
    this.onEndless()
    return Promise.reject(new Error('This was asked too often.'))
  }

  private async answer(what: string, args: readonly unknown[]): Promise<unknown> {
    const { chat } = this.request
    switch (what) {
      case 'generate':
        return this.generate(args[0], args[1])
      case 'apply_chat_template': {
        const next = !isRecord(args[1]) || args[1]['add_generation_prompt'] !== false
        const tools = templateTools(args[1], (row) => this.rowAt(row).scenario.venue.environment.tools, this.request.environment)
        return listOf(args[0], 'apply_chat_template').map((messages) => chat.conversation(messagesOf(messages), tools, next).ids)
      }
      case 'encode':
        return listOf(args[0], 'tokenize').map((text) => chat.rawText(String(text)).ids)
      case 'decode': {
        const plain = isRecord(args[1]) && args[1]['skip_special_tokens'] === true
        return listOf(args[0], 'decode').map((ids) => (plain ? chat.plainText(idsOf(ids)) : chat.text(idsOf(ids))))
      }
      case 'tool_suffix':
        return chat.toolSuffix(listOf(args[0], 'tool_suffix').map((one) => ({ name: fieldOf(one, 'name'), content: fieldOf(one, 'content') }))).ids
      case 'parse_tool_calls': {
        const { content, calls } = parseTurn(String(args[0]))
        return { content, tool_calls: calls.flatMap((each) => (each.kind === 'call' ? [each.call] : [])), errors: calls.flatMap((each) => (each.kind === 'malformed' ? [each.error] : [])) }
      }
      case 'open':
        return this.open(args[0])
      case 'reset':
      case 'step':
      case 'close':
        return this.play(what, args)
      default:
        throw new Error(`trainer has no ${what}.`)
    }
  }

  /** The episodes by what the function returned; those that played the environment are judged by it. */
  async end(called: string, value: unknown): Promise<Episode[]> {
    const returned = readResult(called, value, this.rows.map(({ place }) => place.index), this.request.chat.largestId, this.generator.drawn)
    const { contextLength } = this.request.sampler
    const episodes: Episode[] = []
    for (const [i, row] of this.rows.entries()) {
      const episode = episodeOf(returned[i] as (typeof returned)[number], row.place, row.scenario, this.request)
      if (episode.ids.length > contextLength) throw new PlaygroundError('config', `Completion ${i + 1} has ${episode.ids.length} tokens with its prompt; the context holds ${contextLength}.`, MEND)
      const { environment } = row.scenario.venue
      if (row.session) {
        const { failure, reward } = await settle(row.session)
        if (failure) Object.assign(episode, { exit: failure.unreadable ? 'env_unreadable' : 'env_error', error: failure.error, ...(failure.lasting && { lasting: true }) })
        else episode.reward = reward === undefined ? environment.episodeReward(row.rewards) : reward
        if (!failure) episode.judged = true
        if (episode.reward !== null) episode.success = environment.isSuccess(episode.reward)
      } else {
        episode.rewardless = true
      }
      row.shown.end(episode)
      episodes.push(episode)
    }
    return episodes
  }

  async close(): Promise<void> {
    await this.generator.close()
    this.request.lanes?.endAll()
    await Promise.all(this.sessions.map(({ session }) => session.close()))
  }

  private async generate(inputs: unknown, options: unknown): Promise<unknown> {
    const { chat } = this.request
    const given = isRecord(options) ? options : {}
    const list = listOf(inputs, 'generate')
    const rows = given['rows'] === undefined ? list.map((_, i) => i % this.rows.length) : listOf(given['rows'], 'generate')
    if (rows.length !== list.length) throw new Error(`trainer.generate was given ${list.length} inputs and ${rows.length} rows.`)
    const beginnings = list.map((input, i): Beginning => {
      const { place, scenario } = this.rowAt(rows[i])
      const isIds = Array.isArray(input) && input.every((id) => typeof id === 'number')
      const ids = isIds && input.length > 0 ? idsOf(input) : chat.prompt(messagesOf(input), scenario.venue.environment.tools).ids
      return { index: place.index, ids }
    })
    const drawn = await this.generator.generate(beginnings, optionsOf(given)).catch((error: unknown) => {
      if (!(error instanceof PlaygroundError) || OURS.includes(error.kind)) this.broken ??= { error }
      throw error
    })
    const completion_ids = drawn.map(({ tokens }) => tokens.map(({ id }) => id))
    return {
      prompt_ids: drawn.map(({ ids }) => ids),
      completion_ids,
      logprobs: drawn.map(({ tokens }) => tokens.map(({ logprob }) => logprob)),
      text: completion_ids.map((ids) => chat.plainText(ids)),
    }
  }

  private async open(at: unknown): Promise<number> {
    const row = this.rowAt(at)
    const session = await row.scenario.venue.environment.open()
    row.session = session
    row.rewards = []
    return this.sessions.push({ session, row }) - 1
  }

  private async play(what: 'reset' | 'step' | 'close', [number, call]: readonly unknown[]): Promise<unknown> {
    const found = this.sessions[Number(number)]
    if (!found) throw new Error('There is no such session.')
    const { session, row } = found
    if (what === 'close') return session.close()
    if (what === 'reset') {
      const { split } = this.request
      const { seed, step, index } = row.place
      const { columns } = row.scenario
      const seen = await session.reset({ seed, episode_id: `${split}-seed${this.request.config.seed}-step${step}-episode${index}`, split, ...(columns && { columns }) })
      return { text: seen.text, done: seen.done }
    }
    const given = isRecord(call) && isRecord(call['arguments']) ? call['arguments'] : {}
    const made = { name: fieldOf(call, 'name'), arguments: given }
    const refusal = checkToolCall(made, row.scenario.venue.environment.tools)
    // As in the page's own loop: the model is told, and the environment never sees it.
    if (refusal !== null) return { text: errorResult(refusal), reward: null, done: false, error: true }
    const { text, reward, done, toolError } = await session.step(made)
    if (session === row.session) row.rewards.push(reward)
    return { text, reward, done, error: toolError }
  }

  private rowAt(at: unknown): Row {
    const row = typeof at === 'number' ? this.rows[at] : undefined
    if (!row) throw new Error(`There is no prompt ${JSON.stringify(at)}: they are numbered from 0 to ${this.rows.length - 1}.`)
    return row
  }
}

function listOf(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`trainer.${where} takes a list.`)
  return value
}

function idsOf(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((id): id is number => Number.isInteger(id) && id >= 0)) throw new Error('Token ids are a list of whole numbers.')
  return value
}

function messagesOf(value: unknown): ChatMessage[] {
  const roles = ['system', 'user', 'assistant', 'tool']
  if (!Array.isArray(value) || value.length === 0) throw new Error('A conversation is a list of messages { role, content }.')
  return value.map((message) => {
    if (!isRecord(message) || !roles.includes(String(message['role'])) || typeof message['content'] !== 'string') throw new Error('A message has a role (system, user, assistant or tool) and a content, which is a text.')
    return message as unknown as ChatMessage
  })
}

function fieldOf(value: unknown, key: string): string {
  if (!isRecord(value) || typeof value[key] !== 'string') throw new Error(`${key} must be a text.`)
  return value[key]
}

const isWhole = (value: number): boolean => Number.isSafeInteger(value)
/** What trainer.generate takes. */
const ALLOWED = {
  temperature: (value) => value === 0 || (value >= 0.01 && value <= 100),
  top_k: (value) => isWhole(value) && value >= 0,
  top_p: (value) => value > 0 && value <= 1,
  min_p: (value) => value >= 0 && value <= 1,
  max_new_tokens: (value) => isWhole(value) && value >= 1,
} satisfies Record<keyof GenerateOptions, (value: number) => boolean>

function optionsOf(given: Record<string, unknown>): GenerateOptions {
  const options: GenerateOptions = {}
  for (const key of ['temperature', 'top_k', 'top_p', 'min_p', 'max_new_tokens'] as const) {
    const value = given[key]
    if (value === undefined) continue
    if (key === 'min_p' && value === null) options.min_p = null
    else if (typeof value !== 'number' || !ALLOWED[key](value)) throw new Error(`${key} of trainer.generate cannot be ${JSON.stringify(value)}.`)
    else options[key] = value
  }
  const unknown = Object.keys(given).find((key) => !['temperature', 'top_k', 'top_p', 'min_p', 'max_new_tokens', 'rows'].includes(key))
  if (unknown !== undefined) throw new Error(`trainer.generate has no option ${unknown}.`)
  return options
}

/** The same, once its code was loaded: what its first lines do wrong, or that nobody has allowed it, is said now. */
export async function readyRollout(func: PageFunction, sandbox: () => Pick<SandboxClient, 'live'>): Promise<Rollout> {
  const worker = allowed(func, sandbox).live('rollout', func)
  const answer = await worker.call({ act: 'load' })
  worker.end()
  if (answer.refused) throw new PlaygroundError('config', `The code of ${func.called} was not allowed to run.`, ALLOW)
  const failure = failureOf(func, answer)
  if (failure !== null) throw new PlaygroundError('config', failure, MEND)
  return customRollout(func, sandbox)
}

function allowed({ called }: PageFunction, sandbox: () => Pick<SandboxClient, 'live'>): Pick<SandboxClient, 'live'> {
  try {
    return sandbox()
  } catch (cause) {
    throw new PlaygroundError('config', `The code of ${called} was not allowed to run.`, ALLOW, { cause })
  }
}

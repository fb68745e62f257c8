/**
 * Chat with the loaded model: one conversation in one slot of the sampler.
 *
 * Token ids are append-only and never rendered again: each turn adds a suffix of the chat template. As long as the slot still
 * holds the conversation only the suffix is prefilled; when training or a switch of the adapter emptied it, all of it is.
 */

import type { RunConfig } from '../core/config'
import type { Sampler } from '../core/engine'
import type { Environment } from '../core/environment'
import { describeError, PlaygroundError } from '../core/errors'
import { uniform } from '../core/random'
import type { ChatFormat } from '../rollout/chat'
import { firstMessages } from '../rollout/first-messages'
import { parseTurn } from '../rollout/tool-calls'
import type { AuthoredTokens } from '../rollout/tokens'
import { CHAT_KEY, ChatTools, throwIfStopped } from './chat-tools'
import { ChatWriter } from './chat-writer'
import type { ChatOptions, Command, Message } from './protocol'

export interface ChatParts {
  engine: Pick<Sampler, 'contextLength' | 'length' | 'reset' | 'prefill' | 'decode' | 'sample' | 'useAdapter'>
  environment: Environment
  chat: ChatFormat
  config: Pick<RunConfig, 'system_prompt' | 'grpo'>
}

type ChatCommand = Extract<Command, { type: 'chat' }>
type Ended = Pick<Extract<Message, { type: 'chat-ended' }>, 'reason' | 'error'>

/** No rollout runs while a chat does, and each begins by emptying all slots. */
const SLOT = 0
const NEW = 'Press New conversation.'

interface Conversation {
  /** From 0; part of every random key. Twins have the same number. */
  number: number
  twin: boolean
  /** What it began with. */
  first: string
  adapter: ChatOptions['adapter']
  /** Whether its first prompt shows the environment's tools. */
  tools: boolean
  ids: number[]
  /** How many of `ids` the slot holds, unless it was emptied. */
  held: number
  /** Episodes of the environment that it has begun. */
  episodes: number
}

/** One answer in the making. */
interface Turn {
  conversation: Conversation
  options: ChatOptions
  format: ChatFormat
  writer: ChatWriter
  signal: AbortSignal
}

/** What needs the engine for itself: it does not wait until a chat has been said to its end. */
export const ENDS_CHAT: readonly Command['type'][] = ['configure', 'reset', 'train', 'step', 'evaluate', 'stage']

export class ChatSession {
  private conversation: Conversation | null = null
  private readonly tools: ChatTools

  constructor(
    private readonly parts: ChatParts,
    private readonly post: (message: Message) => void,
  ) {
    this.tools = new ChatTools(parts.environment, parts.config.grpo.seed)
  }

  /** Takes one user turn and answers by 'chat-tokens' and one 'chat-ended'; never rejects. Aborting stops between two tokens. */
  async turn({ requestId, text, options }: ChatCommand, signal: AbortSignal): Promise<void> {
    const format = this.parts.chat.withThinking(options.enable_thinking)
    const writer = new ChatWriter(requestId, format, this.post)
    let ended: Ended
    try {
      checkOptions(options)
      ended = await this.withAdapter(options.adapter, () => this.answer(text, { conversation: this.continue(text, options), options, format, writer, signal }))
    } catch (error) {
      const stopped = error instanceof PlaygroundError && error.kind === 'stopped'
      ended = stopped ? { reason: 'stopped', error: '' } : { reason: 'failed', error: describeError(error) }
    }
    writer.end()
    this.post({ type: 'chat-ended', requestId, ...ended })
  }

  /** Before anything else uses the slots or the environment: gives both back. The conversation can go on afterwards. */
  async release(): Promise<void> {
    if (this.conversation) this.conversation.held = 0
    await this.tools.endAll()
  }

  private async withAdapter<T>(adapter: ChatOptions['adapter'], work: () => Promise<T>): Promise<T> {
    if (adapter === 'current') return work()
    const { engine } = this.parts
    try {
      await engine.useAdapter('off')
      return await work()
    } finally {
      await engine.useAdapter('current')
    }
  }

  /**
   * The conversation that goes on, or a new one. The same question to the other model at once makes a twin: it gets the same
   * random numbers and episodes, so that only the model differs.
   */
  private continue(text: string, { fresh, tools, adapter }: ChatOptions): Conversation {
    const { conversation } = this
    if (!fresh && conversation && conversation.ids.length > 0) {
      if (conversation.tools === tools) return conversation
      throw new PlaygroundError('config', 'The tools stand in the first prompt of a conversation and cannot change later.', NEW)
    }
    this.tools.end()
    const { number, ...last } = conversation ?? { number: -1, twin: true }
    const twin = !last.twin && last.first === text && last.tools === tools && last.adapter !== adapter
    this.conversation = { number: twin ? number : number + 1, twin, first: text, adapter, tools, ids: [], held: 0, episodes: 0 }
    return this.conversation
  }

  private async answer(text: string, turn: Turn): Promise<Ended> {
    await this.say(text, turn)
    const { max_tool_calling_iterations: most } = this.parts.config.grpo
    for (let rounds = 0; ; rounds++) {
      const { ids } = turn.conversation
      const start = ids.length
      const ended = await this.write(turn)
      if (ended.reason !== 'end-of-turn' || !turn.conversation.tools) return ended
      const { calls } = parseTurn(turn.format.text(ids.slice(start, -1)))
      if (calls.length === 0) return ended
      // The model may comment on the environment's last word, but is answered no more.
      if (!this.tools.playing) return { reason: 'end-of-turn', error: 'The episode is over, so this call was not made.' }
      if (rounds >= most) return { reason: 'length', error: `This call was not made: max_tool_calling_iterations allows ${most} in a row.` }
      const results = await this.tools.call(calls, turn.signal)
      this.append(turn, turn.format.toolSuffix(results))
    }
  }

  /** Appends what the person says, and where an episode begins with it, what the environment says first. */
  private async say(text: string, turn: Turn): Promise<void> {
    const { conversation, format } = turn
    const { environment, config } = this.parts
    const begins = conversation.tools && !this.tools.playing
    const observation = begins ? await this.tools.begin(conversation.number, conversation.episodes++, turn.signal) : ''
    const said = observation !== '' && /\S$/.test(text) ? `${text}\n` : text
    const first = conversation.ids.length === 0
    // Of several environments the chat has the first one's tools, and its prompt.
    const system_prompt = environment.members ? environment.prompts.system : config.system_prompt
    const shown = conversation.tools ? { system_prompt, tools: environment.tools } : { system_prompt: '', tools: [] }
    const tokens = first
      ? format.prompt(firstMessages({ ...shown, user_prompt: said }), shown.tools, observation)
      : this.closed(conversation, format, format.userSuffix(said, observation))
    try {
      this.append(turn, tokens)
    } catch (error) {
      if (begins) this.tools.end()
      throw error
    }
  }

  /** `suffix` after an end-of-turn token: a turn that was stopped or cut gets one, so that the format stays what it was. */
  private closed({ ids }: Conversation, format: ChatFormat, suffix: AuthoredTokens): AuthoredTokens {
    const [end] = format.endOfTurnIds
    if (end === undefined || format.endOfTurnIds.includes(ids.at(-1) ?? -1)) return suffix
    return { ids: [end, ...suffix.ids], authors: ['template', ...suffix.authors] }
  }

  /** Throws, and changes nothing, when no room would be left for the model's next token. */
  private append({ conversation, writer }: Turn, tokens: AuthoredTokens): void {
    const { contextLength } = this.parts.engine
    const length = conversation.ids.length + tokens.ids.length
    if (length >= contextLength) {
      const advice = conversation.ids.length === 0 ? 'Shorten the text, or leave the tools out.' : NEW
      throw new PlaygroundError('config', `The conversation would have ${length} tokens; the context holds ${contextLength}.`, advice)
    }
    conversation.ids.push(...tokens.ids)
    writer.give(tokens)
  }

  /** The model's turn, token by token. */
  private async write({ conversation, options, format, writer, signal }: Turn): Promise<Ended> {
    const { engine, config } = this.parts
    const { seed, top_k, top_p, min_p } = config.grpo
    const { ids } = conversation
    for (let written = 0; written < options.max_new_tokens; written++) {
      if (ids.length >= engine.contextLength) {
        return { reason: 'length', error: `The context is full: it holds ${engine.contextLength} tokens. ${NEW}` }
      }
      throwIfStopped(signal)
      await this.fill(conversation)
      throwIfStopped(signal)
      const draw = uniform(seed, CHAT_KEY, conversation.number, ids.length)
      const [token] = await engine.sample([{ slot: SLOT, uniform: draw }], { temperature: options.temperature, top_k, top_p, min_p })
      if (token === undefined) throw new PlaygroundError('engine', 'The sampler gave no token.')
      ids.push(token.id)
      writer.write(token.id)
      if (format.endOfTurnIds.includes(token.id)) return { reason: 'end-of-turn', error: '' }
    }
    return { reason: 'length', error: '' }
  }

  /** Brings the slot up to the conversation's last token. */
  private async fill(conversation: Conversation): Promise<void> {
    const { engine } = this.parts
    if (conversation.held === 0 || engine.length(SLOT) !== conversation.held) {
      engine.reset(SLOT)
      conversation.held = 0
    }
    const rest = conversation.ids.slice(conversation.held)
    const [id] = rest
    if (id === undefined) return
    if (rest.length === 1) await engine.decode([{ slot: SLOT, id }])
    else await engine.prefill(SLOT, rest)
    conversation.held = conversation.ids.length
  }
}

function checkOptions({ temperature, max_new_tokens }: ChatOptions): void {
  if (!(temperature >= 0 && temperature < Infinity)) {
    throw new PlaygroundError('config', `temperature must be a number from 0; it is ${temperature}.`, '0 takes the likeliest token each time.')
  }
  if (!Number.isInteger(max_new_tokens) || max_new_tokens < 1) {
    throw new PlaygroundError('config', `max_new_tokens must be a whole number from 1; it is ${max_new_tokens}.`)
  }
}

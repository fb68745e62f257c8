/**
 * The model's chat template as tokens: the first prompt, and the suffix that follows a turn when tools or the user answer.
 *
 * Token ids are append-only: history is never rendered again, because stock templates (Qwen3's) write past turns in another
 * way than they were generated. Only the first prompt goes through the template; each later suffix is what the template puts
 * between the end of an assistant's turn and the next one, taken from a dummy conversation.
 */

import type { Author } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import type { ChatMessage, Tool, ToolCall } from '../core/tools'
import { writeCall } from './tool-calls'
import { TokenCodec, type AuthoredTokens, type ChatTokenizer, type Piece } from './tokens'

export type { AuthoredTokens, ChatTokenizer } from './tokens'

/** Stands before a turn that is rendered by itself. */
const DUMMY: ChatMessage = { role: 'user', content: 'dummy' }

/** Private-use characters that stand around foreign text while the template runs. */
interface Marks {
  user: string
  environment: string
  end: string
}

export class ChatFormat {
  /** Ids that end the model's turn: `<|im_end|>`, `<|endoftext|>` and the tokenizer's own EOS, where they exist. */
  readonly endOfTurnIds: number[]
  /** The largest id that the tokenizer can write, as far as it has no holes. */
  readonly largestId: number
  private readonly codec: TokenCodec
  private readonly endOfTurnTexts: string[]

  /** Throws PlaygroundError('model') when the tokenizer cannot be reproduced exactly or has no end-of-turn token. */
  constructor(
    private readonly tokenizer: ChatTokenizer,
    /** What the template is given beside the conversation: TRL's chat_template_kwargs. */
    private readonly options: { enable_thinking: boolean; [key: string]: unknown },
  ) {
    this.codec = new TokenCodec(tokenizer)
    this.largestId = this.codec.largestId()
    const texts = new Set(['<|im_end|>', '<|endoftext|>', tokenizer.eos_token ?? ''])
    this.endOfTurnTexts = [...texts].filter((text) => this.codec.added.has(text))
    this.endOfTurnIds = this.endOfTurnTexts.flatMap((text) => this.codec.added.get(text)?.id ?? [])
    if (this.endOfTurnIds.length === 0) {
      throw new PlaygroundError('model', 'This tokenizer has no end-of-turn token.', 'Use an instruct model with a chat template.')
    }
  }

  /**
   * The first prompt, up to and including the header of the model's turn. `environmentText` (what reset returned) is glued to
   * the last user message with no separator, as TRL does; its tokens have author 'environment', all others 'template'.
   */
  prompt(messages: readonly ChatMessage[], tools: readonly Tool[], environmentText = ''): AuthoredTokens {
    return this.codec.encode(this.promptPieces(messages, tools, environmentText))
  }

  /** The same prompt as text, for the page. */
  renderedPrompt(messages: readonly ChatMessage[], tools: readonly Tool[], environmentText = ''): string {
    return this.promptPieces(messages, tools, environmentText).map((piece) => piece.text).join('')
  }

  /**
   * What follows the end-of-turn token of a turn that called tools: the results and the header of the model's next turn.
   * The results' text has author 'environment', the rest 'template'. Needs at least one result.
   */
  toolSuffix(results: readonly { name: string; content: string }[]): AuthoredTokens {
    if (results.length === 0) throw new RangeError('toolSuffix needs at least one result')
    const marks = freeMarks(JSON.stringify(results))
    const tool_calls = results.map(() => ({ type: 'function' as const, function: { name: 'dummy', arguments: {} } }))
    const tail = results.map(({ name, content }): ChatMessage => ({
      role: 'tool',
      name: this.protect(name, marks),
      content: marks.environment + content + marks.end,
    }))
    return this.codec.encode(this.suffixPieces([{ role: 'assistant', content: '', tool_calls }, ...tail], marks.environment, marks))
  }

  /**
   * What follows the end-of-turn token of a turn when the user speaks again: the user's message and the header of the model's
   * next turn. `environmentText` is glued to `text` as in `prompt`; its tokens have author 'environment', the rest 'template'.
   */
  userSuffix(text: string, environmentText = ''): AuthoredTokens {
    const marks = freeMarks(text + environmentText)
    const said = environmentText === '' ? '' : marks.environment + environmentText + marks.end
    const user: ChatMessage = { role: 'user', content: marks.user + text + marks.end + said }
    return this.codec.encode(this.suffixPieces([{ role: 'assistant', content: 'dummy' }, user], marks.user, marks))
  }

  /** A turn that makes these calls, as the template writes it, with its end-of-turn token. All tokens have author 'model'. */
  callTurn(calls: readonly ToolCall[]): AuthoredTokens {
    const own = (text: string): Piece => ({ text, author: 'model', plain: false })
    const pieces = calls.flatMap((call, i): Piece[] => [
      own(i > 0 ? '\n<tool_call>\n' : '<tool_call>\n'),
      { text: writeCall(call), author: 'model', plain: true },
      own('\n</tool_call>'),
    ])
    return this.codec.encode([...pieces, own(this.endOfTurnTexts[0] ?? '')])
  }

  /** The same model's format with the thinking switch set this way. */
  withThinking(enable_thinking: boolean): ChatFormat {
    return this.withOptions({ enable_thinking })
  }

  /** The same model's format with these options of the template set: a row's chat_template_kwargs. */
  withOptions(options: Readonly<Record<string, unknown>>): ChatFormat {
    if (Object.entries(options).every(([key, value]) => this.options[key] === value)) return this
    return new ChatFormat(this.tokenizer, { ...this.options, ...options })
  }

  /** A whole conversation as the template writes it; `next` adds the header of the model's next turn. */
  conversation(messages: readonly ChatMessage[], tools: readonly Tool[], next: boolean): AuthoredTokens {
    return this.codec.encode(this.promptPieces(messages, tools, '', next))
  }

  /**
   * The same as it grows turn by turn: every turn of the model is written as the template writes the last one, and never again. Author
   * 'model' is what stands between the header and the next message, as in TRL's training templates.
   */
  grownConversation(messages: readonly ChatMessage[], tools: readonly Tool[], next: boolean): AuthoredTokens {
    const marks = freeMarks(JSON.stringify([messages, tools]))
    const first = messages.findIndex(({ role }) => role === 'assistant')
    if (first < 0) return this.conversation(messages, tools, next)
    const pieces = this.promptPieces(messages.slice(0, first), tools, '', false)
    for (let at = first; at < messages.length; ) {
      const message = messages[at] as ChatMessage
      if (message.role === 'assistant') {
        pieces.push(...this.turnPieces(message, marks))
        at++
        continue
      }
      const end = messages.findIndex(({ role }, i) => i > at && role === 'assistant')
      const answers = messages.slice(at, end < 0 ? undefined : end)
      pieces.push(...this.answerPieces(answers, marks))
      at += answers.length
    }
    if (next) pieces.push({ text: this.header(marks), author: 'template', plain: false })
    return this.codec.encode(pieces)
  }

  /** A text that no template touches; special tokens in it are special, as TRL tokenises plain text. */
  rawText(text: string): AuthoredTokens {
    return this.codec.encode([{ text, author: 'template', plain: false }])
  }

  /** The text of the token that ends a sequence. */
  get endOfSequence(): string {
    return this.tokenizer.eos_token ?? this.endOfTurnTexts[0] ?? ''
  }

  /** Text of a token sequence; special tokens are written out. */
  text(ids: readonly number[]): string {
    return this.codec.text(ids)
  }

  /** Text of a token sequence without special tokens, as TRL logs prompts and completions (skip_special_tokens). */
  plainText(ids: readonly number[]): string {
    return this.codec.text(ids.filter((id) => !this.codec.isSpecial(id)))
  }

  /** Display text of one token; bytes that are no whole character are shown like `\xE2\x80`. */
  tokenText(id: number): string {
    return this.codec.tokenText(id)
  }

  private promptPieces(messages: readonly ChatMessage[], tools: readonly Tool[], environmentText: string, next = true): Piece[] {
    const marks = freeMarks(JSON.stringify([messages, tools]) + environmentText)
    const marked = messages.map((message) => this.markMessage(message, marks))
    if (environmentText !== '') {
      const text = marks.environment + environmentText + marks.end
      const last = marked.findLast((message) => message.role === 'user')
      if (last) last.content += text
      else marked.push({ role: 'user', content: text })
    }
    return cutAtMarks(this.render(marked, tools.map((tool) => this.protect(tool, marks)), marks, next), marks)
  }

  /** What the template puts between the assistant's turn that `tail` begins with and the next one. `answer` marks the first reply to it. */
  private suffixPieces(tail: readonly ChatMessage[], answer: string, marks: Marks): Piece[] {
    const rendered = this.render([{ role: 'user', content: 'dummy' }, ...tail], null, marks)
    // The dummy turn's own end is the last end-of-turn token before the reply.
    const head = rendered.slice(0, rendered.indexOf(answer))
    const cut = Math.max(...this.endOfTurnTexts.map((text) => endOfLast(head, text)))
    if (cut < 0) {
      throw new PlaygroundError(
        'model',
        "The chat template writes no end-of-turn token after the model's turn.",
        'Use a Qwen2.5 or Qwen3 model.',
      )
    }
    return cutAtMarks(rendered.slice(cut), marks)
  }

  /** The header of the model's next turn, with what the template writes for it (Qwen3 without thinking: an empty thought). */
  private header(marks: Marks): string {
    const [without, whole] = [false, true].map((next) => this.render([DUMMY], null, marks, next)) as [string, string]
    return whole.slice(without.length)
  }

  /** Header and turn of the model, as the template writes a last turn. */
  private turnPieces(message: ChatMessage, marks: Marks): Piece[] {
    const before = this.render([DUMMY], null, marks, false)
    // Thinking may be on or off for the next turn; a turn that is there begins with its own thought.
    const header = this.withThinking(true).header(marks)
    const rendered = this.render([DUMMY, this.markMessage(message, marks)], null, marks, false)
    if (!rendered.startsWith(before + header)) {
      throw new PlaygroundError('model', 'The chat template begins a turn of the model in another way than its header.', 'Use a Qwen2.5 or Qwen3 model.')
    }
    const turn = cutAtMarks(rendered.slice(before.length + header.length), marks)
    return [{ text: header, author: 'template', plain: false }, ...turn.map((piece): Piece => ({ ...piece, author: 'model' }))]
  }

  /** Messages of tools, users or the system that follow a turn of the model, from behind that turn's last character. */
  private answerPieces(answers: readonly ChatMessage[], marks: Marks): Piece[] {
    const call = { type: 'function' as const, function: { name: 'dummy', arguments: {} } }
    const turn: ChatMessage = { role: 'assistant', content: 'dummy', ...(answers[0]?.role === 'tool' ? { tool_calls: [call] } : {}) }
    const marked = answers.map((message): ChatMessage => {
      const mark = message.role === 'tool' ? marks.environment : marks.user
      return { ...message, content: mark + message.content + marks.end }
    })
    const alone = this.render([DUMMY, turn], null, marks, false)
    const behind = alone.length - Math.max(...this.endOfTurnTexts.map((text) => endOfLast(alone, text)))
    const rendered = this.render([DUMMY, turn, ...marked], null, marks, false)
    const head = rendered.slice(0, rendered.search(new RegExp(`[${marks.user}${marks.environment}]`, 'u')))
    return cutAtMarks(rendered.slice(Math.max(...this.endOfTurnTexts.map((text) => endOfLast(head, text))) + behind), marks)
  }

  /** Runs the template; throws PlaygroundError('model') when it fails or drops foreign text. */
  private render(conversation: ChatMessage[], tools: Tool[] | null, marks: Marks, next = true): string {
    let rendered: unknown
    try {
      rendered = this.tokenizer.apply_chat_template(conversation, {
        ...this.options,
        tokenize: false,
        tools: tools !== null && tools.length > 0 ? tools : null,
        add_generation_prompt: next,
      })
    } catch (cause) {
      throw new PlaygroundError('model', `The chat template failed: ${String(cause)}.`, 'Use a Qwen2.5 or Qwen3 model.', { cause })
    }
    const count = (text: string, mark: string): number => text.split(mark).length - 1
    // Not of the assistant: Qwen3's template drops past thoughts.
    const given = conversation.filter(({ role }) => role !== 'assistant')
    const written = (mark: string): number => given.reduce((sum, { content }) => sum + count(content, mark), 0)
    if (typeof rendered !== 'string' || count(rendered, marks.environment) !== written(marks.environment)) {
      const advice = 'Use a model whose chat template supports tools.'
      throw new PlaygroundError('model', 'The chat template dropped text of the environment.', advice)
    }
    if (count(rendered, marks.user) < written(marks.user)) {
      throw new PlaygroundError('model', 'The chat template dropped a message.', 'Use a Qwen2.5 or Qwen3 model.')
    }
    return rendered
  }

  /** User and system text is plain. An assistant's message keeps its tags (the template reads them) but no special token. */
  private markMessage(message: ChatMessage, marks: Marks): ChatMessage {
    const { content, role } = message
    if (role === 'assistant') return withBlanks(this.protect(message, marks, true), marks)
    if (content === '') return { ...message }
    return { ...message, content: (role === 'tool' ? marks.environment : marks.user) + content + marks.end }
  }

  /** A deep copy in which every added token inside a string (values and keys) is marked as plain text. */
  private protect<T>(value: T, marks: Marks, specialOnly = false): T {
    const visit = (node: unknown): unknown => {
      if (typeof node === 'string') return this.protectText(node, marks, specialOnly)
      if (Array.isArray(node)) return node.map(visit)
      if (typeof node !== 'object' || node === null) return node
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [this.protectText(key, marks, specialOnly), visit(child)]))
    }
    return visit(value) as T
  }

  private protectText(text: string, marks: Marks, specialOnly: boolean): string {
    if (!this.codec.hasAdded(text)) return text
    if (!specialOnly) return marks.user + text + marks.end
    let out = text
    for (const [content, { special }] of this.codec.added) {
      if (special) out = out.replaceAll(content, marks.user + content + marks.end)
    }
    return out
  }
}

/** Three private-use characters that the text does not hold. */
function freeMarks(text: string): Marks {
  const used = new Set(text)
  const free: string[] = []
  for (let code = 0xe000; code <= 0xf8ff && free.length < 3; code++) {
    const mark = String.fromCharCode(code)
    if (!used.has(mark)) free.push(mark)
  }
  const [user, environment, end] = free
  if (user === undefined || environment === undefined || end === undefined) {
    throw new PlaygroundError('environment', 'The text uses every private-use character of Unicode.', 'Shorten the text.')
  }
  return { user, environment, end }
}

/**
 * A turn whose blanks survive the template. Qwen3's strips line breaks around thoughts and answers, strip('\n'), for which the library that runs
 * it strips every blank: an end mark, which is cut out again, stands between a blank and where it would be stripped.
 */
function withBlanks(message: ChatMessage, { end }: Marks): ChatMessage {
  const behind = (text: string): string => text.replaceAll(/((?:^|<\/?think>)\n*)(?=[^\S\n])/g, `$1${end}`).replaceAll(/(?<=[^\S\n])(?=\n*<\/think>)/g, end)
  const { content, reasoning_content } = message
  if (reasoning_content === undefined) return { ...message, content: behind(content) }
  return { ...message, content: behind(content), reasoning_content: behind(reasoning_content).replace(/(?<=[^\S\n])(?=\n*$)/, end) }
}

/** Splits a rendering into template text and the foreign text between marks. Marks do not nest. */
function cutAtMarks(rendered: string, marks: Marks): Piece[] {
  const pieces: Piece[] = []
  let text = ''
  let author: Author = 'template'
  let plain = false
  const flush = (): void => {
    if (text !== '') pieces.push({ text, author, plain })
    text = ''
  }
  for (const part of rendered.split(new RegExp(`([${marks.user}${marks.environment}${marks.end}])`, 'u'))) {
    if (part !== marks.user && part !== marks.environment && part !== marks.end) {
      text += part
      continue
    }
    flush()
    plain = part !== marks.end
    author = part === marks.environment ? 'environment' : 'template'
  }
  flush()
  return pieces
}

function endOfLast(text: string, needle: string): number {
  const at = text.lastIndexOf(needle)
  return at < 0 ? -1 : at + needle.length
}

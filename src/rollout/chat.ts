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
    private readonly options: { enable_thinking: boolean },
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
    return enable_thinking === this.options.enable_thinking ? this : new ChatFormat(this.tokenizer, { enable_thinking })
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

  private promptPieces(messages: readonly ChatMessage[], tools: readonly Tool[], environmentText: string): Piece[] {
    const marks = freeMarks(JSON.stringify([messages, tools]) + environmentText)
    const marked = messages.map((message) => this.markMessage(message, marks))
    if (environmentText !== '') {
      const text = marks.environment + environmentText + marks.end
      const last = marked.findLast((message) => message.role === 'user')
      if (last) last.content += text
      else marked.push({ role: 'user', content: text })
    }
    return cutAtMarks(this.render(marked, tools.map((tool) => this.protect(tool, marks)), marks), marks)
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

  /** Runs the template; throws PlaygroundError('model') when it fails or drops foreign text. */
  private render(conversation: ChatMessage[], tools: Tool[] | null, marks: Marks): string {
    let rendered: unknown
    try {
      rendered = this.tokenizer.apply_chat_template(conversation, {
        tokenize: false,
        tools: tools !== null && tools.length > 0 ? tools : null,
        add_generation_prompt: true,
        enable_thinking: this.options.enable_thinking,
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
    if (role === 'assistant') return { ...message, content: this.protect(content, marks, true) }
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

/**
 * Text to tokens and back, with the author of every token kept and with foreign text unable to write a special token.
 *
 * A tokenizer first cuts a text at its added tokens (`<|im_start|>`, `<think>`, ...) and runs normaliser, pre-tokeniser and
 * byte-pair encoding on what lies between. Here only template text is cut; foreign text joins the section it stands in, so
 * that a text without such a token gets exactly the ids that the tokenizer gives to the whole string.
 */

import type { Author } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import type { ChatMessage, Tool } from '../core/tools'

/** What we need of transformers.js' PreTrainedTokenizer. */
export interface ChatTokenizer {
  apply_chat_template(
    conversation: ChatMessage[],
    options: { tokenize: false; tools: Tool[] | null; add_generation_prompt: boolean; enable_thinking: boolean },
  ): unknown
  encode(text: string, options: { add_special_tokens: false }): number[]
  eos_token?: string | null
  _tokenizer: {
    normalizer: ((text: string) => string) | null
    pre_tokenizer: ((text: string) => string[]) | null
    model: ((words: string[]) => string[]) | null
    token_to_id(token: string): number | undefined
    id_to_token(id: number): string | undefined
    get_added_tokens_decoder(): Map<number, { id: number; content: string; special: boolean }>
  }
}

/** A run of text by one author. `plain` text is foreign: it never becomes a special token. */
export interface Piece {
  text: string
  author: Author
  plain: boolean
}

/** ids and authors, both [tokens]. */
export interface AuthoredTokens {
  ids: number[]
  authors: Author[]
}

/** Ids beyond this are not looked for. */
const MOST_IDS = 2 ** 24

const PROBE = 'user\n  hé llo\u0301 12\r\n\n{"a": "b"}\t</x> ok'

/** Byte → the character that stands for it in a byte-level vocabulary (GPT-2's table). */
const BYTE_CHARACTERS: readonly string[] = (() => {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    return String.fromCharCode(printable ? byte : next++)
  })
})()
const CHARACTER_BYTES = new Map(BYTE_CHARACTERS.map((character, byte) => [character, byte]))

const utf8 = new TextEncoder()
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

export class TokenCodec {
  /** Added tokens by text: special ones and those like `<think>` that are not special but are one token all the same. */
  readonly added: ReadonlyMap<string, { id: number; special: boolean }>
  private readonly addedById: ReadonlyMap<number, string>
  private readonly addedPattern: RegExp | null
  /** Texts of tokens that were shown: each is asked for thousands of times a step. */
  private readonly texts = new Map<number, string>()

  /** The largest id: doubling finds one that is none, halving the last before it; added tokens may lie behind a hole. */
  largestId(): number {
    const { tokenizer } = this
    const known = (id: number): boolean => tokenizer._tokenizer.id_to_token(id) !== undefined
    let above = 1
    while (known(above) && above < MOST_IDS) above *= 2
    let below = above / 2
    while (above - below > 1) {
      const middle = Math.floor((above + below) / 2)
      if (known(middle)) below = middle
      else above = middle
    }
    return Math.max(below, ...this.addedById.keys())
  }

  /** Throws PlaygroundError('model') when the tokenizer's pipeline is not one that we reproduce exactly. */
  constructor(private readonly tokenizer: ChatTokenizer) {
    const tokens = [...tokenizer._tokenizer.get_added_tokens_decoder().values()]
    this.added = new Map(tokens.map(({ content, id, special }) => [content, { id, special }]))
    this.addedById = new Map(tokens.map(({ content, id }) => [id, content]))
    // Longest first: of two tokens that begin alike the longer one is meant.
    const contents = tokens.map((token) => token.content).sort((a, b) => b.length - a.length)
    this.addedPattern = contents.length > 0 ? new RegExp(contents.map(escapeForRegExp).join('|'), 'gu') : null
    const probe = PROBE + (contents[0] ?? '') + PROBE
    const own = this.encode([{ text: probe, author: 'template', plain: false }]).ids
    const theirs = tokenizer.encode(probe, { add_special_tokens: false })
    if (own.length !== theirs.length || own.some((id, i) => id !== theirs[i])) {
      throw new PlaygroundError(
        'model',
        'This tokenizer splits text in a way that the playground does not reproduce.',
        'Use a model with a byte-level Qwen tokenizer.',
      )
    }
  }

  /** Whether `text` holds the text of an added token. */
  hasAdded(text: string): boolean {
    return this.addedPattern !== null && text.search(this.addedPattern) >= 0
  }

  /** Tokens of the pieces' concatenation. A token that spans two authors belongs to whoever wrote its first character. */
  encode(pieces: readonly Piece[]): AuthoredTokens {
    const ids: number[] = []
    const authors: Author[] = []
    let section: Piece[] = []
    const flush = (): void => {
      this.encodeSection(section, ids, authors)
      section = []
    }
    for (const piece of pieces) {
      if (piece.plain || this.addedPattern === null) {
        section.push(piece)
        continue
      }
      let end = 0
      for (const match of piece.text.matchAll(this.addedPattern)) {
        section.push({ ...piece, text: piece.text.slice(end, match.index) })
        flush()
        ids.push(this.added.get(match[0])?.id ?? 0)
        authors.push(piece.author)
        end = match.index + match[0].length
      }
      section.push({ ...piece, text: piece.text.slice(end) })
    }
    flush()
    return { ids, authors }
  }

  /** Bytes that a token stands for; none for an id outside the vocabulary. */
  bytes(id: number): Uint8Array {
    const added = this.addedById.get(id)
    if (added !== undefined) return utf8.encode(added)
    const token = this.tokenizer._tokenizer.id_to_token(id) ?? ''
    return Uint8Array.from(token, (character) => CHARACTER_BYTES.get(character) ?? 0x3f)
  }

  /** Text of a token sequence; special tokens are written out, broken UTF-8 becomes U+FFFD. */
  text(ids: readonly number[]): string {
    const parts = ids.map((id) => this.bytes(id))
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return lenient.decode(all)
  }

  /** Whether `skip_special_tokens` leaves it out. */
  isSpecial(id: number): boolean {
    return this.added.get(this.addedById.get(id) ?? '')?.special ?? false
  }

  /** Text of one token for display: bytes that are no whole character as `\xE2\x80`, an id that has no text as `[151900]`. */
  tokenText(id: number): string {
    const known = this.texts.get(id)
    if (known !== undefined) return known
    const text = this.writeToken(id)
    this.texts.set(id, text)
    return text
  }

  private writeToken(id: number): string {
    const bytes = this.bytes(id)
    if (bytes.length === 0) return `[${id}]`
    let text = ''
    for (let i = 0; i < bytes.length; ) {
      const lead = bytes[i] as number
      const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0
      const character = length > 0 && i + length <= bytes.length ? decodeStrictly(bytes.subarray(i, i + length)) : null
      text += character ?? `\\x${lead.toString(16).toUpperCase().padStart(2, '0')}`
      i += character === null ? 1 : length
    }
    return text
  }

  private encodeSection(pieces: readonly Piece[], ids: number[], authors: Author[]): void {
    const present = pieces.filter((piece) => piece.text !== '')
    const first = present[0]
    if (first === undefined) return
    const { normalizer, pre_tokenizer, model } = this.tokenizer._tokenizer
    const normalize = (text: string): string => (normalizer ? normalizer(text) : text)
    const text = normalize(present.map((piece) => piece.text).join(''))
    const words = pre_tokenizer ? pre_tokenizer(text) : [text]
    const tokens = model ? model(words) : words
    const ends = byteEnds(present, text, normalize)
    let byte = 0
    let piece = 0
    for (const token of tokens) {
      while (piece < present.length - 1 && byte >= (ends[piece] as number)) piece++
      const id = this.tokenizer._tokenizer.token_to_id(token)
      if (id === undefined) throw new PlaygroundError('model', `The tokenizer made ${JSON.stringify(token)}, which has no id.`)
      ids.push(id)
      authors.push((present[piece] as Piece).author)
      byte += token.length
    }
    if (byte !== utf8.encode(text).length) {
      throw new PlaygroundError('model', 'This tokenizer is not byte-level.', 'Use a model with a byte-level Qwen tokenizer.')
    }
  }
}

/** Byte offset in the normalised text at which each piece ends. A character composed across a border belongs to the earlier piece. */
function byteEnds(pieces: readonly Piece[], text: string, normalize: (text: string) => string): number[] {
  let before = ''
  return pieces.map((piece) => {
    before += piece.text
    const normalised = normalize(before)
    let common = 0
    while (common < normalised.length && normalised[common] === text[common]) common++
    if (common < normalised.length) common++
    return utf8.encode(text.slice(0, common)).length
  })
}

function decodeStrictly(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes)
  } catch {
    return null
  }
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

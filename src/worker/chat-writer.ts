/** Sends a chat's tokens to the page in small batches, with no character cut in two. */

import type { Author } from '../core/episode'
import type { ChatFormat } from '../rollout/chat'
import type { AuthoredTokens } from '../rollout/tokens'
import type { ChatToken, Message } from './protocol'

/** Most milliseconds that a token waits for others. */
const BATCH_MS = 50
/** Bytes of the longest character: it never lies in more tokens. */
const LONGEST_CHARACTER = 4

export class ChatWriter {
  private batch: ChatToken[] = []
  /** Tokens whose last character is not whole yet. */
  private partial: number[] = []
  private sent = -Infinity

  constructor(
    private readonly requestId: number,
    private readonly format: ChatFormat,
    private readonly post: (message: Message) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** A token of the model. It is sent at once when the last batch lies BATCH_MS back, else with a later one. */
  write(id: number): void {
    this.partial.push(id)
    const text = this.format.text(this.partial)
    const waits = text.endsWith('\uFFFD') && this.partial.length < LONGEST_CHARACTER
    if (!waits) {
      const broken = text.includes('\uFFFD')
      this.partial.forEach((part, i, all) => this.push(part, broken ? this.format.tokenText(part) : i === all.length - 1 ? text : '', 'model'))
      this.partial = []
    }
    if (this.now() - this.sent >= BATCH_MS) this.send()
  }

  /** Tokens that the model did not write; sent at once, with all before them. */
  give(tokens: AuthoredTokens): void {
    this.settle()
    tokens.ids.forEach((id, i) => this.push(id, this.format.tokenText(id), tokens.authors[i] ?? 'template'))
    this.send()
  }

  /** Sends what is left. */
  end(): void {
    this.settle()
    this.send()
  }

  /** The character will not become whole: its bytes are shown. */
  private settle(): void {
    for (const id of this.partial) this.push(id, this.format.tokenText(id), 'model')
    this.partial = []
  }

  private push(id: number, text: string, author: Author): void {
    this.batch.push({ id, text, author })
  }

  private send(): void {
    if (this.batch.length === 0) return
    this.post({ type: 'chat-tokens', requestId: this.requestId, tokens: this.batch })
    this.batch = []
    this.sent = this.now()
  }
}

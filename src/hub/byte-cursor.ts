/** Takes as many bytes at a time from a stream of chunks as its reader wants, wherever the chunks end. */

export class ByteCursor {
  private readonly chunks: AsyncIterator<Uint8Array>
  private chunk = new Uint8Array(0)
  private used = 0
  private ended = false

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.chunks = chunks[Symbol.asyncIterator]()
  }

  /** Fills `out` in order; gives back how many bytes came, fewer only at the stream's end. */
  async fill(out: Uint8Array): Promise<number> {
    let filled = 0
    while (filled < out.length && (await this.more())) {
      const n = Math.min(out.length - filled, this.chunk.length - this.used)
      out.set(this.chunk.subarray(this.used, this.used + n), filled)
      filled += n
      this.used += n
    }
    return filled
  }

  /** Throws bytes away. */
  async skip(bytes: number): Promise<void> {
    let left = bytes
    while (left > 0 && (await this.more())) {
      const n = Math.min(left, this.chunk.length - this.used)
      left -= n
      this.used += n
    }
  }

  /** Ends the stream, read out or not. */
  async close(): Promise<void> {
    if (!this.ended) await this.chunks.return?.()
    this.ended = true
  }

  private async more(): Promise<boolean> {
    while (!this.ended && this.used === this.chunk.length) {
      const next = await this.chunks.next()
      if (next.done) this.ended = true
      else {
        this.chunk = next.value as Uint8Array<ArrayBuffer>
        this.used = 0
      }
    }
    return this.used < this.chunk.length
  }
}

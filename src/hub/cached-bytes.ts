/** A file of the Hub that is read from the store as far as it is there, and downloaded and stored from there on. */

import { PlaygroundError } from '../core/errors'
import type { ByteSource } from './bytes'
import type { StoredFile } from './stored-file'

export interface CachedBytesOptions {
  /** Bytes that have just been read, and whether they came from the store. */
  onBytes?: (bytes: number, fromDisk: boolean) => void
  /** Ends a read at the next chunk with PlaygroundError('stopped'); what has come is kept. */
  signal?: AbortSignal
}

/** The disk answers without a pause; so often its reader lets messages (Pause) through. */
const BREATH_MS = 100

export class CachedBytes implements ByteSource {
  readonly name: string
  readonly size: number

  /** @param remote asked for only when bytes are missing: a complete file is read without a network */
  constructor(
    readonly stored: StoredFile,
    private readonly remote: () => ByteSource | Promise<ByteSource>,
    private readonly options: CachedBytesOptions = {},
  ) {
    this.name = stored.name
    this.size = stored.spec.size
  }

  async *read(begin: number, end: number): AsyncGenerator<Uint8Array> {
    let breath = Date.now()
    for (let at = begin; at < end; ) {
      this.stopIfAborted()
      const bytes = this.stored.read(at, end)
      if (bytes === null) {
        at = yield* this.download(at, Math.min(end, this.stored.nextStored(at)))
        breath = Date.now()
        continue
      }
      await this.stored.check(at, bytes)
      this.options.onBytes?.(bytes.length, true)
      at += bytes.length
      yield bytes
      if (Date.now() - breath > BREATH_MS) {
        await new Promise((resolve) => setTimeout(resolve))
        breath = Date.now()
      }
    }
  }

  /** Reads [begin, end) remotely and stores it on the way; gives back where it ended. */
  private async *download(begin: number, end: number): AsyncGenerator<Uint8Array, number> {
    const remote = await this.remote()
    if (remote.size !== this.size) {
      const advice = 'Load the model again; if it stays so, delete the stored model.'
      throw new PlaygroundError('model', `${this.name} has ${remote.size} bytes now, but ${this.size} were announced.`, advice)
    }
    const appender = await this.stored.appender(begin)
    let at = begin
    try {
      for await (const chunk of remote.read(begin, end)) {
        const bytes = at + chunk.length > end ? chunk.subarray(0, end - at) : chunk
        appender?.append(bytes)
        await this.stored.check(at, bytes)
        this.options.onBytes?.(bytes.length, false)
        at += bytes.length
        yield bytes
        this.stopIfAborted()
      }
    } finally {
      await appender?.release()
    }
    if (at < end) throw new PlaygroundError('model', `${this.name} ended after ${at} of ${this.size} bytes.`, 'Load the model again.')
    return at
  }

  private stopIfAborted(): void {
    if (this.options.signal?.aborted) throw new PlaygroundError('stopped', `The download of ${this.name} was stopped.`, 'Load the model again to go on from there.')
  }
}

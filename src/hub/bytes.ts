/** A file that can be read from any place: over HTTP, from storage, from a File that a person dropped. */

export interface ByteSource {
  /** For people, in errors; holds no token. */
  readonly name: string
  /** Bytes of the whole file. */
  readonly size: number
  /** Bytes [begin, end) in order, in chunks of the source's choosing, each its own array. Throws PlaygroundError. */
  read(begin: number, end: number): AsyncIterable<Uint8Array>
}

/** A range as one array. */
export async function readAll(source: ByteSource, begin = 0, end = source.size): Promise<Uint8Array> {
  const out = new Uint8Array(end - begin)
  let at = 0
  for await (const chunk of source.read(begin, end)) {
    out.set(chunk, at)
    at += chunk.length
  }
  return out
}

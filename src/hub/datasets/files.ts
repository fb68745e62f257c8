/** Rows of one file of a dataset on the Hub: of Parquet only the row groups that are needed, of JSONL only its beginning. */

import type { AsyncBuffer, FileMetaData } from 'hyparquet'
import { PlaygroundError } from '../../core/errors'
import { limited, readRows, type ReadRows } from '../../core/rows'
import { type ByteSource, readAll } from '../bytes'
import { bufferRows, parquetMetadata } from '../trajectories/table-rows'

export interface FileWish {
  /** Rows that are still wanted. */
  limit: number
  /** Of these columns alone; of a Parquet file that has none of them no row is read. */
  columns?: readonly string[]
  /** Bytes that may still be read. */
  bytes: number
}

export interface FileRows extends ReadRows {
  /** Names of all columns that the file has. */
  columns: string[]
  /** Bytes of what was read. */
  bytes: number
  /** Whether the file has rows beyond these. */
  more: boolean
}

/** So much comes with one request, so that many small row groups do not make as many requests. */
const WINDOW = 4e6

/** @throws PlaygroundError 'config' for what cannot be read, else as the source does */
export async function fileRows(source: ByteSource, wish: FileWish): Promise<FileRows> {
  if (source.size === 0) throw new PlaygroundError('config', `${source.name} is empty.`, 'Choose another file, split or dataset.')
  const begin = new TextDecoder().decode(await readAll(source, 0, Math.min(4, source.size)))
  return begin === 'PAR1' ? tableFile(source, wish) : textFile(source, wish)
}

async function tableFile(source: ByteSource, { limit, columns, bytes }: FileWish): Promise<FileRows> {
  const buffer = windowed(source)
  const metadata = await parquetMetadata(buffer, source.name)
  const names = topColumns(metadata)
  const known = columns && names.filter((name) => columns.includes(name))
  const wanted = known ? { columns: known } : {}
  const read: FileRows = { rows: [], problems: [], columns: names, bytes: 0, more: Number(metadata.num_rows) > limit }
  if (known?.length === 0) return read
  let refused = 0
  const mayRead = (size: number): boolean => {
    const fits = read.bytes + size <= bytes
    if (fits) read.bytes += size
    else refused = size
    return fits
  }
  for await (const row of bufferRows(buffer, metadata, source.name, { ...wanted, most: limit, mayRead })) read.rows.push(row)
  if (refused === 0) return read
  const size = `${(refused / 1e6).toFixed(0)} MB`
  if (read.rows.length === 0) throw new PlaygroundError('config', `${source.name} has ${size} in one piece; at most ${(bytes / 1e6).toFixed(0)} MB are read.`, 'Choose a smaller dataset.')
  return { ...read, more: true }
}

function topColumns({ schema }: FileMetaData): string[] {
  const names: string[] = []
  const skip = (at: number): number => {
    let next = at + 1
    for (let child = 0; child < (schema[at]?.num_children ?? 0); child++) next = skip(next)
    return next
  }
  for (let at = 1; at < schema.length; at = skip(at)) names.push(schema[at]?.name ?? '')
  return names
}

/** Ranges out of a few larger ones: neighbouring groups come with one request. */
function windowed(source: ByteSource): AsyncBuffer {
  const windows: { begin: number; end: number; bytes: Promise<Uint8Array> }[] = []
  return {
    byteLength: source.size,
    async slice(start, end = source.size) {
      let window = windows.find((each) => each.begin <= start && end <= each.end)
      if (!window) {
        const last = Math.min(source.size, Math.max(end, start + WINDOW))
        window = { begin: start, end: last, bytes: readAll(source, start, last) }
        windows.push(window)
        if (windows.length > 4) windows.shift()
      }
      const { begin, bytes } = window
      return (await bytes).slice(start - begin, end - begin).buffer
    },
  }
}

async function textFile(source: ByteSource, { limit, bytes }: FileWish): Promise<FileRows> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let lines = 0
  let read = 0
  const end = Math.min(source.size, bytes)
  try {
    for await (const chunk of source.read(0, end)) {
      read += chunk.length
      text += decoder.decode(chunk, { stream: true })
      if (/^\uFEFF?\s*\[/.test(text)) continue
      lines += chunk.reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0)
      // Lines may be empty: a few more are read than are wanted.
      if (lines > limit + 100) break
    }
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new PlaygroundError('config', `${source.name} is not UTF-8 text.`, 'Choose a dataset of Parquet or JSONL files.', { cause })
  }
  const whole = read === source.size
  if (!whole && /^\uFEFF?\s*\[/.test(text)) {
    const message = `${source.name} is one JSON list of ${(source.size / 1e6).toFixed(0)} MB; at most ${(bytes / 1e6).toFixed(0)} MB of it are read.`
    throw new PlaygroundError('config', message, 'Choose a dataset of Parquet or JSONL files.')
  }
  const found = readRows(whole ? text : text.slice(0, text.lastIndexOf('\n') + 1))
  const more = !whole || found.rows.length > limit
  const { rows } = limited(found, limit)
  return { rows, problems: found.problems, columns: [...new Set(rows.flatMap(({ row }) => Object.keys(row)))], bytes: read, more }
}

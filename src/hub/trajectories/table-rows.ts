/** Rows out of a JSONL or Parquet file, one after the other, each with the place that an error names. */

import { parquetMetadataAsync, parquetReadObjects, type AsyncBuffer, type FileMetaData } from 'hyparquet'
import { PlaygroundError } from '../../core/errors'
import type { PlacedRow } from '../../core/rows'

const EXPORT_AGAIN = 'Export the trajectories again, as JSONL or Parquet.'

/**
 * All rows of a file; what it is, is seen from its first bytes and not from its name.
 * @param name for errors
 * @throws PlaygroundError('config') with the place where the file cannot be read
 */
export async function* tableRows(file: Blob, name: string): AsyncGenerator<PlacedRow> {
  const begin = new Uint8Array(await file.slice(0, 64).arrayBuffer())
  const text = new TextDecoder().decode(begin).replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('PAR1')) yield* parquetRows(file, name)
  else if (text.startsWith('{')) yield* jsonlRows(file, name)
  else if (text === '') refuse(`${name} is empty.`)
  else if (text.startsWith('PK')) refuse(`${name} is a zip.`, 'Unpack it and choose the .jsonl or .parquet file inside.')
  else if (text.startsWith('[')) refuse(`${name} is one JSON list; JSONL has one object a line.`)
  else refuse(`${name} is neither Parquet nor JSONL: it begins with ${JSON.stringify(text.slice(0, 20))}.`)
}

function refuse(message: string, advice = EXPORT_AGAIN, cause?: unknown): never {
  throw new PlaygroundError('config', message, advice, { cause })
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))

async function* jsonlRows(file: Blob, name: string): AsyncGenerator<PlacedRow> {
  let line = 0
  for await (const text of lines(file, name)) {
    line++
    if (text.trim() === '') continue
    const place = `line ${line}`
    let row: unknown
    try {
      row = JSON.parse(text)
    } catch (cause) {
      refuse(`${name}, ${place} is not JSON: ${reason(cause)}.`, EXPORT_AGAIN, cause)
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row)) refuse(`${name}, ${place} is not a JSON object.`)
    yield { place, row: row as Record<string, unknown> }
  }
}

async function* lines(file: Blob, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array<ArrayBuffer>) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
    } catch (cause) {
      return refuse(`${name} is not UTF-8 text.`, EXPORT_AGAIN, cause)
    }
  }
  const reader = file.stream().getReader()
  let rest = ''
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const pieces = decode(read.value).split('\n')
      pieces[0] = rest + pieces[0]
      rest = pieces.pop() ?? ''
      yield* pieces
    }
    yield rest + decode()
  } finally {
    await reader.cancel()
  }
}

/** Rows of a Parquet file; PlaygroundError('config') says what cannot be read. */
export async function* parquetRows(file: Blob, name: string): AsyncGenerator<PlacedRow> {
  const buffer: AsyncBuffer = { byteLength: file.size, slice: (start, end) => file.slice(start, end).arrayBuffer() }
  yield* bufferRows(buffer, await parquetMetadata(buffer, name), name)
}

/** Turns what hyparquet threw into a sentence; the bytes' own errors pass. */
async function readable<T>(name: string, what: string, from: () => Promise<T>): Promise<T> {
  try {
    return await from()
  } catch (cause) {
    if (cause instanceof PlaygroundError) throw cause
    return refuse(`${name}: ${what} cannot be read (${reason(cause)}).`, 'Take the file again: it is cut or damaged.', cause)
  }
}

/** What a Parquet file holds, from its end. Throws PlaygroundError('config') where it is none. */
export function parquetMetadata(buffer: AsyncBuffer, name: string): Promise<FileMetaData> {
  return readable(name, 'its end, which lists what it holds,', () => parquetMetadataAsync(buffer))
}

export interface TableWish {
  /** Only the bytes of these columns are asked for; all where it is left out. Every one must be in the file. */
  columns?: readonly string[]
  /** No row after so many. */
  most?: number
  /** Asked before a row group of so many bytes is read; false ends the rows there. */
  mayRead?: (bytes: number) => boolean
}

/** Rows, group by group, so that no more of a large file is read than is wanted. Throws as parquetRows does. */
export async function* bufferRows(buffer: AsyncBuffer, metadata: FileMetaData, name: string, wish: TableWish = {}): AsyncGenerator<PlacedRow> {
  const { columns, most = Infinity, mayRead = () => true } = wish
  checkCodecs(metadata, name, columns)
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const all = rowStart + Number(group.num_rows)
    const rowEnd = Math.min(all, most)
    if (rowEnd <= rowStart || !mayRead(groupBytes(group, columns))) return
    const part = { rowStart, rowEnd, useOffsetIndex: rowEnd < all, ...(columns ? { columns: [...columns] } : {}) }
    const rows = await readable(name, `rows ${rowStart + 1} to ${rowEnd}`, () => parquetReadObjects({ file: buffer, metadata, ...part }))
    for (const [i, row] of rows.entries()) yield { place: `row ${rowStart + i + 1}`, row: plain(row) as Record<string, unknown> }
    rowStart = rowEnd
  }
}

const groupBytes = ({ columns: parts }: FileMetaData['row_groups'][number], columns?: readonly string[]): number =>
  parts.reduce((sum, { meta_data: part }) => sum + (part && (!columns || columns.includes(part.path_in_schema[0] ?? '')) ? Number(part.total_compressed_size) : 0), 0)

function checkCodecs({ row_groups }: FileMetaData, name: string, wanted?: readonly string[]): void {
  for (const { meta_data } of row_groups.flatMap(({ columns }) => columns)) {
    const column = meta_data?.path_in_schema[0] ?? ''
    if (!meta_data || ['UNCOMPRESSED', 'SNAPPY'].includes(meta_data.codec) || (wanted && !wanted.includes(column))) continue
    refuse(`${name}: column ${column} is compressed with ${meta_data.codec}, which is not supported.`, 'Write it with compression="snappy".')
  }
}

/** Parquet's 64-bit integers and typed arrays as JSON has them. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plain)
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, Number)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

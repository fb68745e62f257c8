/**
 * Reads and writes safetensors files. Layout (huggingface/safetensors' format page): u64 little-endian header length,
 * that many bytes of JSON {name: {dtype, shape, data_offsets}}, then the data; offsets count from the data's start.
 */

import type { NamedTensor } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { isRecord } from '../core/records'
import { toHalf } from './narrow'
import { DTYPE_BYTES, widen, type SafetensorsDtype } from './widen'

export { widen, type SafetensorsDtype }

/** One header entry, checked. `begin` and `end` are bytes from the start of the data section. */
export interface SafetensorsEntry {
  dtype: SafetensorsDtype
  dims: number[]
  begin: number
  end: number
}

export interface SafetensorsHeader {
  metadata: Record<string, string>
  entries: Map<string, SafetensorsEntry>
  /** Byte position in the file at which the data section starts. */
  dataStart: number
}

export interface SafetensorsTensor {
  /** How the file stores it. */
  dtype: SafetensorsDtype
  dims: number[]
  /** Values widened to float32, row-major. */
  data: Float32Array
}

export interface SafetensorsFile {
  metadata: Record<string, string>
  tensors: Map<string, SafetensorsTensor>
}

/** The Rust reader's limit. */
const MAX_HEADER_BYTES = 100_000_000
const DOWNLOAD_AGAIN = 'Download or save the file again.'

/** Bytes of the whole header, its length field included, from the file's first 8; the same refusals as readSafetensorsHeader. */
export function safetensorsHeaderBytes(first: Uint8Array): number {
  if (first.byteLength < 8) refuse(`it has ${first.byteLength} bytes, fewer than the 8 of its length field`)
  const length = new DataView(first.buffer, first.byteOffset, 8).getBigUint64(0, true)
  if (length > BigInt(MAX_HEADER_BYTES)) {
    const advice = 'Check that the file is a safetensors file and not a page or a Git LFS pointer.'
    refuse(`its first 8 bytes announce a header of ${length} bytes`, advice)
  }
  return 8 + Number(length)
}

function refuse(what: string, advice = DOWNLOAD_AGAIN, cause?: unknown): never {
  throw new PlaygroundError('model', `This safetensors file cannot be used: ${what}.`, advice, { cause })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function readMetadata(value: unknown): Record<string, string> {
  if (value === undefined) return {}
  if (!isRecord(value)) refuse('its __metadata__ is not an object')
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, typeof text === 'string' ? text : refuse(`metadata '${key}' is not text`)]),
  )
}

function readEntry(name: string, value: unknown): SafetensorsEntry {
  if (!isRecord(value)) refuse(`the header entry of '${name}' is not an object`)
  const { dtype, shape, data_offsets: offsets } = value
  if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16') {
    const advice = 'Save the model as float32, float16 or bfloat16; quantised files are not read.'
    refuse(`'${name}' has dtype ${JSON.stringify(dtype)}`, advice)
  }
  if (!Array.isArray(shape) || !shape.every(isCount)) refuse(`'${name}' has the shape ${JSON.stringify(shape)}`)
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    refuse(`'${name}' has the offsets ${JSON.stringify(offsets)}`)
  }
  const [begin, end] = offsets as [number, number]
  const bytes = shape.reduce((product, n) => product * n, DTYPE_BYTES[dtype])
  if (!Number.isSafeInteger(bytes) || end - begin !== bytes) {
    refuse(`'${name}' is ${dtype} [${shape.join(', ')}], which takes ${bytes} bytes, but its offsets hold ${end - begin}`)
  }
  return { dtype, dims: [...shape], begin, end }
}

/** Refuses holes and overlaps; returns the number of data bytes that the header describes. */
function checkCoverage(entries: ReadonlyMap<string, SafetensorsEntry>): number {
  const inOrder = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)
  let position = 0
  for (const [name, { begin, end }] of inOrder) {
    if (begin < position) refuse(`'${name}' starts at byte ${begin}, inside the tensor before it, which ends at ${position}`)
    if (begin > position) refuse(`bytes ${position} to ${begin}, before '${name}', belong to no tensor`)
    position = end
  }
  return position
}

/**
 * Parses and checks the header alone.
 * @param bytes at least the header: the first 8 + header length bytes of the file
 * @param fileBytes size of the whole file in bytes; null skips the comparison with what the header describes
 * @throws PlaygroundError('model') on a bad length, bad JSON, an unknown dtype, sizes that do not fit, holes or overlaps
 */
export function readSafetensorsHeader(bytes: Uint8Array, fileBytes: number | null = bytes.byteLength): SafetensorsHeader {
  const dataStart = safetensorsHeaderBytes(bytes)
  if (bytes.byteLength < dataStart) refuse(`its header should end at byte ${dataStart}, but there are only ${bytes.byteLength} bytes`)
  let header: unknown
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(8, dataStart)))
  } catch (error) {
    refuse('its header is not JSON', DOWNLOAD_AGAIN, error)
  }
  if (!isRecord(header)) refuse('its header is not a JSON object')
  const { __metadata__: metadata, ...rest } = header
  const entries = new Map(Object.entries(rest).map(([name, value]) => [name, readEntry(name, value)]))
  const covered = dataStart + checkCoverage(entries)
  if (fileBytes !== null && covered !== fileBytes) refuse(`its header describes ${covered} bytes, but the file has ${fileBytes}`)
  return { metadata: readMetadata(metadata), entries, dataStart }
}

/**
 * Reads a whole file.
 * @throws PlaygroundError('model') as readSafetensorsHeader does
 */
export function readSafetensors(bytes: Uint8Array): SafetensorsFile {
  const { metadata, entries, dataStart } = readSafetensorsHeader(bytes)
  const tensors = new Map<string, SafetensorsTensor>()
  for (const [name, { dtype, dims, begin, end }] of entries) {
    tensors.set(name, { dtype, dims, data: widen(bytes.subarray(dataStart + begin, dataStart + end), dtype) })
  }
  return { metadata, tensors }
}

/** Orders text by its UTF-8 bytes, as the reference writer does (UTF-16 order differs beyond U+FFFF only). */
function compareNames(a: string, b: string): number {
  const [x, y] = [[...a], [...b]]
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = (x[i] as string).codePointAt(0)! - (y[i] as string).codePointAt(0)!
    if (difference) return difference
  }
  return x.length - y.length
}

/**
 * Writes float32 tensors as the reference writer does: tensors by name, header keys in that order after the metadata,
 * header padded with spaces to a multiple of 8. The same tensors give the same bytes.
 * @param metadata text by key; 'format': 'pt' is what PEFT and transformers write
 * @param dtype how the file stores them; 'F16' rounds to the nearest, and to infinity what is too large for it
 * @throws PlaygroundError('model') when a name occurs twice or a tensor's data do not fit its dims
 */
export function writeSafetensors(
  tensors: readonly NamedTensor[],
  metadata: Record<string, string> = { format: 'pt' },
  dtype: 'F32' | 'F16' = 'F32',
): Uint8Array<ArrayBuffer> {
  const sorted = [...tensors].sort((a, b) => compareNames(a.name, b.name))
  const header: [string, unknown][] = []
  const keys = Object.keys(metadata).sort(compareNames)
  if (keys.length) header.push(['__metadata__', Object.fromEntries(keys.map((key) => [key, metadata[key]]))])
  let position = 0
  for (const [i, { name, dims, data }] of sorted.entries()) {
    if (name === '__metadata__' || sorted[i - 1]?.name === name) refuse(`the name '${name}' is taken`, 'Give every tensor its own name.')
    if (dims.reduce((product, n) => product * n, 1) !== data.length) {
      refuse(`'${name}' has dims [${dims.join(', ')}] but ${data.length} values`, 'Pass data that fill the dims.')
    }
    const end = position + data.length * DTYPE_BYTES[dtype]
    header.push([name, { dtype, shape: dims, data_offsets: [position, end] }])
    position = end
  }
  // Written key by key: an object literal would move integer-like names to the front.
  const json = `{${header.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
  const text = new TextEncoder().encode(json)
  const headerBytes = Math.ceil(text.length / 8) * 8
  const out = new Uint8Array(8 + headerBytes + position)
  new DataView(out.buffer).setBigUint64(0, BigInt(headerBytes), true)
  out.fill(0x20, 8, 8 + headerBytes)
  out.set(text, 8)
  let offset = 8 + headerBytes
  for (const { data } of sorted) {
    const stored = dtype === 'F16' ? toHalf(data) : data
    out.set(new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength), offset)
    offset += stored.byteLength
  }
  return out
}

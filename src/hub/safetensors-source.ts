/** Safetensors files, one or several shards, as a WeightSource: headers first, then the wanted bytes in the order of the file. */

import { PlaygroundError } from '../core/errors'
import { PIECE_ELEMENTS, type WeightPiece, type WeightSource } from '../core/weights'
import { ByteCursor } from './byte-cursor'
import type { ByteSource } from './bytes'
import { missingTensor } from './memory-source'
import { readSafetensorsHeader, safetensorsHeaderBytes, type SafetensorsEntry } from './safetensors'
import type { SafetensorsIndex } from './safetensors-index'
import { DTYPE_BYTES, rawBytes, widenInPlace } from './widen'

/** First range of a file: the header of a model of 1 B parameters takes some 40 KB. */
export const HEAD_BYTES = 1024 * 1024
/** A gap up to this many bytes is read and thrown away rather than asked around. */
export const GAP_BYTES = 256 * 1024

/** Bytes [begin, end) of a file that `pieces` is about to read. */
export interface PlannedRange {
  file: ByteSource
  begin: number
  end: number
}

export interface SafetensorsSourceOptions {
  config: () => Promise<unknown>
  /** The files, or the index and how to open a shard that it names. Called once, and again after it failed. */
  files: () => Promise<readonly ByteSource[] | { index: SafetensorsIndex; open: (shard: string) => ByteSource | Promise<ByteSource> }>
  /** For people, where no file has the tensor. */
  name: string
  /** All that a call of `pieces` will read, before it reads the first byte. */
  onPlan?: (ranges: PlannedRange[]) => void | Promise<void>
  /** What to do about a file that cannot be used, where whoever opened it knows more than the bytes say. Asked when it is. */
  damagedAdvice?: () => string
}

interface Shard {
  file: ByteSource
  /** The first bytes of the file, kept: at least the header. */
  head: Uint8Array
  dataStart: number
  entries: ReadonlyMap<string, SafetensorsEntry>
}

type Wanted = SafetensorsEntry & { name: string }

/** Neighbours in a file, read at once; bytes from the start of the file. */
interface Run {
  begin: number
  end: number
  tensors: Wanted[]
}

/** Headers are read once; after a failure again at the next call. */
export class SafetensorsSource implements WeightSource {
  private headers: Promise<Shard[]> | null = null

  constructor(private readonly options: SafetensorsSourceOptions) {}

  config(): Promise<unknown> {
    return this.options.config()
  }

  /** @throws PlaygroundError('model') with the file's name when a header is damaged, a shard is missing, or index and shards disagree */
  async tensors(): Promise<ReadonlyMap<string, readonly number[]>> {
    const shards = await this.shards()
    return new Map(shards.flatMap(({ entries }) => [...entries].map(([name, { dims }]) => [name, dims] as const)))
  }

  /** @throws PlaygroundError('model') for a name that is missing or bytes that end early, and what `tensors` and the files' own reads throw */
  async *pieces(wanted: readonly string[]): AsyncGenerator<WeightPiece> {
    const shards = await this.shards()
    for (const name of wanted) if (!shards.some(({ entries }) => entries.has(name))) throw missingTensor(name, this.where(shards))
    const names = new Set(wanted)
    const plan = shards.map((shard) => ({ shard, runs: runsOf(shard, names) }))
    await this.options.onPlan?.(
      plan.flatMap(({ shard: { file, head }, runs }) =>
        runs.flatMap(({ begin, end }) => (end > head.length ? [{ file, begin: Math.max(begin, head.length), end }] : [])),
      ),
    )
    for (const { shard, runs } of plan) for (const run of runs) yield* readRun(shard, run)
  }

  private where(shards: Shard[]): string {
    return shards.length === 1 ? (shards[0] as Shard).file.name : this.options.name
  }

  private shards(): Promise<Shard[]> {
    this.headers ??= this.readHeaders().catch((error: unknown) => {
      this.headers = null
      throw error
    })
    return this.headers
  }

  private async readHeaders(): Promise<Shard[]> {
    const given = await this.options.files()
    const shards: Shard[] = []
    const { damagedAdvice } = this.options
    if (!('index' in given)) for (const file of given) shards.push(await readHead(file, damagedAdvice))
    else {
      for (const [name, tensors] of given.index.shards) {
        const shard = await readHead(await given.open(name), damagedAdvice)
        const missing = tensors.find((tensor) => !shard.entries.has(tensor))
        if (missing !== undefined) {
          throw new PlaygroundError(
            'model',
            `The index says that '${missing}' is in ${shard.file.name}, but that file does not hold it.`,
            'Save the model again, or choose another revision.',
          )
        }
        shards.push(shard)
      }
    }
    checkOnce(shards)
    return shards
  }
}

function checkOnce(shards: readonly Shard[]): void {
  const home = new Map<string, string>()
  for (const { file, entries } of shards) {
    for (const name of entries.keys()) {
      const other = home.get(name)
      if (other !== undefined) {
        const advice = 'Save the model again, or choose another revision.'
        throw new PlaygroundError('model', `'${name}' is in two files: ${other} and ${file.name}.`, advice)
      }
      home.set(name, file.name)
    }
  }
}

async function readHead(file: ByteSource, damagedAdvice?: () => string): Promise<Shard> {
  /** A refusal of the bytes does not know whose they are; what the file's own reads throw does. */
  const named = <T>(parse: () => T): T => {
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof PlaygroundError)) throw error
      throw new PlaygroundError('model', `${file.name}: ${error.message}`, damagedAdvice?.() ?? error.advice, { cause: error })
    }
  }
  let head = await readExactly(file, 0, Math.min(HEAD_BYTES, file.size))
  const length = named(() => safetensorsHeaderBytes(head))
  // Not for a length that the file cannot have: readSafetensorsHeader says so below.
  if (length > head.length && length <= file.size) {
    const whole = new Uint8Array(length)
    whole.set(head)
    whole.set(await readExactly(file, head.length, length), head.length)
    head = whole
  }
  const { entries, dataStart } = named(() => readSafetensorsHeader(head, file.size))
  return { file, head, entries, dataStart }
}

async function readExactly(file: ByteSource, begin: number, end: number): Promise<Uint8Array> {
  const out = new Uint8Array(end - begin)
  const cursor = new ByteCursor(file.read(begin, end))
  try {
    const filled = await cursor.fill(out)
    if (filled < out.length) throw endsEarly(file, `its header`, filled, out.length)
    return out
  } finally {
    await cursor.close()
  }
}

function endsEarly(file: ByteSource, what: string, came: number, of: number): PlaygroundError {
  return new PlaygroundError('model', `${file.name} ends inside ${what}: ${came} of ${of} bytes came.`, 'Load the model again.')
}

/** The wanted tensors of a file by their place, neighbours joined across small gaps. */
function runsOf({ entries, dataStart }: Shard, names: ReadonlySet<string>): Run[] {
  const wanted = [...entries].flatMap(([name, entry]) => (names.has(name) && entry.end > entry.begin ? [{ ...entry, name }] : []))
  const runs: Run[] = []
  for (const tensor of wanted.sort((a, b) => a.begin - b.begin)) {
    const [begin, end] = [dataStart + tensor.begin, dataStart + tensor.end]
    const last = runs.at(-1)
    if (last && begin - last.end <= GAP_BYTES) {
      last.tensors.push(tensor)
      last.end = end
    } else runs.push({ begin, end, tensors: [tensor] })
  }
  return runs
}

/** Bytes [begin, end) of a file, what is in the head from there. */
async function* readThrough({ file, head }: Shard, begin: number, end: number): AsyncGenerator<Uint8Array> {
  if (begin < head.length) yield head.subarray(begin, Math.min(end, head.length))
  if (end > head.length) yield* file.read(Math.max(begin, head.length), end)
}

async function* readRun(shard: Shard, { begin, end, tensors }: Run): AsyncGenerator<WeightPiece> {
  const cursor = new ByteCursor(readThrough(shard, begin, end))
  let at = begin
  try {
    for (const { name, dims, dtype, ...entry } of tensors) {
      const start = shard.dataStart + entry.begin
      await cursor.skip(start - at)
      const elements = (entry.end - entry.begin) / DTYPE_BYTES[dtype]
      const row = Math.max(1, dims.at(-1) ?? 1)
      const step = Math.max(1, Math.floor(PIECE_ELEMENTS / row)) * row
      for (let offset = 0; offset < elements; offset += step) {
        const data = allocate(name, Math.min(step, elements - offset))
        const raw = rawBytes(data, dtype)
        const filled = await cursor.fill(raw)
        if (filled < raw.length) throw endsEarly(shard.file, `'${name}'`, offset * DTYPE_BYTES[dtype] + filled, entry.end - entry.begin)
        widenInPlace(data, dtype)
        yield { name, offset, data }
      }
      at = shard.dataStart + entry.end
    }
  } finally {
    await cursor.close()
  }
}

function allocate(name: string, elements: number): Float32Array {
  try {
    return new Float32Array(elements)
  } catch (cause) {
    const size = `${((elements * 4) / 1e6).toFixed(0)} MB`
    throw new PlaygroundError('memory', `The browser refused ${size} for a piece of '${name}'.`, 'Close other tabs or take a smaller model.', { cause })
  }
}

/** What a benchmark gives back, how the command line names benchmarks, and how rows become a table or one JSON object. */

/**
 * One result. A measured figure is `value` with `unit`; against a peer `ratio` is ours over the peer's in that unit. A
 * `learn` row has the success rates instead. Memory rows are named `MODEL/memory`.
 */
export interface BenchRow {
  bench: string
  row: string
  value?: number
  unit?: string
  /** [min, max] over the repeats. */
  spread?: [number, number]
  peer?: string
  peerValue?: number
  peerSpread?: [number, number]
  ratio?: number
  /** [min, max] of the ratios of single pairs. */
  ratioSpread?: [number, number]
  /** Pairs, or repeats, that count. */
  samples?: number
  /** What the ratio, or the value where there is none, should be: `≤ 2`. */
  goal?: string
  met?: boolean
  seed?: number
  /** Success rates in [0, 1], before and after training, on the training scenarios and on held-out ones. */
  before?: number
  after?: number
  heldOutBefore?: number
  heldOutAfter?: number
  steps?: number
  seconds?: number
  /** What else must be known of it; where there is no figure, why. */
  note?: string
}

/** Progress, for people; it goes to stderr. */
export type BenchLog = (text: string) => void

/** What e2e/bench/NAME.ts exports. `rows` are the rows asked for; none means all. */
export interface BenchModule {
  run(rows: string[], log: BenchLog): Promise<BenchRow[]>
  /** Programs that were compared, by name, beside those of `Machine`. */
  versions?(): Promise<Record<string, string>>
}

export interface BenchRequest {
  bench: string
  rows: string[]
}

export interface BenchArguments {
  json: boolean
  requests: BenchRequest[]
}

/**
 * Reads `learn lane decode --json`: a word that is the name of a benchmark starts a request, any other is a row of the
 * request before it. No names: all benchmarks. Throws when the first word names no benchmark.
 */
export function parseBenchArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const json = args.includes('--json')
  const requests: BenchRequest[] = []
  for (const word of args.filter(word => word !== '--json')) {
    const last = requests.at(-1)
    if (known.includes(word)) requests.push({ bench: word, rows: [] })
    else if (last === undefined || word.startsWith('-')) {
      throw new Error(`No benchmark named ${word}. There are: ${known.join(', ') || 'none'}.`)
    } else last.rows.push(word)
  }
  return { json, requests: requests.length > 0 ? requests : known.map(bench => ({ bench, rows: [] })) }
}

const columns = ['bench', 'row', 'value', 'unit', 'spread', 'peer', 'peerValue', 'peerSpread', 'ratio', 'ratioSpread', 'samples', 'goal', 'met'] as const
const learnColumns = ['seed', 'before', 'after', 'heldOutBefore', 'heldOutAfter', 'steps', 'seconds', 'note'] as const

/** The rows under the columns that at least one of them fills, padded with blanks. */
export function table(rows: readonly BenchRow[]): string {
  if (rows.length === 0) return 'no rows'
  const used = [...columns, ...learnColumns].filter(column => rows.some(row => row[column] !== undefined))
  const cells = [used as readonly string[], ...rows.map(row => used.map(column => cell(row[column])))]
  const widths = used.map((_, at) => Math.max(...cells.map(line => line[at]?.length ?? 0)))
  return cells.map(line => line.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ').trimEnd()).join('\n')
}

function cell(value: string | number | boolean | [number, number] | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toPrecision(4)
  return `${cell(value[0])}..${cell(value[1])}`
}

/** Trajectories as JSONL and as Parquet, written step by step: never more than a few steps are in memory. */

import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { PlaygroundError } from '../../core/errors'
import type { KeptEpisode, RunRecord } from '../../core/run-record'
import { columnsOf, isInt64, isReal, jsonLine, parquetSchemaOf, type Column } from './columns'
import { rowOf, type Row } from './row'

/** The Hub's viewer reads whole row groups; a row has up to tens of kilobytes. */
const ROWS_PER_GROUP = 100

/** Rows of one step at a time. Throws PlaygroundError('config') where there are none at all. */
async function* rowsOf(run: RunRecord, steps: AsyncIterable<KeptEpisode[]>): AsyncGenerator<Row[]> {
  let first = true
  for await (const step of steps) {
    if (step.length === 0) continue
    yield step.map((episode, i) => rowOf(episode, run, first && i === 0))
    first = false
  }
  if (first) throw new PlaygroundError('config', `No trajectories of the run “${run.name}” are kept.`, 'Train a step first.')
}

/**
 * One JSON object a line, each an episode; UTF-8.
 * @param steps the kept episodes of each step, oldest first; every step is asked for when the one before it is written
 * @throws PlaygroundError('config') where there are no episodes
 */
export async function trajectoriesJsonl(run: RunRecord, steps: AsyncIterable<KeptEpisode[]>): Promise<Blob> {
  const columns = columnsOf(run)
  const parts: Blob[] = []
  for await (const rows of rowsOf(run, steps)) parts.push(new Blob(rows.map((row) => `${jsonLine(columns, row)}\n`)))
  return new Blob(parts, { type: 'application/jsonl' })
}

/**
 * The same rows as Parquet (Snappy) with an explicit schema, small row groups and page indexes, as the Hub's viewer likes it.
 * @param steps as for JSONL
 * @throws PlaygroundError('config') where there are no episodes
 */
export async function trajectoriesParquet(run: RunRecord, steps: AsyncIterable<KeptEpisode[]>): Promise<Blob> {
  const columns = columnsOf(run)
  const writer = new BlobWriter()
  const parquet = new ParquetWriter({ writer, schema: parquetSchemaOf(columns), createdBy: `GRPO Playground ${run.version}` })
  let waiting: Row[] = []
  const write = () => {
    void parquet.write({ columnData: columns.map((column) => columnData(column, waiting)), rowGroupSize: waiting.length })
    waiting = []
  }
  for await (const rows of rowsOf(run, steps)) {
    for (const row of rows) {
      waiting.push(row)
      if (waiting.length === ROWS_PER_GROUP) write()
    }
  }
  if (waiting.length > 0) write()
  void parquet.finish()
  return new Blob(writer.parts, { type: 'application/vnd.apache.parquet' })
}

function columnData(column: Column, rows: readonly Row[]) {
  const values = rows.map((row) => row[column.name])
  const data = isInt64(column) ? values.map((value) => BigInt(value as number)) : values
  // Split by byte, real numbers compress: what comes from float32 has three bytes of zeros.
  return { name: column.name, data, columnIndex: true, ...(isReal(column) ? { encoding: 'BYTE_STREAM_SPLIT' as const } : {}) }
}

/** Hands every row group to a Blob, which a browser may keep on disk. Synchronous, so that `write` and `finish` are. */
class BlobWriter extends ByteWriter {
  readonly parts: Blob[] = []

  flush(): void {
    this.parts.push(new Blob([this.getBytes()]))
    this.index = 0
  }

  override finish(): void {
    this.flush()
  }
}

/** A report of the benchmark as rows of words, as Markdown and as JSON: the same figures in the same order. */

import { BENCH_FIGURES, BENCH_MODELS, type BenchDevice, type BenchFigure, type BenchModelName, type BenchReport } from '../../core/bench-report'
import { VERSION } from '../../core/version'
import { BENCH_STRINGS as W } from '../../ui/bench-strings'

export interface BenchRow {
  key: string
  what: string
  value: string
  /** '' where there was one measurement. */
  range: string
  repeats: number
}

/** Backend, adapter or threads. */
export function deviceLine({ backend, adapter, threads }: BenchDevice): string {
  return backend === 'webgpu' ? W.gpu(adapter ?? backend) : W.wasm(threads)
}

export const versionLine = ({ ortVersion }: BenchDevice): string => W.versions(VERSION, ortVersion)

/** The rows of each model that has any. */
export function benchTables({ figures }: BenchReport): { model: BenchModelName; title: string; rows: BenchRow[] }[] {
  return BENCH_MODELS.map((model) => {
    const own = BENCH_FIGURES.flatMap((name) => figures.filter((figure) => figure.model === model && figure.name === name))
    return { model, title: W.models[model], rows: own.map(benchRow) }
  }).filter(({ rows }) => rows.length > 0)
}

function benchRow({ name, value, range, repeats }: BenchFigure): BenchRow {
  const { name: what, unit, text } = W.figures[name]
  const said = (figure: number): string => [text(figure), unit].filter(Boolean).join(' ')
  return { key: name, what, value: said(value), range: range ? W.range(text(range[0]), text(range[1])) : '', repeats }
}

/** `browser`: what the browser calls itself. */
export function benchMarkdown(report: BenchReport, browser: string): string {
  const { what, value, range, repeats } = W.columns
  const lines = [`${deviceLine(report.device)}. ${versionLine(report.device)}. ${browser}`]
  for (const { title, rows } of benchTables(report)) {
    lines.push('', `| ${title}: ${what.toLowerCase()} | ${value} | ${range} | ${repeats} |`, '| --- | ---: | ---: | ---: |')
    for (const row of rows) lines.push(`| ${row.what} | ${row.value} | ${row.range} | ${row.repeats} |`)
  }
  return `${lines.join('\n')}\n`
}

/** Figures in full, with units that need no words. */
export function benchJson({ device, figures }: BenchReport, browser: string): string {
  return `${JSON.stringify({ page: VERSION, browser, device, figures: figures.map((figure) => ({ ...figure, unit: UNITS[figure.name] })) }, null, 2)}\n`
}

const UNITS: Record<BenchFigure['name'], string> = {
  decode1: 'tokens/s',
  decode8: 'tokens/s',
  batching: 'ratio',
  training: 's',
  step: 's',
  dispatchesToken: 'dispatches',
  dispatchesTraining: 'dispatches',
  memory: 'bytes',
}

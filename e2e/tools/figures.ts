/** Figures that a long test measured, handed from the test's process to the command that started it. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const figure = z.object({ test: z.string(), name: z.string(), value: z.number(), unit: z.string() })

export type Figure = z.infer<typeof figure>

/** Called by a soak test: `recordFigure({ test: 'leak', name: 'heap growth', value: 3.2, unit: 'MB' })`. */
export function recordFigure(recorded: Figure, file = process.env.GRPO_FIGURES): void {
  if (file) appendFileSync(file, `${JSON.stringify(recorded)}\n`)
  else process.stderr.write(`${figureLine(recorded)}\n`)
}

/** The figures recorded in a file, in order; none when the file was never written. */
export function readFigures(file: string): Figure[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(line => line !== '')
  return lines.map(line => figure.parse(JSON.parse(line)))
}

/** `leak: heap growth 3.2 MB` */
export function figureLine({ test, name, value, unit }: Figure): string {
  return `${test}: ${name} ${Number.isInteger(value) ? value : value.toPrecision(4)} ${unit}`
}

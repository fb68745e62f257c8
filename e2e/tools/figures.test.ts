/** Figures survive the way from one process to another. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { figureLine, readFigures, recordFigure } from './figures'

it('reads back what was recorded, in order', () => {
  const folder = mkdtempSync(join(tmpdir(), 'figures-'))
  const file = join(folder, 'figures.jsonl')
  expect(readFigures(file)).toEqual([])
  const figures = [
    { test: 'leak', name: 'heap growth', value: 3.14159, unit: 'MB' },
    { test: 'chaos', name: 'episodes', value: 4000, unit: 'episodes' },
  ]
  for (const figure of figures) recordFigure(figure, file)
  expect(readFigures(file)).toEqual(figures)
  expect(figures.map(figureLine)).toEqual(['leak: heap growth 3.142 MB', 'chaos: episodes 4000 episodes'])
  rmSync(folder, { recursive: true })
})

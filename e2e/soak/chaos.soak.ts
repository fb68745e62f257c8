/** Two hundred episodes over eight sockets of a server that is killed, restarted, slowed and filled at random: `npm run soak`. */

import { expect, it } from 'vitest'
import { recordFigure } from '../tools/figures'
import { chaos, expectCalm } from './chaos'

const STEPS = 25

it('loses none of two hundred, scores none that should not be, leaks no socket, and memory stays where it is', async () => {
  const result = await chaos({ steps: STEPS, seed: 11, spacing: 2000, longestMs: 3000 })
  const { acts, heapMB, played, attempts, seconds } = result
  const failed = expectCalm(result)
  const growth = (heapMB.at(-1) ?? NaN) - (heapMB[4] ?? NaN)
  for (const act of ['kill', 'slow', 'fill'] as const) recordFigure({ test: 'chaos', name: `times the server was disturbed: ${act}`, value: acts[act], unit: 'times' })
  recordFigure({ test: 'chaos', name: 'episodes asked for', value: STEPS * 8, unit: 'episodes' })
  recordFigure({ test: 'chaos', name: 'episodes lost', value: STEPS * 8 - result.steps.flat().length, unit: 'episodes' })
  recordFigure({ test: 'chaos', name: 'episodes played', value: played.length, unit: 'episodes' })
  recordFigure({ test: 'chaos', name: 'episodes broken', value: failed, unit: 'episodes' })
  recordFigure({ test: 'chaos', name: 'steps tried again', value: attempts - STEPS, unit: 'times' })
  recordFigure({ test: 'chaos', name: 'JS heap growth, steps 5 to 25', value: growth, unit: 'MB' })
  recordFigure({ test: 'chaos', name: 'duration', value: seconds, unit: 's' })
  expect(result.steps.flat()).toHaveLength(STEPS * 8)
  expect(failed).toBeGreaterThan(10)
  for (const act of ['kill', 'slow', 'fill'] as const) expect([act, acts[act] > 1]).toEqual([act, true])
  // Facts of what was played are kept here: some hundred bytes an episode.
  expect(growth).toBeLessThan(4)
}, 60 * 60_000)

/** Ten turns read their tokens once, and the count would notice if they did not. */

import { expect, it } from 'vitest'
import { turnsRows, turnWork } from './turns'

it('reads each token of a ten-turn episode once', async () => {
  const { tokens, prefilled, decoded, prefilledAgain } = await turnWork()
  // The very last token that the model writes need not be read.
  expect(prefilled + decoded).toBeGreaterThanOrEqual(tokens - 1)
  expect((prefilled + decoded) / tokens).toBeLessThanOrEqual(1.05)
  expect(prefilledAgain).toBeGreaterThan(3 * tokens)
})

it('has a row of what is prefilled alone, and one of all that the model takes in', async () => {
  const rows = await turnsRows()
  expect(rows.map(({ row, met }) => [row, met])).toEqual([
    ['turns/prefilled', true],
    ['turns/prefilled and decoded', true],
  ])
  for (const { value, peerValue, ratio } of rows) expect(ratio).toBeCloseTo((value ?? 0) / (peerValue ?? 1), 2)
})

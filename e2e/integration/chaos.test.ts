/** Forty episodes and more over eight sockets of a server that is killed, restarted, slowed and filled at random. */

import { expect, it } from 'vitest'
import { chaos, expectCalm } from '../soak/chaos'

it('loses none, scores none that should not be, leaks no socket', async () => {
  const result = await chaos({ steps: 5, seed: 3, spacing: 2500, longestMs: 1500 })
  const failed = expectCalm(result)
  expect(result.steps.flat().length).toBeGreaterThanOrEqual(40)
  expect(failed).toBeGreaterThan(0)
  for (const act of ['kill', 'slow', 'fill'] as const) expect([act, result.acts[act] > 0]).toEqual([act, true])
  // The first steps fill caches.
  expect((result.heapMB.at(-1) ?? Infinity) - (result.heapMB[1] ?? 0)).toBeLessThan(4)
}, 600_000)

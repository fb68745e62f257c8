/** Without the mask of what the environment wrote, lane is learned worse from the same start; the loss's divisor is the same. */

import { expect, it } from 'vitest'
import type { StepRecord } from '../../src/core/events'
import { configOf, trainSteps } from '../integration/grpo-run'

const SEEDS = [1, 2, 3]
const STEPS = 24

/** Share of solved episodes in the last eight steps: 256 of them. */
function solved(records: readonly StepRecord[]): number {
  const episodes = records.slice(-8).flatMap((record) => record.episodes)
  return episodes.filter(({ success }) => success).length / episodes.length
}

it('trained on the environment’s words, too, lane comes out worse', async () => {
  const found: { masked: number; open: number }[] = []
  for (const seed of SEEDS) {
    const config = configOf('lane', { prompts_per_step: 4, seed })
    const [masked, open] = [await trainSteps(config, { steps: STEPS }), await trainSteps(config, { steps: STEPS, maskEnvironment: false })]
    // The same first step is sampled in both.
    expect(open.records[0]?.episodes.map(({ ids }) => ids)).toEqual(masked.records[0]?.episodes.map(({ ids }) => ids))
    found.push({ masked: solved(masked.records), open: solved(open.records) })
  }
  const mean = (of: (one: { masked: number; open: number }) => number): number => found.reduce((sum, one) => sum + of(one), 0) / found.length
  console.log(JSON.stringify(found))
  expect(mean(({ masked }) => masked)).toBeGreaterThan(0.75)
  expect(mean(({ masked, open }) => masked - open)).toBeGreaterThan(0.2)
})

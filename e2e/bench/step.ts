/**
 * Seconds of one GRPO step of each preset in the built page on WASM, and how sampling and training share them: the median
 * over steps 2 to 5 of a run. The first step is left out: it also builds what the later ones use again.
 */

import type { RunConfig } from '../../src/core/config'
import { presetById, presetConfig } from '../../src/env/presets'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { withRun, withSite } from './_page'
import { countFrom, selectPresets, stepRows } from './_rows'

/** Steps that count, after the first. */
const STEPS = 4

export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const presets = selectPresets('step', words, ['lane', 'catch', 'echo'])
  const counted = countFrom(process.env, 'GRPO_BENCH_STEPS', STEPS)
  return withSite(async site => {
    const rows: BenchRow[] = []
    for (const preset of presets) {
      const say: BenchLog = text => log(`${preset}: ${text}`)
      const base = presetConfig(presetById(preset), 1)
      const config: RunConfig = { ...base, backend: 'wasm', grpo: { ...base.grpo, max_steps: counted + 1 } }
      const { steps } = await withRun(site, config, say, page =>
        page.train(({ step, seconds }) => say(`step ${step}, sampling ${seconds.sampling.toFixed(2)} s, training ${seconds.training.toFixed(2)} s`)),
      )
      rows.push(...stepRows(preset, steps.filter(({ step }) => step > 1).map(({ seconds }) => seconds)))
    }
    return rows
  })
}

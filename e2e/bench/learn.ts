/**
 * Does it learn? Each preset with three seeds, from a fresh adapter to the end of its steps, in the built page on WASM, as a
 * person would do it: open, press Train, wait. `learn lane 1` runs one. The rows sft and dpo are of those stages alone, staged of both and GRPO
 * in turn, on the same engine in Node. For a trial GRPO_BENCH_EPISODES and GRPO_BENCH_STEPS make it shorter; its numbers then mean nothing.
 */

import type { RunConfig } from '../../src/core/config'
import { presetById, presetConfig } from '../../src/env/presets'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { withRun, withSite, type Site } from './_page'
import { countFrom, learnRow, selectLearnRuns, usualSteps, type PresetId } from './_rows'
import { stagedRow } from './_staged'
import { dpoRow, sftRow, STAGE_ROWS } from './_stages'

/** Per split: a rate near one half is then good to about ±3 points. */
const EPISODES = 256
const SEEDS = [1, 2, 3]
const PRESET_ROWS: readonly PresetId[] = ['lane', 'catch', 'arithmetic', 'guess', 'mix']

export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const stages = STAGE_ROWS.filter(row => words.includes(row))
  const others = words.filter(word => !stages.some(row => row === word))
  const { presets, seeds } = selectLearnRuns(others, PRESET_ROWS, SEEDS)
  const episodes = countFrom(process.env, 'GRPO_BENCH_EPISODES', EPISODES)
  const named = others.some(word => !/^\d+$/.test(word))
  const rows = stages.length > 0 && !named ? [] : await learnPresets(presets, seeds, episodes, log)
  for (const stage of stages.length > 0 || named ? stages : STAGE_ROWS) {
    for (const seed of seeds) {
      const told: BenchLog = text => log(`${stage} seed ${seed}: ${text}`)
      rows.push(await (stage === 'staged' ? stagedRow(seed, episodes, told) : stage === 'sft' ? sftRow(seed, episodes, told) : dpoRow(seed, Math.ceil(episodes / 8), told)))
    }
  }
  return rows
}

function learnPresets(presets: readonly PresetId[], seeds: readonly number[], episodes: number, log: BenchLog): Promise<BenchRow[]> {
  return withSite(async site => {
    const rows: BenchRow[] = []
    for (const preset of presets) {
      for (const seed of seeds) {
        rows.push(await learn(site, preset, seed, episodes, text => log(`${preset} seed ${seed}: ${text}`)))
      }
    }
    return rows
  })
}

async function learn(site: Site, preset: PresetId, seed: number, episodes: number, log: BenchLog): Promise<BenchRow> {
  const steps = countFrom(process.env, 'GRPO_BENCH_STEPS', usualSteps(preset))
  const base = presetConfig(presetById(preset), seed)
  const config: RunConfig = { ...base, backend: 'wasm', grpo: { ...base.grpo, max_steps: steps } }
  return withRun(site, config, log, async page => {
    const rates = async (when: string) => {
      const result = await page.evaluate(episodes)
      log(`success ${when} ${result.train.toFixed(3)}, held-out ${result.heldOut?.toFixed(3) ?? 'none'} (${episodes} episodes each, no row of a dataset twice)`)
      return result
    }
    const before = await rates('before')
    const trained = await page.train(({ step, metrics, seconds }) => {
      const { reward, success } = metrics
      const rate = (value: number | null | undefined) => value?.toFixed(3) ?? 'none'
      const took = `${seconds.sampling.toFixed(1)} + ${seconds.training.toFixed(1)} s`
      log(`step ${step}/${steps}, reward ${rate(reward)}, success ${rate(success)}, ${took}`)
    })
    const done = trained.steps.at(-1)?.step ?? 0
    log(`${done} steps in ${trained.seconds.toFixed(1)} s`)
    return learnRow({ preset, seed, before, after: await rates('after'), steps: done, seconds: trained.seconds })
  })
}

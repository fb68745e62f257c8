/**
 * `first-load`: the built page on the preview server, visited with an empty cache: first paint, JavaScript before the recorded run moves,
 * layout shift. `frames`: how it paints while it trains on WASM with 64 episodes of 1,000 tokens.
 */

import type { RunConfig } from '../../src/core/config'
import { presetById, presetConfig } from '../../src/env/presets'
import type { BenchLog, BenchRow } from '../tools/bench-rows'
import { firstLoad, type FirstLoad } from './_first-load'
import { framesSince, watchFrames, type Frames } from './_frames'
import { withRun, withSite, type Site } from './_page'

const ROWS = ['first-load', 'frames'] as const
/** Visits; medians are taken. */
const VISITS = 5
/** How long each is watched once everything is drawn, ms. */
const WATCHED = 6000

export async function run(words: string[], log: BenchLog): Promise<BenchRow[]> {
  const unknown = words.filter((word) => !ROWS.some((row) => row === word))
  if (unknown.length > 0) throw new Error(`page has no row ${unknown.join(', ')}. Rows: ${ROWS.join(', ')}.`)
  const wanted = (row: (typeof ROWS)[number]) => words.length === 0 || words.includes(row)
  return withSite(async (site) => [...(wanted('first-load') ? await firstLoadRows(site, log) : []), ...(wanted('frames') ? await frameRows(site, log) : [])])
}

async function firstLoadRows({ browser, url }: Site, log: BenchLog): Promise<BenchRow[]> {
  const visits: FirstLoad[] = []
  for (let i = 0; i < VISITS; i++) {
    const visit = await firstLoad(browser, url, WATCHED)
    visits.push(visit)
    log(`visit ${i + 1}: paint ${visit.paint.toFixed(0)} ms, token ${visit.token.toFixed(0)} ms, curves ${visit.curves.toFixed(0)} ms, shift ${visit.shift.toFixed(4)}`)
  }
  const narrow = await firstLoad(browser, url, WATCHED, { width: 390, height: 844 })
  for (const { name, bytes } of visits[0]?.files ?? []) log(`${(bytes / 1000).toFixed(1)} kB ${name}`)
  for (const text of [...(visits[0]?.shifted ?? []), ...narrow.shifted]) log(`shifted: ${text}`)
  const row = (name: string, unit: string, of: (visit: FirstLoad) => number, digits: number): BenchRow => {
    const values = visits.map(of).sort((a, b) => a - b).map((value) => Number(value.toFixed(digits)))
    return { bench: 'page', row: name, value: values[VISITS >> 1] ?? NaN, unit, spread: [values[0] ?? NaN, values.at(-1) ?? NaN] }
  }
  return [
    row('first contentful paint', 'ms', ({ paint }) => paint, 0),
    row('first token of the recorded run', 'ms', ({ token }) => token, 0),
    row('JavaScript before it moves', 'kB gzip', ({ script }) => script / 1000, 1),
    row('JavaScript of the worker meanwhile', 'kB gzip', ({ workerScript }) => workerScript / 1000, 1),
    row('layout shift', '', ({ shift }) => shift, 4),
    { bench: 'page', row: 'layout shift at 390 px', value: Number(narrow.shift.toFixed(4)), unit: '' },
    row('longest task of the first load', 'ms', ({ longestTask }) => longestTask, 0),
  ]
}

/** Sampled as hot as the page allows: the model hardly ever ends its turn, and most episodes are as long as they may be. */
const LONG = { temperature: 5, max_completion_length: 740, num_generations: 8, prompts_per_step: 8, max_tool_calling_iterations: 64, max_steps: 1 }

async function frameRows(site: Site, log: BenchLog): Promise<BenchRow[]> {
  const base = presetConfig(presetById('lane'), 1)
  const config: RunConfig = { ...base, backend: 'wasm', grpo: { ...base.grpo, ...LONG } }
  return withRun(
    site,
    config,
    log,
    async (run) => {
      await watchFrames(run.page)
      await run.step(1)
      const frames = await framesSince(run.page)
      const lengths = await run.page.evaluate(() => globalThis.window.playground.getState().steps.at(-1)?.episodes.map(({ length }) => length) ?? [])
      log(`${lengths.length} episodes of ${Math.min(...lengths)} to ${Math.max(...lengths)} tokens, ${frames.count} frames`)
      return rowsOf(frames, lengths)
    },
    { viewport: { width: 1440, height: 900 } },
  )
}

function rowsOf(frames: Frames, lengths: readonly number[]): BenchRow[] {
  const row = (name: string, value: number, unit: string): BenchRow => ({ bench: 'page', row: name, value: Number(value.toFixed(1)), unit })
  return [
    row('episodes in view', lengths.length, ''),
    row('tokens of an episode, mean', lengths.reduce((sum, length) => sum + length, 0) / lengths.length, 'tokens'),
    row('frames under 50 ms while training', 100 * frames.under50, '%'),
    row('frame, median', frames.median, 'ms'),
    row('frame, 95 %', frames.p95, 'ms'),
    row('longest task while training', frames.longestTask, 'ms'),
  ]
}

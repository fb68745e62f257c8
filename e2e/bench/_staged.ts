/** The preset with three stages, on the page's WASM engine in Node by the worker's own code: success and valid calls after each stage. */

import type { RunConfig } from '../../src/core/config'
import type { StageRecord } from '../../src/core/stage'
import { withToolEdits } from '../../src/env/tool-edits'
import { evaluate } from '../../src/train/evaluate'
import { GrpoTrainer } from '../../src/train/grpo'
import { StagePlan } from '../../src/worker/stage-plan'
import { configOf, connected, tinyChat, tinyEngine } from '../integration/grpo-run'
import type { BenchLog, BenchRow } from '../tools/bench-rows'

/** One stage after the other, then GRPO to its end; `episodes` per split and measurement. */
export async function stagedRow(seed: number, episodes: number, log: BenchLog, change: (config: RunConfig) => RunConfig = (config) => config): Promise<BenchRow> {
  const config = change(configOf('staged', { seed, eval_episodes: episodes }))
  const [engine, chat, plain] = [await tinyEngine(config), await tinyChat(), await connected(config)]
  const environment = withToolEdits(plain, config.tool_edits)
  const run = { config, engine, environment, chat, sha: null, selfTest: null }
  const began = performance.now()
  const seconds = (): number => Math.round((performance.now() - began) / 1000)
  try {
    const done: StageRecord[] = []
    const keepPlanned = async (stage: Omit<StageRecord, 'afterStep'>): Promise<void> => {
      done.push({ ...stage, afterStep: 0 })
      await engine.importParameters(await engine.exportParameters())
      engine.freezeReference()
    }
    const plan = new StagePlan({ done, keepPlanned }, () => {})
    const gate = (): Promise<void> => Promise.resolve()
    const rates = async (split: 'train' | 'heldout') => (await evaluate({ ...run, split, episodes, onEvent: () => {} })).metrics
    const before = await rates('train')
    const said: string[] = []
    const say = (name: string, valid: number, success: number, more = ''): void => {
      said.push(`${name}: valid calls ${valid.toFixed(3)}, success ${success.toFixed(3)}${more}`)
      log(`${said.at(-1)}, ${seconds()} s`)
    }
    while (plan.isDue(run)) {
      await plan.makeNext(run, gate, new AbortController().signal)
      const { kind, before: was, after, rows, skipped, first, last, lead = [] } = done.at(-1) as StageRecord
      if (done.length === 1 && was) say('base', was.valid, was.success)
      if (skipped !== undefined || !after) throw new Error(`${kind} was left out: ${skipped ?? 'it was not measured'}`)
      const metric = kind === 'dpo' ? `, rewards/margins ${first['rewards/margins']?.toFixed(2)} → ${last['rewards/margins']?.toFixed(2)}` : ''
      log(`${kind} ${lead.map((value) => value?.toFixed(2)).join(' ')}`)
      say(`${kind} on ${rows} rows`, after.valid, after.success, metric)
    }
    const trainer = new GrpoTrainer({ config, engine, environment, chat, onEvent: () => {} })
    for (let step = 1; step <= config.grpo.max_steps; step++) {
      const { metrics } = await trainer.step()
      if (step % 10 === 0) log(`GRPO step ${step}, success ${metrics['success']?.toFixed(3)}, ${seconds()} s`)
    }
    const took = seconds()
    const [train, heldOut] = [await rates('train'), await rates('heldout')]
    say('GRPO', heldOut['eval_exit/env_done'] ?? 0, heldOut['eval_success'] ?? 0)
    const row = { before: before['eval_success'] ?? 0, after: train['eval_success'] ?? 0, heldOutBefore: done[0]?.before?.success ?? 0, heldOutAfter: heldOut['eval_success'] ?? 0 }
    return { bench: 'learn', row: 'staged', seed, ...row, steps: config.grpo.max_steps, seconds: took, note: `held-out, after each stage: ${said.join('; ')}` }
  } finally {
    await engine.dispose()
  }
}

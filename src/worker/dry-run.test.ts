/** A dry run measures and changes nothing. */
import { describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../core/config'
import { bandit, type BanditOptions, banditConfig, banditEngine, chat } from '../train/testing/bandit'
import { answerDryRun, dryRun } from './dry-run'
import type { Doing } from './examine'
import type { Message } from './protocol'

function setup(grpo: Partial<GrpoConfig> = {}, options: BanditOptions = {}, engine = banditEngine()) {
  return { engine, environment: bandit(options), chat, config: banditConfig(grpo) }
}

/** Each reading is a second later. */
const ticking = () => {
  let at = 0
  return () => at++
}
const quiet = { onEvent: () => undefined, onProgress: () => undefined }

describe('dry run', () => {
  it('reports rewards, signal and time, scaled to a whole step', async () => {
    const seen: [number, number][] = []
    const report = await dryRun(setup({ prompts_per_step: 6, num_iterations: 2 }), { ...quiet, now: ticking(), onProgress: (...progress) => seen.push(progress) })
    expect(report).toMatchObject({ groups: 2, calls: 8, toolErrors: 0, unparsed: 0, noCall: 0, outOfTokens: 0, error: null, seconds: { sampling: 1, training: 1 } })
    expect(report.rewards).toHaveLength(8)
    expect(report.solved).toBe(report.rewards.filter((reward) => reward === 1).length)
    // 24 episodes instead of 8, and twice through the update.
    expect(report.step).toEqual({ sampling: 3, training: 6 })
    expect(seen[0]).toEqual([0, 8])
    expect(seen.at(-1)).toEqual([8, 8])
  })

  it('changes neither adapter nor optimizer nor version, and the step after it is the same', async () => {
    const tried = setup({ beta: 0.1, entropy_coef: 0.01, top_entropy_quantile: 0.5 })
    const before = JSON.stringify(await tried.engine.exportState())
    await dryRun(tried, quiet)
    expect(JSON.stringify(await tried.engine.exportState())).toBe(before)
    expect(tried.engine.gradients).toEqual([])
  })

  it('is the same each time, and other episodes than the run’s', async () => {
    const first = await dryRun(setup(), { ...quiet, now: () => 0 })
    expect(await dryRun(setup(), { ...quiet, now: () => 0 })).toEqual(first)
    expect(await dryRun(setup({ seed: 2 }), { ...quiet, now: () => 0 })).not.toEqual(first)
  })

  it('asks the person’s own reward functions, as a step would', async () => {
    const asked: number[] = []
    const tried = {
      ...setup({ reward_funcs: [{ name: 'custom', called: 'mine', code: '' }] }),
      callCustom: async (_: unknown, { prompts, trainer_state }: { prompts: readonly unknown[]; trainer_state: { global_step: number } }) => {
        asked.push(prompts.length, trainer_state.global_step)
        return { rewards: prompts.map((_, i) => i % 2), metrics: {} }
      },
    }
    const report = await dryRun(tried, quiet)
    expect(asked).toEqual([8, 0])
    expect(report.rewards).toEqual([0, 1, 0, 1, 0, 1, 0, 1])
    await expect(dryRun(setup({ reward_funcs: [{ name: 'custom', called: 'mine', code: '' }] }), quiet)).rejects.toMatchObject({ message: expect.stringContaining('not allowed') })
  })

  it('tells budgets that ran out, missing rewards and failures apart', async () => {
    expect(await dryRun(setup({ max_completion_length: 3 }), quiet)).toMatchObject({ outOfTokens: 8, calls: 0 })
    expect(await dryRun(setup({ max_tool_calling_iterations: 1 }, { pulls: 2 }), quiet)).toMatchObject({ outOfTurns: 8, outOfTokens: 0 })
    expect(await dryRun(setup({}, { fails: () => true }), quiet)).toMatchObject({ error: 'The bandit is out of order.', useful: 0, step: { training: 0 } })
    expect(await dryRun(setup({}, { reward: () => 1 }), quiet)).toMatchObject({ useful: 0, solved: 8 })
  })

  it('answers once, and refuses while a step runs or nothing is loaded', async () => {
    const ask = async (run: ReturnType<typeof setup> | null, doing: Doing, signal?: AbortSignal) => {
      const messages: Message[] = []
      await answerDryRun(run, doing, { type: 'dry-run', requestId: 7 }, (message) => messages.push(message), signal)
      return messages.filter(({ type }) => type === 'dry-run-done')
    }
    expect(await ask(null, 'nothing')).toMatchObject([{ requestId: 7, result: { ok: false, error: expect.stringContaining('no model') } }])
    expect(await ask(setup(), 'held')).toMatchObject([{ result: { ok: false, error: expect.stringContaining('step is being trained') } }])
    expect(await ask(setup(), 'nothing')).toMatchObject([{ result: { ok: true, report: { groups: 2 } } }])
    const stop = new AbortController()
    stop.abort()
    expect(await ask(setup(), 'nothing', stop.signal)).toMatchObject([{ result: { ok: false, error: expect.stringContaining('stopped') } }])
  })
})

/** A run's own stages in one press: each trained in turn, measured, kept, left out with a reason where it cannot be. */
import 'fake-indexeddb/auto'
import { beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_LORA } from '../core/config'
import { DEFAULT_STAGE, type PlannedStage, type StageRecord } from '../core/stage'
import type { BanditOptions } from '../train/testing/bandit'
import { RunArchive } from './archive'
import type { Message } from './protocol'
import { open as openRunner } from './testing/open-runner'

let count = 0
let archive: RunArchive
beforeEach(async () => {
  archive = await RunArchive.open(`plan-${++count}`)
})

const SFT: PlannedStage = { kind: 'sft', rows: { from: 'random', games: 9 }, settings: { ...DEFAULT_STAGE.sft, learning_rate: 0.05, max_steps: 4 } }
const DPO: PlannedStage = { kind: 'dpo', rows: { from: 'pairs', groups: 4 }, settings: { ...DEFAULT_STAGE.dpo, learning_rate: 0.2, max_steps: 3 } }
const PLAN = [SFT, DPO]

async function loaded(stages: PlannedStage[], options: BanditOptions = {}, max_steps = 2) {
  // What an earlier test left running keeps its own archive.
  const own = archive
  const page = openRunner(options, async () => own)
  await page.configure({ max_steps, eval_episodes: 8 }, { stages })
  page.engines.forEach((engine) => Object.assign(engine, { lora: DEFAULT_LORA }))
  return { ...page, ...seen(page) }
}

function seen(page: ReturnType<typeof openRunner>) {
  const told = () => page.messages.flatMap((m) => (m.type === 'plan' ? [m] : []))
  const stages = (): StageRecord[] => page.messages.flatMap((m) => (m.type === 'stages' ? [m.stages] : [])).at(-1) ?? []
  const notices = () => page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'notice' ? [m.event.text] : []))
  return { told, stages, notices, theta: () => [...page.engines.at(-1)!.theta] }
}

const isPlan = (at: number, doing: string, done: number) => (m: Message) => m.type === 'plan' && m.at === at && m.doing === doing && m.done === done

describe('a plan', () => {
  it('is made whole by one Train, then GRPO goes on', async () => {
    const page = await loaded(PLAN)
    await page.untilState('finished', { type: 'train' })
    const [sft, dpo] = page.stages()
    expect(sft).toMatchObject({ kind: 'sft', planned: 0, dataset: '9 games of random calls', rows: 9, steps: 4, afterStep: 0 })
    expect(sft?.lead).toHaveLength(4)
    expect(sft?.lead?.at(-1)).toBe(sft?.last['mean_token_accuracy'])
    expect(dpo).toMatchObject({ kind: 'dpo', planned: 1, steps: 3, afterStep: 0 })
    expect(dpo?.first['loss']).toBeCloseTo(Math.LN2, 12)
    // What the stage before it measured last is not measured again.
    expect(dpo?.before).toEqual(sft?.after)
    expect(sft?.before).toMatchObject({ episodes: 8, valid: 1 })
    // And is told as soon as it is known, not with the end.
    expect(page.told().find(({ at, doing }) => at === 0 && doing === 'rows')?.before).toEqual(sft?.before)
    expect(dpo?.after?.success).toBeGreaterThanOrEqual(dpo?.before?.success ?? 1)
    expect(page.records().map(({ step }) => step)).toEqual([1, 2])
    expect(page.told().map(({ at, doing }) => `${at} ${doing}`).filter((what, i, all) => what !== all[i - 1])).toEqual(['0 before', '0 rows', '0 training', '0 after', '1 rows', '1 training', '1 after'])
    expect(page.told().filter(({ metrics }) => metrics).map(({ kind, done, of }) => [kind, done, of])).toEqual([...[1, 2, 3, 4].map((n) => ['sft', n, 4]), ...[1, 2, 3].map((n) => ['dpo', n, 3])])
    expect(await archive.list()).toMatchObject([{ step: 2, stages: [{ planned: 0 }, { planned: 1 }], config: { stages: PLAN } }])
  })

  it('goes on by one stage a Step, and reads the same when it was paused in the middle of one', async () => {
    const straight = await loaded(PLAN)
    await straight.untilState('finished', { type: 'train' })
    const page = await loaded(PLAN)
    await page.untilState('paused', { type: 'step' })
    expect(page.stages()).toHaveLength(1)
    expect(page.records()).toHaveLength(0)
    await page.until(isPlan(1, 'training', 1), { type: 'train' })
    await page.untilState('paused', { type: 'pause' })
    const held = page.told().length
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(page.told()).toHaveLength(held)
    await page.untilState('finished', { type: 'train' })
    expect(page.theta()).toEqual(straight.theta())
    expect(page.stages()).toEqual(straight.stages())
    expect(page.records().map(({ metrics }) => metrics['reward'])).toEqual(straight.records().map(({ metrics }) => metrics['reward']))
  })

  it('leaves out a stage that has no rows, says why, and goes on from where it stood', async () => {
    const page = await loaded([DPO, SFT], { reward: () => 1 })
    await page.untilState('paused', { type: 'step' })
    const why = 'In none of the 4 groups that were played is one episode better than another, so there is no pair.'
    expect(page.stages()).toMatchObject([{ kind: 'dpo', planned: 0, steps: 0, skipped: why }])
    expect(page.notices()).toEqual([`DPO, stage 1 of the plan, was left out, and the run goes on without it. ${why}`])
    expect(page.theta()).toEqual([0, 0, 0, 0])
    await page.untilState('finished', { type: 'train' })
    expect(page.stages()).toMatchObject([{ skipped: why }, { kind: 'sft', steps: 4 }])
  })

  it('says which reward no episode had, and which setting is out of range', async () => {
    const page = await loaded([
      { ...SFT, rows: { from: 'episodes', groups: 2, least: 7 } },
      { ...SFT, settings: { ...SFT.settings, learning_rate: 2 } },
      { ...SFT, rows: { from: 'episodes', groups: 2, least: 1 }, settings: { ...SFT.settings, learning_rate: 0.5 } },
    ])
    await page.untilState('finished', { type: 'train' })
    const [least, rate, good] = page.stages()
    expect(least?.skipped).toMatch(/^None of the 8 episodes that were played has a reward of 7 or more; the best has 1\.$/)
    expect(rate?.skipped).toBe('learning_rate must be above 0 and below 1; it is 2.')
    expect(good).toMatchObject({ steps: 4, dataset: 'episodes of 2 groups with reward from 1' })
    expect(good?.after?.success).toBeGreaterThan(good?.before?.success ?? 1)
  })

  it('puts the policy back where a number was not finite', async () => {
    const page = await loaded(PLAN)
    await page.until(isPlan(0, 'training', 2), { type: 'train' })
    page.engines[0]!.corrupt = (row) => row.fill(NaN)
    await page.until((m) => m.type === 'stages' && m.stages.length === 1)
    page.engines[0]!.corrupt = null
    expect(page.stages()[0]?.skipped).toContain('log-probability')
    expect(page.stages()[0]?.steps).toBe(0)
  })

  it('ends with Reset, and begins anew after it', async () => {
    const page = await loaded(PLAN)
    await page.until(isPlan(0, 'training', 2), { type: 'train' })
    await page.untilState('ready', { type: 'reset' })
    expect(page.stages()).toEqual([])
    expect(page.theta()).toEqual([0, 0, 0, 0])
    await page.untilState('paused', { type: 'step' })
    await page.untilState('ready', { type: 'reset' })
    expect(page.stages()).toEqual([])
    expect(page.theta()).toEqual([0, 0, 0, 0])
  })

  it('is not made again by a run that goes on after its record was deleted', async () => {
    const page = await loaded(PLAN, {}, 4)
    for (let i = 0; i < 3; i++) await page.untilState('paused', { type: 'step' })
    const { id } = (await archive.list())[0]!
    const stages = page.stages()
    await page.journal?.forget()
    await archive.delete(id)
    await page.untilState('paused', { type: 'step' })
    expect(await archive.list()).toMatchObject([{ step: 2, stages }])
    page.journal?.close()
    await new Promise((resolve) => setTimeout(resolve, 20))

    const other = openRunner({}, async () => archive)
    const restored = other.until((m) => m.type === 'restored')
    other.resume((await archive.list())[0]!.id)
    await restored
    await other.untilState('finished', { type: 'train' })
    expect(seen(other).told()).toEqual([])
    expect(seen(other).stages()).toEqual(stages)
    expect(other.records().map(({ step }) => step)).toEqual([3, 4])
  })

  it('goes on at the next stage in another worker, as if it had not stopped', async () => {
    const straight = await loaded(PLAN)
    await straight.untilState('finished', { type: 'train' })
    const straightStages = straight.stages()
    straight.journal?.close()
    const page = await loaded(PLAN)
    await page.untilState('paused', { type: 'step' })
    const run = (await archive.list()).find(({ step }) => step === 0)!
    page.journal?.close()
    await new Promise((resolve) => setTimeout(resolve, 20))

    const other = openRunner({}, async () => archive)
    const restored = other.until((m) => m.type === 'restored')
    other.resume(run.id)
    await restored
    other.engines.forEach((engine) => Object.assign(engine, { lora: DEFAULT_LORA }))
    const { stages, theta } = seen(other)
    expect(stages()).toHaveLength(1)
    await other.untilState('finished', { type: 'train' })
    expect(stages()).toEqual(straightStages)
    theta().forEach((value, i) => expect(value).toBeCloseTo(straight.theta()[i] ?? NaN, 6))
  })
})

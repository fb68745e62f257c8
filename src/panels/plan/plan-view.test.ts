/** What the plan's timeline is drawn from: which stage is made, its curve, the points before and after. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_STAGE, type PlannedStage, type StageRecord } from '../../core/stage'
import { EMPTY_RUN, type RunView } from '../../store/view'
import { pathOf, planParts, shownPlan } from './plan-view'

const PLAN: PlannedStage[] = [
  { kind: 'sft', rows: { from: 'random', games: 9 }, settings: { ...DEFAULT_STAGE.sft, max_steps: 4 } },
  { kind: 'dpo', rows: { from: 'pairs', groups: 4 }, settings: { ...DEFAULT_STAGE.dpo, max_steps: 3 } },
]
const measure = (success: number) => ({ episodes: 8, success, valid: 1, reward: success })
const record = (planned: number, more: Partial<StageRecord> = {}): StageRecord => ({
  kind: PLAN[planned]!.kind, dataset: 'x', rows: 9, steps: 4, settings: PLAN[planned]!.settings, afterStep: 0, first: {}, last: {}, planned, before: measure(0.1), after: measure(0.4), lead: [0.5, 0.9], ...more,
})
const view = (change: Partial<RunView> = {}): RunView => ({ ...EMPTY_RUN, run: { state: 'running', until: 'limit' }, ...change })
const parts = (change: Partial<RunView> = {}) => planParts(PLAN, { max_steps: 10 }, view(change))
const states = (change: Partial<RunView> = {}) => parts(change).map(({ state }) => state)

describe('the parts of a plan', () => {
  it('wait, are made one after the other, and then GRPO is', () => {
    const now = { kind: 'dpo' as const, at: 1, stages: 2, doing: 'training' as const, done: 1, of: 3, lead: [0.5] }
    expect(states({ run: { state: 'ready' } })).toEqual(['waits', 'waits', 'waits'])
    expect(states({ stages: [record(0)], plan: now })).toEqual(['done', 'now', 'waits'])
    expect(parts({ stages: [record(0)], plan: now })[1]).toMatchObject({ now: { done: 1, of: 3 }, lead: [0.5], metric: 'rewards/accuracies', before: { at: 0, success: 0.4 }, after: null })
    // What was measured before a stage is there while it is made, not only with its end.
    const first = { ...now, kind: 'sft' as const, at: 0 }
    expect(parts({ plan: first })[0]).toMatchObject({ before: null })
    expect(parts({ plan: { ...first, before: measure(0.2) } })[0]).toMatchObject({ before: { at: 0, success: 0.2 }, after: null })
    expect(states({ stages: [record(0), record(1)] })).toEqual(['done', 'done', 'now'])
    expect(states({ stages: [record(0), record(1)], run: { state: 'finished', step: 10, reason: 'step-limit' } })).toEqual(['done', 'done', 'done'])
  })

  it('that were left out say why and have no end of their own', () => {
    const [, dpo, grpo] = parts({ stages: [record(0), record(1, { skipped: 'No pair.', steps: 0 })] })
    expect(dpo).toMatchObject({ state: 'skipped', why: 'No pair.', steps: 3, after: null })
    expect(grpo?.before?.success).toBe(0.4)
  })

  it('have GRPO’s evaluations at their steps', () => {
    const evaluation = (step: number, solved: number) => ({ step, split: 'heldout' as const, solved, scorable: 10, reward: 0, precision: 'float32' as const, metrics: { 'eval_exit/env_done': 0.9 } })
    const history = [{ step: 1, metrics: { success: 0.25 } }] as unknown as RunView['history']
    const grpo = parts({ stages: [record(0), record(1)], history, evaluations: [evaluation(0, 1), evaluation(5, 6), evaluation(10, 8)] }).at(-1)
    expect(grpo).toMatchObject({ lead: [0.25], marks: [{ at: 0.5, success: 0.6, valid: 0.9 }], after: { at: 1, success: 0.8 } })
  })

  it('are the recording’s own while one is shown, and the run’s once it has begun', () => {
    const other = PLAN.slice(0, 1)
    expect(shownPlan({ stages: PLAN }, { stages: other }, { recorded: null, begun: false })).toBe(PLAN)
    expect(shownPlan({}, { stages: PLAN }, { recorded: null, begun: true })).toBe(PLAN)
    expect(shownPlan({ stages: PLAN }, null, { recorded: { stages: other } as never, begun: false })).toBe(other)
    expect(shownPlan({ stages: PLAN }, null, { recorded: {} as never, begun: false })).toEqual([])
  })
})

it('draws a curve with gaps, within its box', () => {
  expect(pathOf([0.5, null, 2, 0], 4)).toBe('M25 50M75 0L100 100')
  expect(pathOf([], 4)).toBe('')
})

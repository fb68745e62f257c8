/** A run's plan as its timeline draws it: a part for each stage and one for GRPO, with what is known of each. */

import type { RunConfig } from '../../core/config'
import { LEADING_METRIC, type PlannedStage, type StageKind, type StageMeasure, stageSteps } from '../../core/stage'
import type { RunEvaluation } from '../../core/evaluation'
import type { PlanView, RunView } from '../../store/view'

/** The policy on fixed scenarios, at a place within its part: 0 is its beginning. */
export type Mark = Pick<StageMeasure, 'success' | 'valid'> & { at: number }

export interface PlanPart {
  kind: StageKind | 'grpo'
  /** undefined for GRPO. */
  stage?: PlannedStage
  /** Optimizer steps of a stage; GRPO's own steps. Those that are planned, or were made. */
  steps: number
  state: 'waits' | 'now' | 'done' | 'skipped'
  /** While it is made. */
  now: Pick<PlanView, 'doing' | 'done' | 'of'> | null
  /** Why it was left out. */
  why: string
  /** Its leading metric at every step so far, 0..1. */
  lead: readonly (number | null)[]
  metric: string
  before: Mark | null
  after: Mark | null
  /** In between. */
  marks: readonly Mark[]
}

/** Of GRPO: the share of the step's own episodes that were solved. */
const GRPO_METRIC = 'success'

/** The parts in their order, GRPO last; `plan` empty gives GRPO alone. */
export function planParts(plan: readonly PlannedStage[], { max_steps }: Pick<RunConfig['grpo'], 'max_steps'>, view: Pick<RunView, 'plan' | 'stages' | 'history' | 'evaluations' | 'run'>): PlanPart[] {
  const stages = plan.map((stage, i): PlanPart => {
    const record = view.stages.find(({ planned }) => planned === i)
    const now = view.plan?.at === i ? view.plan : null
    const before = record?.before ?? now?.before ?? view.stages.find(({ planned }) => planned === i - 1)?.after
    return {
      kind: stage.kind,
      stage,
      steps: record && record.skipped === undefined ? record.steps : plannedSteps(stage),
      state: record ? (record.skipped === undefined ? 'done' : 'skipped') : now ? 'now' : 'waits',
      now,
      why: record?.skipped ?? '',
      lead: record?.lead ?? now?.lead ?? [],
      metric: LEADING_METRIC[stage.kind],
      before: before ? { at: 0, ...before } : null,
      after: record?.after && record.skipped === undefined ? { at: 1, ...record.after } : null,
      marks: [],
    }
  })
  const steps = Math.max(max_steps, view.history.at(-1)?.step ?? 0)
  const marks = view.evaluations.filter(({ step, scorable }) => step > 0 && scorable > 0).map((evaluation) => markOf(evaluation, steps))
  const made = view.history.length
  const waits = stages.some(({ state }) => state === 'now' || state === 'waits')
  const last = waits ? null : view.stages.findLast(({ planned, after }) => planned !== undefined && after)?.after
  const finished = view.run.state === 'finished'
  const isNow = !finished && view.plan === null && stages.every(({ state }) => state === 'done' || state === 'skipped') && (made > 0 || view.run.state === 'running')
  return [
    ...stages,
    {
      kind: 'grpo',
      steps,
      state: finished ? 'done' : isNow ? 'now' : 'waits',
      now: isNow ? { doing: 'training', done: made, of: steps } : null,
      why: '',
      lead: view.history.map(({ metrics }) => metrics[GRPO_METRIC] ?? null),
      metric: GRPO_METRIC,
      before: last && stages.length > 0 ? { at: 0, ...last } : null,
      after: marks.findLast(({ at }) => at === 1) ?? null,
      marks: marks.filter(({ at }) => at < 1),
    },
  ]
}

function markOf({ step, solved, scorable, metrics }: RunEvaluation, steps: number): Mark {
  return { at: step / steps, success: solved / scorable, valid: metrics['eval_exit/env_done'] ?? 0 }
}

/** Of rows that are not played yet, as many as can be; where the epochs decide, nobody knows before. */
function plannedSteps({ settings, rows }: PlannedStage): number {
  return stageSteps(settings, rows.from === 'random' ? rows.games : rows.groups)
}

/** The plan that is on the page: a recording's own, that of a run which has begun with it, or that of the controls. */
export function shownPlan(controls: Pick<RunConfig, 'stages'>, applied: Pick<RunConfig, 'stages'> | null, { recorded, begun }: Pick<RunView, 'recorded'> & { begun: boolean }): readonly PlannedStage[] {
  if (recorded) return recorded.stages ?? []
  return ((begun ? applied : null) ?? controls).stages ?? []
}

/** Of a plan that no run makes yet, whatever the present one does. */
export const UNMADE = { plan: null, stages: [], history: [], evaluations: [], run: { state: 'ready' } } as const satisfies Partial<RunView>

/** A curve as points of a box 100 wide and 100 high, 0 at its bottom; gaps where there is no value. */
export function pathOf(lead: readonly (number | null)[], steps: number): string {
  let pen = 'M'
  return lead
    .flatMap((value, i) => {
      if (value === null) {
        pen = 'M'
        return []
      }
      const point = `${pen}${round((100 * (i + 1)) / steps)} ${round(100 - 100 * Math.min(1, Math.max(0, value)))}`
      pen = 'L'
      return [point]
    })
    .join('')
}

const round = (value: number): number => Math.round(value * 100) / 100

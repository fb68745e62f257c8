/** The plan of stages: a chip for each with how far it is and what it changed, above its part of one timeline; before its run, how it is composed. */

import { useEffect } from 'react'
import { isSame } from '../../core/same'
import type { PlannedStage } from '../../core/stage'
import { stageRefusal } from '../../core/stage-limits'
import { useRun, useSetup, useStores } from '../../store/hooks'
import { withoutStages } from '../../store/planned'
import { focusLater } from '../../ui/focus'
import { Help } from '../../ui/Help'
import { Panel } from '../../ui/Panel'
import { PLAN_STRINGS as W } from '../../ui/plan-strings'
import { Changed } from '../task/Changed'
import { AddStage } from './AddStage'
import { type PlanPart, planParts, UNMADE } from './plan-view'
import { Band, Legend } from './PlanTimeline'
import { StageActions } from './StageActions'
import { StageEditor } from './StageEditor'
import { usePlanActions, usePlanDesk } from './usePlan'

interface PlanProps {
  plan: readonly PlannedStage[]
  composing: boolean
}

export function Plan({ plan, composing }: PlanProps) {
  const { controller } = useStores()
  const view = useRun((all) => all)
  const own = useSetup(({ config }) => config.grpo)
  const chosen = useSetup(({ config }) => config.stages !== undefined)
  const changed = useSetup(({ config, applied }) => applied !== null && !isSame(config.stages, applied.stages))
  const { keyOf } = usePlanActions()
  const open = usePlanDesk((desk) => desk.open)
  useWantedFocus()
  const parts = planParts(plan, view.recorded?.grpo ?? own, composing ? UNMADE : view)
  const leaveOut = () => {
    controller.edit(withoutStages)
    focusLater('train')
  }
  const aside = chosen && view.recorded === null && (
    <div className="panel-aside">
      <button type="button" className="button small" data-testid="plan-remove" title={W.leaveOutHint} onClick={leaveOut}>
        {W.leaveOut}
      </button>
    </div>
  )
  return (
    <Panel id="plan" title={W.title} lead={W.lead} aside={aside}>
      <ol className="plan-parts">
        {parts.map((part, i) => {
          const { stage } = part
          const edited = composing && stage !== undefined && open === keyOf(stage)
          return (
            <li key={stage ? keyOf(stage) : 'grpo'} className="plan-part" data-state={part.state} data-testid={`plan-${part.kind}`} aria-current={part.state === 'now' ? 'step' : undefined}>
              <Chip part={part} at={i} last={i === plan.length - 1} composing={composing} />
              {edited ? <StageEditor stage={stage} at={i} /> : <Band part={part} />}
            </li>
          )
        })}
      </ol>
      {composing && <AddStage count={plan.length} />}
      {view.recorded === null && changed && <Changed testId="plan-changed" undoId="plan-undo" />}
      <Legend heldOut={view.environment?.heldOut ?? true} episodes={(view.recorded?.grpo ?? own).eval_episodes} />
      {view.recorded === null && !composing && <p className="note">{W.fixed}</p>}
    </Panel>
  )
}

/** The keyboard goes on from what was done: there the button stands now. */
function useWantedFocus() {
  const desk = usePlanActions()
  const wanted = usePlanDesk((view) => view.wanted)
  useEffect(() => {
    const buttons = wanted.map((id) => document.querySelector<HTMLButtonElement>(`[data-testid="${id}"]`))
    const found = buttons.find((button) => button && !button.disabled)
    if (!found) return
    found.focus()
    desk.arrived()
  }, [wanted, desk])
}

interface ChipProps {
  part: PlanPart
  at: number
  /** No stage comes after it but GRPO. */
  last: boolean
  composing: boolean
}

function Chip({ part, at, last, composing }: ChipProps) {
  const { kind, stage, steps, state } = part
  const why = composing && stage ? stageRefusal(stage) : null
  return (
    <div className="plan-chip">
      <div className="titled">
        <span className="plan-number">{at + 1}</span>
        <strong>{W.kinds[kind]}</strong>
        <Help of={W.kinds[kind]} text={W.kindHelp[kind]} />
        <span className="plan-state">{W.states[state]}</span>
      </div>
      <p className="note">
        {stage ? W.rows(stage) : W.grpoRows} · {W.steps(steps)}
        {stage && ` · ${W.settings(stage)}`}
      </p>
      {composing ? stage ? <StageActions stage={stage} at={at} last={last} why={why} /> : <p className="plan-now">{W.grpoLast}</p> : <Now part={part} />}
      <dl className="plan-measured">
        <Measured part={part} of="valid" />
        <Measured part={part} of="success" />
      </dl>
    </div>
  )
}

function Now({ part: { now, state, why } }: { part: PlanPart }) {
  return (
    <p className="plan-now" role={state === 'now' ? 'status' : undefined}>
      {now ? (
        <>
          <progress max={now.of} value={now.done} aria-label={W.doing[now.doing]} /> <span>{W.progress(W.doing[now.doing], now.done, now.of)}</span>
        </>
      ) : (
        state === 'skipped' && why
      )}
    </p>
  )
}

function Measured({ part: { before, after, marks }, of }: { part: PlanPart; of: 'valid' | 'success' }) {
  const end = after ?? marks.at(-1) ?? null
  return (
    <div data-testid={`plan-${of}`}>
      <dt>{W.measured[of]}</dt>
      <dd>{before && end ? W.change(before[of], end[of]) : before ? W.only(before[of]) : W.unknown}</dd>
    </div>
  )
}

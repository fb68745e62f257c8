/** The plan of stages: a chip for each with how far it is and what it changed, above its part of one timeline. */

import type { PlannedStage } from '../../core/stage'
import { useRun, useSetup, useStores } from '../../store/hooks'
import { withoutStages } from '../../store/planned'
import { Help } from '../../ui/Help'
import { Panel } from '../../ui/Panel'
import { PLAN_STRINGS as W } from '../../ui/plan-strings'
import { type PlanPart, planParts } from './plan-view'
import { Band, Legend } from './PlanTimeline'

export function Plan({ plan }: { plan: readonly PlannedStage[] }) {
  const { controller } = useStores()
  const view = useRun((all) => all)
  const own = useSetup(({ config }) => config.grpo)
  const chosen = useSetup(({ config }) => config.stages !== undefined)
  const parts = planParts(plan, view.recorded?.grpo ?? own, view)
  const aside = chosen && view.recorded === null && (
    <div className="panel-aside">
      <button type="button" className="button small" data-testid="plan-remove" title={W.removeHint} onClick={() => controller.edit(withoutStages)}>
        {W.remove}
      </button>
    </div>
  )
  return (
    <Panel id="plan" title={W.title} lead={W.lead} aside={aside}>
      <ol className="plan-parts">
        {parts.map((part, i) => (
          <li key={i} className="plan-part" data-state={part.state} data-testid={`plan-${part.kind}`} aria-current={part.state === 'now' ? 'step' : undefined}>
            <Chip part={part} number={i + 1} />
            <Band part={part} />
          </li>
        ))}
      </ol>
      <Legend heldOut={view.environment?.heldOut ?? true} episodes={(view.recorded?.grpo ?? own).eval_episodes} />
      {!chosen && view.recorded === null && <p className="note">{W.removedLater}</p>}
    </Panel>
  )
}

function Chip({ part, number }: { part: PlanPart; number: number }) {
  const { kind, stage, steps, state, now, why } = part
  return (
    <div className="plan-chip">
      <div className="titled">
        <span className="plan-number">{number}</span>
        <strong>{W.kinds[kind]}</strong>
        <Help of={W.kinds[kind]} text={W.kindHelp[kind]} />
        <span className="plan-state">{W.states[state]}</span>
      </div>
      <p className="note">
        {stage ? W.rows(stage) : W.grpoRows} · {W.steps(steps)}
        {stage && ` · ${W.settings(stage)}`}
      </p>
      <p className="plan-now" role={state === 'now' ? 'status' : undefined}>
        {now ? (
          <>
            <progress max={now.of} value={now.done} aria-label={W.doing[now.doing]} /> <span>{W.progress(W.doing[now.doing], now.done, now.of)}</span>
          </>
        ) : (
          state === 'skipped' && why
        )}
      </p>
      <dl className="plan-measured">
        <Measured part={part} of="valid" />
        <Measured part={part} of="success" />
      </dl>
    </div>
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

/** The dry run: begins it, shows how far it is, what it found and what should be changed. */

import { type ReactNode, useEffect } from 'react'
import type { GrpoConfig } from '../../core/config'
import type { DryRunReport } from '../../core/dry-run'
import { isSame } from '../../core/same'
import { mean, standardDeviation } from '../../rl/statistics'
import { useGuard, useModels, useRun, useSetup, useStores } from '../../store/hooks'
import { inspectionOf } from '../../store/model-store'
import { bytes, number } from '../../ui/format'
import { GUARD_STRINGS } from '../../ui/guard-strings'
import { Modal } from '../../ui/Modal'
import { adviceOn } from './advice'
import { readiness } from './blocked'

const W = GUARD_STRINGS.dry

export function DryRunDialog({ onClose }: { onClose: () => void }) {
  const { busy, error, report } = useGuard((view) => view)
  return (
    <Modal id="dry-run" title={W.title} lead={W.lead} close={W.close} help="dry:run" onClose={onClose}>
      <div className="dry-run">
        <Begin />
        <p className="note" role="status" data-testid="dry-run-state">
          {busy && W.playing(busy.done, busy.total)}
        </p>
        {error && (
          <p className="why" role="alert">
            {error}
          </p>
        )}
        {report && !busy && <Report report={report} />}
      </div>
    </Modal>
  )
}

function Begin() {
  const { guard, controller, setup, run, models } = useStores()
  const { busy, report } = useGuard((view) => view)
  const config = useSetup((s) => s)
  const why = useRun((view) => readiness(config, view).why)
  const begin = () => {
    const ready = readiness(setup.getState(), run.getState())
    if (ready.why !== null) return
    if (ready.configure) controller.send({ type: 'configure', config: setup.getState().config })
    // The plan of memory comes with what the model section tells of the model.
    if (!inspectionOf(models.getState(), setup.getState().config)) controller.model.inspect()
    guard.tryOut()
  }
  // The press that opened this asked for it; figures of these very settings are there already.
  useEffect(() => {
    const { busy: under, report: known } = guard.store.getState()
    if (under === null && !(known && isOf(known, setup.getState().config.grpo))) begin()
    // Once, as it opens.
  }, [])
  return (
    <div className="dry-run-begin">
      <button type="button" className="button primary" data-testid="dry-run-begin" disabled={busy !== null || why !== null} aria-describedby="dry-run-why" onClick={begin}>
        {report ? W.again : W.run}
      </button>
      {busy && <progress aria-label={W.playing(busy.done, busy.total)} max={Math.max(1, busy.total)} value={busy.total > 0 && busy.done < busy.total ? busy.done : undefined} />}
      <span className="note" id="dry-run-why">
        {busy === null && why}
      </span>
    </div>
  )
}

/** Whether it was played with these settings; where the run ends is no matter. */
function isOf(report: DryRunReport, grpo: GrpoConfig): boolean {
  return isSame({ ...grpo, max_steps: 0 }, { ...report.grpo, max_steps: 0 })
}

function Report({ report }: { report: DryRunReport }) {
  const same = useSetup((s) => isOf(report, s.config.grpo))
  const advice = adviceOn(report)
  return (
    <div data-testid="dry-run-report">
      {!same && <p className="note">{W.older}</p>}
      <h3>{W.advice}</h3>
      {advice.length === 0 ? (
        <p data-testid="dry-run-fine">{W.fine}</p>
      ) : (
        <ul className="dry-run-advice" data-testid="dry-run-advice">
          {advice.map(({ text, setting }) => (
            <li key={text} data-setting={setting}>
              {text}
            </li>
          ))}
        </ul>
      )}
      <h3>{W.found}</h3>
      <Facts report={report} />
    </div>
  )
}

function Facts({ report }: { report: DryRunReport }) {
  const { grpo, rewards, groups, useful, solved, calls, unparsed, toolErrors, step } = report
  const steps = useSetup((s) => s.config.grpo.max_steps)
  const setup = useSetup((s) => s.config)
  const inspection = useModels((view) => inspectionOf(view, setup)?.result ?? null)
  const scorable = rewards.filter((reward) => reward !== null)
  const average = mean(scorable)
  const seconds = step.sampling + step.training
  const spread = average === null ? W.noReward : W.spread(Math.min(...scorable), Math.max(...scorable), average, standardDeviation(scorable))
  const rows: [string, ReactNode][] = [
    [W.facts.rewards, spread],
    [W.facts.useful, W.of(useful, groups)],
    ...(solved === null ? [] : ([[W.facts.solved, W.of(solved, scorable.length)]] satisfies [string, string][])),
    [W.facts.outOfTokens, W.of(report.outOfTokens, rewards.length)],
    [W.facts.unparsed, W.share(unparsed, calls + unparsed)],
    [W.facts.toolErrors, W.share(toolErrors, calls)],
    [W.facts.tokens, number(report.tokens)],
    [W.facts.step, W.step(step.sampling, step.training)],
    [W.facts.run, W.whole(seconds * steps, steps)],
    ...(inspection?.ok ? ([[W.facts.memory, bytes(inspection.inspection.plan.peak)]] satisfies [string, string][]) : []),
  ]
  return (
    <>
      <dl className="dry-run-facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {grpo.prompts_per_step > groups && <p className="note">{W.parallel}</p>}
    </>
  )
}

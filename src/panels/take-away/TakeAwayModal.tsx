/** The dialog for taking a kept run away: its files, its evaluation, and publishing. */

import { useId } from 'react'
import type { RunRecord } from '../../core/run-record'
import { useRun, useRuns, useStores, useTakeAway } from '../../store/hooks'
import { loadedId, takeable } from '../../store/runs-store'
import { Modal } from '../../ui/Modal'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import { runLabels } from '../runs/run-labels'
import { Downloads } from './Downloads'
import { Evaluation } from './Evaluation'
import { Publish } from './Publish'

export function TakeAwayModal() {
  const { takeAway } = useStores()
  const words = TAKE_AWAY_STRINGS
  return (
    <Modal id="take-away" help="dialog:take-away" title={words.title} lead={words.lead} close={words.close} onClose={() => takeAway.show(null)} head={<WhichRun />}>
      <Sections />
    </Modal>
  )
}

/** The run that was asked for, or the newest where that one is gone. */
function useSubject() {
  const shown = useTakeAway((view) => view.shown)
  const runs = useTakeable()
  return runs.find(({ id }) => id === shown) ?? runs[0] ?? null
}

function useTakeable(): readonly RunRecord[] {
  const runs = useRuns((view) => view.runs)
  const unkept = useRuns((view) => view.unkept)
  return takeable({ runs, unkept })
}

/** Which step's weights are handed out: not always those of its last one. */
function StepTaken({ run }: { run: RunRecord }) {
  const why = useRuns(({ unkept }) => (unkept?.run.id === run.id ? unkept.why : ''))
  const { at, inMemory, older } = TAKE_AWAY_STRINGS
  const isOlder = run.checkpoint !== null && run.checkpoint < run.step
  return <span className="note" data-testid="take-away-step">{why !== '' ? inMemory(run.step, why) : isOlder ? older(run.checkpoint ?? 0, run.step) : at(run.step)}</span>
}

function WhichRun() {
  const id = useId()
  const { takeAway } = useStores()
  const runs = useTakeable()
  const current = useRuns(loadedId)
  const behind = useRun((view) => view.recording !== null)
  const run = useSubject()
  if (!run) return null
  const labels = runLabels(runs)
  return (
    <div className="take-run">
      <label htmlFor={id}>{TAKE_AWAY_STRINGS.run}</label>
      <select id={id} data-testid="take-away-run" value={run.id} onChange={(e) => takeAway.show(e.target.value)}>
        {runs.map((r) => (
          <option key={r.id} value={r.id}>
            {optionOf(labels.get(r.id) ?? r.name, r.id === current, behind)}
          </option>
        ))}
      </select>
      <StepTaken run={run} />
    </div>
  )
}

/** What it is comes first: a narrow selector cuts the end. */
function optionOf(label: string, loaded: boolean, behind: boolean): string {
  if (!loaded) return label
  return behind ? TAKE_AWAY_STRINGS.behind(label) : TAKE_AWAY_STRINGS.loaded(label)
}

function Sections() {
  const run = useSubject()
  const problem = useRuns((view) => view.problem)
  if (!run) {
    return (
      <p className="empty" data-testid="nothing-to-take">
        {problem === '' ? TAKE_AWAY_STRINGS.none : problem}
      </p>
    )
  }
  return (
    <>
      <Downloads run={run} />
      <Evaluation run={run} />
      <Publish key={run.id} run={run} />
    </>
  )
}

/** The kept runs: the list, the room they take, and trajectories from a file. */

import { useEffect, useRef } from 'react'
import { useRuns, useStores } from '../../store/hooks'
import { Modal } from '../../ui/Modal'
import { S } from '../../ui/strings'
import { useResumeBlocked } from './blocked'
import { ImportFile } from './ImportFile'
import { runLabels } from './run-labels'
import { RunRow } from './RunRow'
import { RunsStorage } from './RunsStorage'

export function RunsDialog({ onClose }: { onClose: () => void }) {
  const { runs } = useStores()
  const problem = useRuns((view) => view.problem)
  useEffect(() => {
    // Another tab may have written meanwhile.
    runs.list()
    runs.readHistories()
  }, [runs])
  return (
    <Modal id="runs" help="dialog:runs" title={S.runs.title} lead={S.runs.lead} close={S.runs.close} onClose={onClose}>
      {problem !== '' && (
        <p className="notice warning runs-problem" role="status" data-testid="runs-problem">
          {problem}
        </p>
      )}
      <List onClose={onClose} />
      <RunsStorage />
      <ImportFile onShown={onClose} />
    </Modal>
  )
}

function List({ onClose }: { onClose: () => void }) {
  const runs = useRuns((view) => view.runs)
  const compared = useRuns((view) => view.compared.length)
  const blocked = useResumeBlocked()
  const problem = useRuns((view) => view.removeProblem)
  const list = useRef<HTMLUListElement>(null)
  if (runs === null) return <p className="empty">{S.runs.asking}</p>
  if (runs.length === 0) return <p className="empty">{S.runs.none}</p>
  const labels = runLabels(runs)
  const showCurves = () => {
    onClose()
    document.querySelector('.panel-curves')?.scrollIntoView({ block: 'center' })
  }
  return (
    <>
      {blocked !== null && (
        <p className="note runs-problem" id="runs-blocked" data-testid="runs-blocked">
          {blocked}
        </p>
      )}
      {problem !== null && (
        <p className="notice failure runs-problem" role="alert" data-testid="remove-problem">
          {problem}
        </p>
      )}
      {/* Takes the focus of a run that is deleted. */}
      <ul className="run-list" ref={list} tabIndex={-1} aria-label={S.runs.title}>
        {runs.map((run) => (
          <RunRow key={run.id} run={run} label={labels.get(run.id) ?? run.name} blocked={blocked} onResume={onClose} onGone={() => list.current?.focus()} />
        ))}
      </ul>
      {compared > 0 && (
        <div className="runs-section">
          <button type="button" className="button runs-compare" data-testid="show-curves" onClick={showCurves}>
            {S.runs.showCurves(compared)}
          </button>
        </div>
      )}
    </>
  )
}

/** One kept run: its name and notes to be edited where they stand, its facts, and what can be done with it. */

import { useState } from 'react'
import type { RunRecord } from '../../core/run-record'
import { useRun, useRuns, useStores } from '../../store/hooks'
import { specName } from '../../core/environment-spec'
import { shortName } from '../../store/model-settings'
import { isActive } from '../../store/view'
import { bytes, moment, number } from '../../ui/format'
import { S } from '../../ui/strings'
import { InPlace } from './InPlace'
import { changedSettings } from './run-labels'

interface RunRowProps {
  run: RunRecord
  /** Its name as no other run has it. */
  label: string
  /** Why no run can be gone on with now. */
  blocked: string | null
  onResume: () => void
  /** It was told to be deleted. */
  onGone: () => void
}

export function RunRow({ run, label, blocked, onResume, onGone }: RunRowProps) {
  const stores = useStores()
  const { runs } = stores
  const loaded = useRuns((view) => view.current === run.id)
  const measured = useRuns((view) => view.measuring !== null) && loaded
  const elsewhere = useRuns((view) => view.held.includes(run.id)) && !loaded
  const behind = useRun((view) => view.recording !== null)
  const { id, name, notes, checkpoint, droppedSteps } = run
  const back = () => {
    stores.run.back()
    stores.selection.setState({ step: null, token: null })
    onResume()
  }
  const resume = () => {
    runs.resume(id)
    onResume()
  }
  return (
    <li className="run-entry" data-testid="run" data-run={id}>
      <div className="run-edit">
        <InPlace label={`${S.runs.name}: ${label}`} testId="run-name" value={name} onChange={(text) => runs.edit(id, { name: text })} />
        <Facts run={run} />
        <InPlace label={`${S.runs.notes}: ${label}`} testId="run-notes" value={notes} placeholder={S.runs.noNotes} lines onChange={(text) => runs.edit(id, { notes: text })} />
        {droppedSteps > 0 && <p className="note">{S.runs.dropped(droppedSteps)}</p>}
        {checkpoint === null && !loaded && <p className="note">{S.runs.noCheckpoint}</p>}
      </div>
      {loaded && !measured ? (
        <span className="run-loaded" data-testid="run-loaded">
          {behind ? S.runs.behind : S.runs.loaded}
          {behind && (
            <button type="button" className="button small" data-testid="run-back" onClick={back}>
              {S.runs.recording.back}
            </button>
          )}
        </span>
      ) : elsewhere ? (
        <span className="run-loaded" data-testid="run-elsewhere">
          {S.runs.elsewhere}
        </span>
      ) : (
        checkpoint !== null && (
          <button
            type="button"
            className="button small"
            data-testid="resume"
            aria-label={`${S.runs.load(checkpoint)}: ${label}`}
            aria-describedby={blocked === null ? undefined : 'runs-blocked'}
            disabled={blocked !== null}
            onClick={resume}
          >
            {S.runs.load(checkpoint)}
          </button>
        )
      )}
      <Ways run={run} label={label} loaded={loaded} onGone={onGone} />
    </li>
  )
}

function Facts({ run: { id, config, step, finished, updatedAt, bytes: size } }: { run: RunRecord }) {
  const last = useRuns((view) => view.histories[id]?.steps?.at(-1)?.metrics['reward'] ?? null)
  return (
    <ul className="run-facts">
      <li>{specName(config.environment)}</li>
      <li>{shortName(config.model)}</li>
      <li>{S.runs.seed(config.grpo.seed)}</li>
      {changedSettings(config).map((text) => (
        <li key={text} className="run-change">
          {text}
        </li>
      ))}
      <li>{finished ? S.runs.finished(step) : S.runs.steps(step, config.grpo.max_steps)}</li>
      {last !== null && <li data-testid="run-reward">{S.runs.reward(number(last))}</li>}
      <li>
        <time dateTime={new Date(updatedAt).toISOString()}>{moment(updatedAt)}</time>
      </li>
      <li>{bytes(size)}</li>
    </ul>
  )
}

function Ways({ run: { id, bytes: size }, label, loaded, onGone }: { run: RunRecord; label: string; loaded: boolean; onGone: () => void }) {
  const { runs, takeAway } = useStores()
  const compared = useRuns((view) => view.compared.includes(id))
  const training = useRun((view) => isActive(view.run)) && loaded
  const [asking, setAsking] = useState<boolean | null>(null)
  if (asking) {
    const remove = () => {
      onGone()
      runs.remove(id)
    }
    return (
      <div key="ask" className="run-ask" role="group" aria-label={S.runs.removeName(label)}>
        <span>{S.runs.sure(bytes(size))}</span>
        <button type="button" className="button small urged" data-testid="delete-run-sure" disabled={training} onClick={remove}>
          {S.runs.remove}
        </button>
        {/* Question and button take each other's place, and the focus goes with them. */}
        <button type="button" className="button small" data-testid="delete-run-keep" autoFocus onClick={() => setAsking(false)}>
          {S.runs.keep}
        </button>
      </div>
    )
  }
  return (
    <div key="ways" className="run-ways">
      {/* The curves of the run that is loaded are drawn already. */}
      {!loaded && (
        <label>
          <input
            type="checkbox"
            data-testid="compare"
            aria-label={S.runs.compareName(label)}
            checked={compared}
            onChange={(e) => runs.compare(id, e.target.checked)}
          />
          {S.runs.compare}
        </label>
      )}
      <button type="button" className="link" data-testid="run-take-away" aria-label={S.runs.takeAwayName(label)} onClick={() => takeAway.show(id)}>
        {S.runs.takeAway}
      </button>
      <button
        type="button"
        className="link run-delete"
        data-testid="delete-run"
        aria-label={S.runs.removeName(label)}
        title={training ? S.runs.removeTraining : undefined}
        autoFocus={asking === false}
        disabled={training}
        onClick={() => setAsking(true)}
      >
        {S.runs.remove}
      </button>
    </div>
  )
}

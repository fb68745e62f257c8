/** Above the loop: the offer to go on with the run that a closed tab left, and that what is shown is a recording. */

import { isFresh } from '../../store/controller'
import { useRun, useRuns, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'
import { useResumeBlocked } from './blocked'

/** Only while nothing was begun on this page. */
export function ResumeBanner() {
  const { runs } = useStores()
  const offered = useRuns((view) => view.runs?.find(({ id }) => id === view.offered) ?? null)
  const fresh = useRun(isFresh)
  const blocked = useResumeBlocked()
  if (!offered || offered.checkpoint === null || !fresh || blocked !== null) return null
  const { id, name, step, checkpoint } = offered
  return (
    <div className="alerts offer" role="status" data-testid="resume-offer">
      <p>
        <strong>{name}</strong> {S.runs.offer.stopped(step)}
      </p>
      <button type="button" className="button small" data-testid="resume-offered" onClick={() => runs.resume(id)}>
        {S.runs.resume(checkpoint)}
      </button>
      <button type="button" className="link" data-testid="dismiss-offer" onClick={runs.discardOffer}>
        {S.runs.offer.dismiss}
      </button>
    </div>
  )
}

export function RecordingBanner() {
  const recording = useRun((view) => view.recording)
  if (recording === null) return null
  return (
    <div className="alerts offer" role="status" data-testid="recording">
      <p>
        <strong>{S.runs.recording.says(recording)}</strong> {S.runs.recording.why}
      </p>
    </div>
  )
}

/** Above the loop: the offer to go on with the run that a closed tab left, and that what is shown is a recording. */

import type { RunConfig } from '../../core/config'
import { stageLine } from '../../core/stage'
import { isFresh } from '../../store/controller'
import { useRun, useRuns, useStores } from '../../store/hooks'
import { specName } from '../../core/environment-spec'
import { shortName } from '../../store/model-settings'
import { S } from '../../ui/strings'
import { useResumeBlocked } from './blocked'
import { changedSettings } from './run-labels'

/** The offer, only while nothing was begun on this page; or why the run that was asked for is not gone on with. */
export function ResumeBanner() {
  const { runs } = useStores()
  const refused = useRuns((view) => view.refused)
  const offered = useRuns((view) => view.runs?.find(({ id }) => id === view.offered) ?? null)
  const fresh = useRun(isFresh)
  const blocked = useResumeBlocked()
  if (refused !== null) {
    return (
      <div className="alerts offer" role="alert" data-testid="resume-refused">
        <p>{refused}</p>
        <button type="button" className="link" data-testid="dismiss-refusal" onClick={runs.forgetRefusal}>
          {S.runs.close}
        </button>
      </div>
    )
  }
  if (!offered || offered.checkpoint === null || !fresh || blocked !== null) return null
  const { id, name, step, checkpoint, stages = [] } = offered
  return (
    <div className="alerts offer" role="status" data-testid="resume-offer">
      <p>
        <strong>{name}</strong> {checkpoint === 0 ? S.runs.offer.staged(stageLine(stages, 0)) : S.runs.offer.stopped(step)}
      </p>
      <button type="button" className="button small" data-testid="resume-offered" onClick={() => runs.resume(id)}>
        {checkpoint === 0 ? S.runs.offer.goOn : S.runs.load(checkpoint)}
      </button>
      <button type="button" className="link" data-testid="dismiss-offer" onClick={runs.discardOffer}>
        {S.runs.offer.dismiss}
      </button>
    </div>
  )
}

/** What the recording was made with; a file of TRL's does not tell. */
function settingsOf(config: RunConfig): string {
  if (config.model === '') return S.runs.recording.unknown
  const facts = [specName(config.environment), shortName(config.model), S.runs.seed(config.grpo.seed), ...changedSettings(config)]
  return S.runs.recording.settings(facts.join(' · '))
}

export function RecordingBanner() {
  const { run, selection } = useStores()
  const recorded = useRun((view) => view.recorded)
  const recording = useRun((view) => view.recording)
  const behind = useRun((view) => view.behind)
  if (recording === null) return null
  const words = S.runs.recording
  const back = () => {
    run.back()
    selection.setState({ step: null, token: null })
  }
  return (
    <div className="alerts offer" role="status" data-testid="recording">
      <p>
        <strong>{words.says(recording)}</strong> {recorded !== null && <span data-testid="recording-settings">{settingsOf(recorded)}</span>} {words.why}{' '}
        {behind && words.kept}
      </p>
      <button type="button" className="button small" data-testid="recording-back" onClick={back}>
        {behind ? words.back : words.close}
      </button>
    </div>
  )
}

/** An upload: its stages, how to stop it, and how it ended. */

import { useStores } from '../../store/hooks'
import type { PublishView } from '../../store/take-away-store'
import { bytes, roughTime } from '../../ui/format'
import { takeLostFocus } from '../../ui/focus'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import type { PublishProgress, PublishResult } from '../../worker/protocol'

interface PublishStateProps {
  publish: PublishView
  /** Publishes into the repository that turned out to exist. */
  onUpdate: () => void
}

export function PublishState({ publish, onUpdate }: PublishStateProps) {
  return (
    <div className="publish-state" data-testid="publish-state">
      {publish.result ? <Ended publish={publish} result={publish.result} onUpdate={onUpdate} /> : <UnderWay publish={publish} />}
    </div>
  )
}

function UnderWay({ publish: { progress, stopping, target } }: { publish: PublishView }) {
  const { takeAway } = useStores()
  const words = TAKE_AWAY_STRINGS.publish
  const uploading = progress?.stage === 'uploading' ? progress : null
  const text = sentence(progress)
  return (
    <>
      <p>
        <strong>{target.repo}</strong>
      </p>
      <progress aria-label={text} max={uploading ? Math.max(1, uploading.total) : 1} value={uploading?.done} />
      <div className="publish-line">
        <span className="note" data-testid="publish-progress">
          {stopping ? words.cancelling : text}
        </span>
        <button type="button" className="button small" data-testid="publish-cancel" ref={takeLostFocus} disabled={stopping} onClick={takeAway.stopPublish}>
          {words.cancel}
        </button>
      </div>
      {/* Bytes change too often to be spoken. */}
      <p className="sr-only" role="status">
        {stopping ? words.cancelling : uploading ? words.uploadingSpoken : text}
      </p>
    </>
  )
}

function sentence(progress: PublishProgress | null): string {
  const words = TAKE_AWAY_STRINGS.publish
  if (!progress) return words.stages.preparing
  if (progress.stage === 'uploading') return words.uploading(bytes(progress.done), bytes(progress.total))
  if (progress.stage === 'waiting') return words.waiting(roughTime(progress.seconds), progress.reason)
  return words.stages[progress.stage]
}

function Ended({ publish, result, onUpdate }: PublishStateProps & { result: PublishResult }) {
  const { takeAway, account } = useStores()
  const words = TAKE_AWAY_STRINGS.publish
  return (
    <>
      {result.ok ? <Published publish={publish} result={result} /> : <Refused id={publish.id} result={result} />}
      <div className="publish-line">
        {!result.ok && result.canRetry && (
          <button type="button" className="button" data-testid="publish-retry" ref={takeLostFocus} onClick={() => account.isValid() && takeAway.retryPublish()}>
            {words.retry}
          </button>
        )}
        {!result.ok && result.exists && (
          <button type="button" className="button" data-testid="publish-update" ref={takeLostFocus} onClick={onUpdate}>
            {words.update(publish.target.repo)}
          </button>
        )}
        <button type="button" className="link" data-testid="publish-another" ref={takeLostFocus} onClick={takeAway.forgetPublish}>
          {words.another}
        </button>
      </div>
    </>
  )
}

function Published({ publish: { target }, result }: { publish: PublishView; result: Extract<PublishResult, { ok: true }> }) {
  const words = TAKE_AWAY_STRINGS.publish
  return (
    <div role="status" data-testid="published">
      <p>
        <span className="mark-fits" aria-hidden="true">
          ✓
        </span>{' '}
        <strong>{target.asPullRequest ? words.pullRequest : words.success}</strong> {result.verified ? words.verified : words.unverified}
      </p>
      <p>
        <a href={result.url} target="_blank" rel="noreferrer" data-testid="published-link">
          {target.repo}
        </a>{' '}
        <span className="note">{words.commit(result.commit.slice(0, 7))}</span>
      </p>
    </div>
  )
}

function Refused({ id, result: { error, advice } }: { id: string; result: Extract<PublishResult, { ok: false }> }) {
  const { takeAway } = useStores()
  const words = TAKE_AWAY_STRINGS.publish
  return (
    <div role="alert" data-testid="publish-refused">
      <p className="notice failure">
        <strong>{error}</strong> {advice}
      </p>
      <p>
        {words.safe}{' '}
        <button type="button" className="link" data-testid="publish-zip" onClick={() => takeAway.make(id, 'everything')}>
          {words.zip}
        </button>
        .
      </p>
    </div>
  )
}

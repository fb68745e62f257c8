/** One observation as the model gets it, with its reward and whether the episode is done. Text is drawn as text. */

import { duration, NONE, number } from '../../ui/format'
import { S } from '../../ui/strings'
import type { PlayObservation } from '../../worker/protocol'

const E = S.environment

export function ObservationView({ observation }: { observation: PlayObservation }) {
  const { text, reward, done, ms, toolError, metadata } = observation
  const hasMetadata = Object.keys(metadata).length > 0
  return (
    <div className="observation" data-testid="observation">
      {text === '' ? (
        <p className="note">{E.nothingSaid}</p>
      ) : (
        <pre className="play-text" tabIndex={0}>
          {text}
        </pre>
      )}
      <dl className="observation-facts">
        <div>
          <dt>{E.reward}</dt>
          <dd data-testid="play-reward">{reward === null ? E.noReward : number(reward)}</dd>
        </div>
        <div>
          <dt>{E.done}</dt>
          <dd data-testid="play-done">{done ? E.yes : E.no}</dd>
        </div>
        <div>
          <dt>{E.took}</dt>
          <dd>{ms === null ? NONE : duration(ms)}</dd>
        </div>
      </dl>
      {toolError && <p className="note">{ms === null ? E.refused : E.toolError}</p>}
      {hasMetadata && (
        <p className="note">
          {E.metadata} <code>{JSON.stringify(metadata)}</code>
        </p>
      )}
    </div>
  )
}

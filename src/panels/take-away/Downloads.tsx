/** The files of a run: one line each with what it is, its size, and how it stands. */

import type { RunRecord } from '../../core/run-record'
import { useStores, useTakeAway } from '../../store/hooks'
import { exportKey } from '../../store/take-away-store'
import { bytes } from '../../ui/format'
import { Help } from '../../ui/Help'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import type { ExportKind } from '../../worker/protocol'
import { EXPORT_KINDS, expectedBytes, hasBase, loraBytes, notesOn, whyNot } from './possible'

export function Downloads({ run }: { run: RunRecord }) {
  return (
    <section className="take-section" data-testid="downloads">
      <div className="titled">
        <h3>{TAKE_AWAY_STRINGS.downloads.title}</h3>
        <Help of="downloads:files" name={TAKE_AWAY_STRINGS.downloads.title} />
      </div>
      <ul className="take-list">
        {EXPORT_KINDS.map((kind) => (
          <Download key={kind} run={run} kind={kind} />
        ))}
      </ul>
    </section>
  )
}

/** Test ids have no dots: export-trajectories-jsonl. */
const testId = (kind: ExportKind) => `export-${kind.replace('.', '-')}`

function Download({ run, kind }: { run: RunRecord; kind: ExportKind }) {
  const { takeAway } = useStores()
  const state = useTakeAway((view) => view.exports[exportKey(run.id, kind)])
  const words = TAKE_AWAY_STRINGS.downloads
  const [title, explanation] = words.kinds[kind]
  const why = whyNot(run, kind)
  const making = state?.state === 'making'
  const expected = expectedBytes(run, kind)
  const id = testId(kind)
  return (
    <li className="take-entry">
      <div>
        <strong>{title}</strong>
        {expected !== null && why === null && <span className="note"> · {words.about(bytes(expected))}</span>}
        <p className="note" id={`${id}-what`}>
          {why ?? explanation}
          {why === null && kind === 'adapter' && hasBase(run) && ` ${words.withBase(bytes(loraBytes(run)))}`}
          {why === null && run.droppedSteps > 0 && kind.startsWith('trajectories') && ` ${words.dropped}`}
          {why === null && notesOn(run, kind).map((note) => ` ${note}`)}
        </p>
      </div>
      <button
        type="button"
        className={kind === 'everything' ? 'button small urged' : 'button small'}
        data-testid={id}
        aria-label={`${words.make}: ${title}`}
        aria-describedby={`${id}-what`}
        disabled={why !== null || making}
        onClick={() => takeAway.make(run.id, kind)}
      >
        {state?.state === 'made' ? words.again : words.make}
      </button>
      <div className="take-state" role="status" data-testid={`${id}-state`}>
        {making && (
          <>
            <progress aria-label={words.making} />
            <span className="note">{words.making}</span>
          </>
        )}
        {state?.state === 'made' && <span className="note">{words.saved(state.name, bytes(state.bytes))}</span>}
        {state?.state === 'failed' && (
          <span className="why">
            {state.error} {state.advice}
          </span>
        )}
      </div>
    </li>
  )
}

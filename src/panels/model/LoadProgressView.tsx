/** A download as it goes: per file and in total, with Pause, Resume and Cancel. */

import type { ReactNode } from 'react'
import { useModels, useRun, useSetup, useStores } from '../../store/hooks'
import { isFromHub, shortName } from '../../store/model-settings'
import { takeLostFocus } from '../../ui/focus'
import { bytes } from '../../ui/format'
import { describeLoading, describePace } from '../../ui/sentence'
import { S } from '../../ui/strings'

export function LoadProgressView() {
  const run = useRun((view) => view.run)
  const fromHub = useSetup((s) => s.applied !== null && isFromHub(s.applied))
  const { controller } = useStores()
  if (!fromHub) return null
  const words = S.model.progress
  if (run.state === 'loading') {
    const { overall, what, done, total } = run
    return (
      <Block text={overall ? [overall.fromDisk ? words.reading : words.downloading, ...describePace(overall)].join(' · ') : describeLoading(run)}>
        {overall && total !== null && total !== overall.total && <Bar name={what} done={done} total={total} />}
        {overall && <Bar name={words.total} done={overall.done} total={overall.total} />}
        <div className="load-controls">
          {overall && !overall.fromDisk && (
            <button type="button" className="button small" data-testid="pause-load" ref={takeLostFocus} onClick={controller.model.pauseLoad}>
              {words.pause}
            </button>
          )}
          <Cancel />
        </div>
      </Block>
    )
  }
  if (run.state === 'load-paused') {
    return (
      <Block text={run.what === 'environment' ? S.environment.waitStopped : words.paused}>
        {run.total !== null && <Bar name={words.total} done={run.done} total={run.total} />}
        <div className="load-controls">
          <button type="button" className="button small primary" data-testid="resume-load" ref={takeLostFocus} onClick={controller.model.resumeLoad}>
            {words.resume}
          </button>
          <Cancel />
        </div>
      </Block>
    )
  }
  return null
}

function Block({ text, children }: { text: string; children: ReactNode }) {
  return (
    <div className="load-progress" data-testid="load-progress">
      <p className="note">{text}</p>
      {children}
    </div>
  )
}

/** Bytes of a file or of all of them. */
function Bar({ name, done, total }: { name: string; done: number; total: number }) {
  const text = S.model.progress.of(bytes(done), bytes(total))
  return (
    <div className="load-bar">
      <span className="load-name">{name}</span>
      <span className="load-number">{text}</span>
      <progress aria-label={`${name}: ${text}`} max={total} value={done} />
    </div>
  )
}

function Cancel() {
  const { controller } = useStores()
  const back = useModels(({ lastLoaded }) => lastLoaded && shortName(lastLoaded.model))
  return (
    <button
      type="button"
      className="button small"
      data-testid="cancel-load"
      title={back === null ? undefined : S.model.load.back(back)}
      onClick={controller.model.cancelLoad}
    >
      {S.model.progress.cancel}
    </button>
  )
}

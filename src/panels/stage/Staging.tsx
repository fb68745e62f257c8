/** Stages before GRPO, opened: which one, its data and settings; what would train; how it goes; what the run has been through. */

import { useCallback, useState } from 'react'
import { STAGE_KINDS, stageLine, type StageRecord } from '../../core/stage'
import { useRun, useRuns } from '../../store/hooks'
import { occupied } from '../../store/occupied'
import { Help } from '../../ui/Help'
import { Segmented } from '../../ui/Segmented'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import '../../ui/stage.css'
import { Examples } from './Examples'
import { DataField } from './DataField'
import { PlanOffer } from './PlanOffer'
import { StageCurves } from './StageCurves'
import { StageSettingFields } from './StageSettingFields'
import { useStage, useStageActions } from './useStage'

export function Staging() {
  const stage = useStageActions()
  const kind = useStage((view) => view.kind)
  const settings = useStage((view) => view.settings[view.kind])
  const busy = useStage((view) => view.state !== null)
  const [refused, setRefused] = useState<readonly string[]>([])
  const refuse = useCallback((why: string) => {
    setRefused((all) => [...all, why])
    return () => setRefused((all) => all.filter((each) => each !== why))
  }, [])
  return (
    <div className="staging">
      <PlanOffer />
      <div className="stage-column">
        <div className="titled">
          <Segmented id="stage-kind" label={W.kind} options={STAGE_KINDS} names={W.kinds} value={kind} onChange={stage.choose} />
          <Help of={W.kind} text={W.kindHelp} />
        </div>
        <DataField />
        <StageSettingFields kind={kind} settings={settings} disabled={busy} prefix="stage" onChange={stage.set} onRefused={refuse} />
        <Actions refused={refused[0] ?? null} />
        <Line />
      </div>
      <div className="stage-column">
        <Examples />
        <StageCurves />
      </div>
    </div>
  )
}

function Actions({ refused }: { refused: string | null }) {
  const stage = useStageActions()
  const { dataset, look, looking, state, error } = useStage((view) => view)
  const downloads = looking && dataset !== null && 'hub' in dataset
  const why = useRun(occupied)
  const blocked = why !== null || state !== null || refused !== null
  return (
    <div className="stage-actions">
      <div className="stage-buttons">
        {downloads ? (
          <button type="button" className="button" data-testid="stage-stop-reading" onClick={() => stage.control('stop')}>
            {W.stopReading}
          </button>
        ) : (
          <button type="button" className="button" data-testid="stage-look" disabled={!dataset || looking || why === 'loading'} onClick={() => stage.look(0)}>
            {W.look}
          </button>
        )}
        {state === null ? (
          <button type="button" className="button primary" data-testid="stage-train" disabled={blocked || !look || look.rows === 0} onClick={stage.train}>
            {W.train}
          </button>
        ) : (
          <>
            <button type="button" className="button" data-testid="stage-pause" disabled={state !== 'training' && state !== 'paused'} onClick={() => stage.control(state === 'paused' ? 'go-on' : 'pause')}>
              {state === 'paused' ? W.goOn : W.pause}
            </button>
            <button type="button" className="button" data-testid="stage-stop" onClick={() => stage.control('stop')}>
              {W.stop}
            </button>
          </>
        )}
      </div>
      {error !== '' && (
        <p className="why" role="alert" data-testid="stage-error">
          {error}
        </p>
      )}
      <p className="note" role="status" data-testid="stage-status">
        <Status blocked={why !== null || refused !== null} why={why !== null ? W.why[why] : refused !== null ? W.correct(refused) : ''} />
      </p>
    </div>
  )
}

function Status({ blocked, why }: { blocked: boolean; why: string }) {
  const { dataset, look, looking, reading, state, progress, done } = useStage((view) => view)
  if (looking) return reading > 0 ? W.reading(reading) : W.looking
  if (state !== null) return `${W.states[state]}. ${progress && progress.metrics.length > 0 ? `${W.progress(progress.metrics.length, progress.steps)}.` : ''}`
  if (blocked) return why
  const last = done.at(-1)
  if (last && progress && progress.metrics.length > 0) return W.ended(last.kind, last.steps)
  if (!dataset) return W.noData
  return look ? '' : W.lookFirst
}

/** The stages and GRPO's own steps, in order. */
function Line() {
  const done = useStage((view) => view.done)
  const kept = useRuns((view) => view.runs?.find(({ id }) => id === view.current)?.stages)
  const steps = useRun((view) => view.history.at(-1)?.step ?? 0)
  const stages = done.length > 0 ? done : (kept ?? [])
  const line = stageLine(stages, steps)
  return (
    <p className="stage-line" data-testid="stage-line">
      <span className="muted">{W.line}:</span> {line === '' ? W.lineEmpty : line}
      <Sources stages={stages} />
    </p>
  )
}

/** Which datasets of the Hub the run's stages were trained on, at which commit. */
function Sources({ stages }: { stages: readonly StageRecord[] }) {
  return stages.flatMap(({ kind, rows, source }, i) =>
    source
      ? [
          <span key={i} className="stage-source note" data-testid="stage-source">
            {W.source(kind, rows, `${source.config}/${source.split}`)}{' '}
            <a href={`https://huggingface.co/datasets/${source.repo}/tree/${source.sha}`} target="_blank" rel="noreferrer">
              {source.repo} {W.at(source.sha)}
            </a>
          </span>,
        ]
      : [],
  )
}

/** A planned stage, opened in its place: where its rows come from, and its settings under TRL's names. */

import { useCallback, useRef } from 'react'
import type { PlannedStage, StageRows } from '../../core/stage'
import { countOf, playedMust } from '../../core/stage-limits'
import { useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { PLAN_STRINGS as W } from '../../ui/plan-strings'
import { Segmented } from '../../ui/Segmented'
import { NumberField } from '../stage/NumberField'
import { StageSettingFields } from '../stage/StageSettingFields'
import { usePlanActions } from './usePlan'
import { useRandomly } from './useRandomly'

interface EditorProps {
  stage: PlannedStage
  at: number
}

const SFT_ROWS = ['random', 'episodes'] as const

export function StageEditor({ stage, at }: EditorProps) {
  const { kind, settings } = stage
  const { change } = usePlanActions()
  const refuse = useRefusal(W.stageName(kind, at))
  return (
    <div className="plan-editor" role="group" aria-label={W.editorName(W.stageName(kind, at))} data-testid={`plan-editor-${at}`}>
      <Rows stage={stage} at={at} onRefused={refuse} />
      <StageSettingFields kind={kind} settings={settings} prefix="plan-stage" onChange={(next) => change(at, { ...stage, settings: { ...settings, ...next } })} onRefused={refuse} />
    </div>
  )
}

/** Train waits for what stands in a field and was not taken. */
function useRefusal(name: string): (why: string) => () => void {
  const { setup } = useStores()
  return useCallback(
    (why) => {
      const said = { place: name, why }
      setup.setState(({ refusedStages }) => ({ refusedStages: [...refusedStages, said] }))
      return () => setup.setState(({ refusedStages }) => ({ refusedStages: refusedStages.filter((each) => each !== said) }))
    },
    [name, setup],
  )
}

function Rows({ stage, at, onRefused }: EditorProps & { onRefused: (why: string) => () => void }) {
  const { change } = usePlanActions()
  const { kind, rows } = stage
  const size = useSetup(({ config }) => config.grpo.num_generations)
  const randomly = useRandomly()
  // What the other source had comes back with it.
  const other = useRef<StageRows | null>(null)
  const take = (next: StageRows) => change(at, { ...stage, rows: next })
  const choose = (from: (typeof SFT_ROWS)[number]) => {
    if (from === rows.from) return
    const before = other.current
    other.current = rows
    take(before?.from === from ? before : from === 'random' ? { from, games: countOf(rows) } : { from, groups: countOf(rows), least: 1 })
  }
  const count = (value: number) => take(rows.from === 'random' ? { ...rows, games: value } : { ...rows, groups: value })
  const counted = rows.from === 'random' ? 'games' : 'groups'
  return (
    <div className="plan-source">
      <div className="titled">
        {kind === 'sft' && rows.from !== 'pairs' ? <Segmented id={`plan-rows-${at}`} label={W.source} options={SFT_ROWS} names={W.sources} value={rows.from} onChange={choose} /> : <strong>{W.sources.pairs}</strong>}
        <Help of={W.source} text={W.sourceHelp} />
      </div>
      <p className="note" data-testid={`plan-source-says-${at}`}>
        {W.sourceSays(rows, size)}
      </p>
      {rows.from === 'random' && !randomly && <p className="why">{W.notRandomly}</p>}
      <NumberField key={counted} name={W.fields[counted]} help={W.fieldHelp[counted]} testId={`plan-stage-${counted}`} value={countOf(rows)} must={playedMust} onChange={count} onRefused={onRefused} />
      {rows.from === 'episodes' && (
        <NumberField name={W.fields.least} help={W.fieldHelp.least} testId="plan-stage-least" value={rows.least} must={() => null} onChange={(least) => take({ ...rows, least })} onRefused={onRefused} />
      )}
    </div>
  )
}

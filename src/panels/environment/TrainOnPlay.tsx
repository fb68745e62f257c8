/** The episode that a person just played, given to the SFT stage in one press. */

import { useState } from 'react'
import { useHidden, useOpen, usePlay } from '../../store/hooks'
import { playedRows } from '../../store/stage-store'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { showPanel } from '../article/show-panel'
import { useStage, useStageActions } from '../stage/useStage'

export function TrainOnPlay() {
  const stage = useStageActions()
  const [, setOpen] = useOpen('stage')
  const hidden = useHidden('stage')
  const begun = usePlay((view) => view.begun)
  const over = usePlay(({ playing, busy, begun }) => begun !== null && !playing && busy === null)
  const training = useStage((view) => view.state !== null)
  const rows = useStage(playedRows)
  const [given, setGiven] = useState<typeof begun>(null)
  if (hidden) return null
  const give = () => {
    setGiven(begun)
    stage.fromMyPlay()
    setOpen(true)
    showPanel('stage')
  }
  return (
    <div className="play-buttons play-train">
      <button type="button" className="button" data-testid="play-train" disabled={!over || training || given === begun} onClick={give}>
        {W.mine}
      </button>
      <Help of={W.mine} text={W.mineHelp} />
      <span className="note" data-testid="play-train-note">
        {rows > 0 ? W.mineRows(rows) : !over ? W.mineFirst : ''}
      </span>
    </div>
  )
}

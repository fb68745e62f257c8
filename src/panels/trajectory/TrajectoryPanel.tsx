/** The selected episode, every token with its author, turn by turn. */

import { useSelectedEpisode, useSelectedStep, useSelection } from '../../store/hooks'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { Trajectory } from './Trajectory'

export { Trajectory }

export function TrajectoryPanel() {
  const episode = useSelectedEpisode()
  const step = useSelectedStep()
  const selected = useSelection((s) => s.step)
  const why = selected !== null && !step ? S.group.gone(selected) : S.trajectory.empty
  return (
    <Panel id="trajectory" title={S.trajectory.title} lead={S.trajectory.lead}>
      {/* The same from step to step: the focus and what was opened stay. */}
      {episode ? <Trajectory episode={episode} /> : <p className="empty">{why}</p>}
    </Panel>
  )
}

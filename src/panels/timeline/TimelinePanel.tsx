/** Where the time of the step goes; what is drawn in it is fetched after the first paint, into room that is kept for it. */

import { afterFirstDraw } from '../../ui/first-draw'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'

const TimelineView = later(afterFirstDraw(() => import('./TimelineView').then(({ TimelineView }) => TimelineView)))

export function TimelinePanel() {
  return (
    <Panel id="timeline" title={S.timeline.title} lead={S.timeline.lead}>
      <div className="timeline">
        <TimelineView />
      </div>
    </Panel>
  )
}

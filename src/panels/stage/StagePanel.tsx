/** Stages before GRPO in one line, until it is opened. */

import { useOpen } from '../../store/hooks'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'

const Staging = later(() => import('./Staging').then((part) => part.Staging))

export function StagePanel() {
  const [open, setOpen] = useOpen('stage')
  const aside = (
    <div className="panel-aside">
      <button type="button" className="button small" data-testid="stage-open" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? S.stage.close : S.stage.open}
      </button>
    </div>
  )
  return (
    <Panel id="stage" title={S.stage.title} lead={S.stage.lead} aside={aside}>
      {open && <Staging />}
    </Panel>
  )
}

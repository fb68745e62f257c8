/** Play by hand, one line high until it is opened. */

import { useOpen } from '../../store/hooks'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'

const E = S.environment
const Playing = later(() => import('./Playing').then((part) => part.Playing))

export function PlayPanel() {
  const [open, setOpen] = useOpen('play')
  const aside = (
    <div className="panel-aside">
      <button type="button" className="button small" data-testid="play-open" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? E.close : E.open}
      </button>
    </div>
  )
  return (
    <Panel id="play" title={E.title} lead={E.lead} aside={aside}>
      {open && <Playing />}
    </Panel>
  )
}

/** Before and after in one line, until it is opened. */

import { useOpen } from '../../store/hooks'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'

const C = S.compare
const Comparing = later(() => import('./Comparing').then((part) => part.Comparing))
const Ends = later(() => import('./Verdict').then((part) => part.Ends))

export function ComparePanel() {
  const [open, setOpen] = useOpen('compare')
  const aside = (
    <div className="panel-aside">
      <button type="button" className="button small" data-testid="compare-open" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? C.close : C.open}
      </button>
    </div>
  )
  return (
    <Panel id="compare" title={C.title} lead={C.lead} aside={aside}>
      {open ? (
        <Comparing />
      ) : (
        <div className="compare-closed">
          <Ends />
        </div>
      )}
    </Panel>
  )
}

/** The bar's button that opens the list of kept runs. */

import { useState } from 'react'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { IconRuns } from '../bar/icons'

const RunsDialog = later(() => import('./RunsDialog').then((part) => part.RunsDialog))

export function RunsButton() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button quiet worded" data-testid="runs-open" title={S.runs.openHint} onClick={() => setOpen(true)}>
        <IconRuns />
        <span>{S.runs.open}</span>
      </button>
      {open && <RunsDialog onClose={() => setOpen(false)} />}
    </>
  )
}

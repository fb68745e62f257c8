/** Opens the dry run, beside the settings that it is about. */

import { useState } from 'react'
import { GUARD_STRINGS } from '../../ui/guard-strings'
import { Help } from '../../ui/Help'
import { later } from '../../ui/later'

const W = GUARD_STRINGS.dry
const DryRunDialog = later(() => import('./DryRunDialog').then((part) => part.DryRunDialog))

export function DryRunButton() {
  const [open, setOpen] = useState(false)
  return (
    <span className="dry-run-open">
      <button type="button" className="button small" data-testid="dry-run-open" aria-haspopup="dialog" title={W.openHint} onClick={() => setOpen(true)}>
        {W.open}
      </button>
      <Help of="dry:run" name={W.title} />
      {open && <DryRunDialog onClose={() => setOpen(false)} />}
    </span>
  )
}

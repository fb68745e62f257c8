/** The button that opens the list of known environments. */

import { useState } from 'react'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'

const KnownList = later(() => import('./KnownList').then((part) => part.KnownList))

export function KnownEnvironments() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="link open-known" data-testid="open-known" onClick={() => setOpen(true)}>
        {S.task.known}
      </button>
      {open && <KnownList onClose={() => setOpen(false)} />}
    </>
  )
}

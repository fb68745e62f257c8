/** Listens to the keyboard for the page's keys, and opens the sheet that lists them. */

import { type ComponentType, useEffect, useRef, useState } from 'react'
import { useStores } from '../../store/hooks'
import { readKeysOn, shortcutOf, writeKeysOn } from '../../ui/shortcuts'
import { S } from '../../ui/strings'
import type { ShortcutSheetProps } from './ShortcutSheet'
import { IconKeys } from './icons'

const K = S.controls.keys

export function Shortcuts() {
  const stores = useStores()
  const [on, setOn] = useState(readKeysOn)
  const [open, setOpen] = useState(false)
  const [Sheet, setSheet] = useState<ComponentType<ShortcutSheetProps> | null>(null)
  const [failed, setFailed] = useState(false)
  const openSheet = useRef(() => {
    setOpen(true)
    // The list is no part of the first paint.
    import('./ShortcutSheet').then(
      (part) => setSheet(() => part.ShortcutSheet),
      () => {
        setOpen(false)
        setFailed(true)
      },
    )
  }).current
  useEffect(() => {
    if (!on) return
    const hear = (event: KeyboardEvent) => {
      const found = shortcutOf(event)
      if (!found) return
      // Space would scroll the page.
      event.preventDefault()
      found.act({ stores, openSheet })
    }
    document.addEventListener('keydown', hear)
    return () => document.removeEventListener('keydown', hear)
  }, [on, stores, openSheet])
  const change = (next: boolean) => {
    writeKeysOn(next)
    setOn(next)
  }
  return (
    <span className="copy-link">
      <button type="button" className="button quiet keys-open" data-testid="keys-open" aria-label={K.open} title={K.open} aria-haspopup="dialog" aria-keyshortcuts="?" onClick={openSheet}>
        <IconKeys />
      </button>
      <span role="status" className={failed ? 'floating' : ''}>
        {failed && S.crash.notLoaded}
      </span>
      {open && Sheet && <Sheet on={on} onChange={change} onClose={() => setOpen(false)} />}
    </span>
  )
}

/** Chooses what the page shows: a tree of checkboxes over everything that has a name of its own in a link. */

import { useEffect, useRef, useState } from 'react'
import { useDisplay, useStores } from '../../store/hooks'
import { HIDE_KEYS, HIDE_PARTS, type HidePart, isHidden, withHidden } from '../../store/hide'
import { addressNow } from '../../store/link-now'
import { copyText } from '../../ui/clipboard'
import { Modal } from '../../ui/Modal'
import { S } from '../../ui/strings'

const D = S.teach.dialog

export function HideDialog({ onClose }: { onClose: () => void }) {
  const stores = useStores()
  const { display } = stores
  const hide = useDisplay((d) => d.hide)
  const [said, setSaid] = useState('')
  const shown = HIDE_KEYS.filter((key) => !isHidden(hide, key)).length
  const copy = () => {
    copyText(addressNow(stores)).then(
      () => setSaid(S.bar.copied),
      () => setSaid(S.bar.copyFailed),
    )
  }
  const head = (
    <div className="hide-head">
      <button type="button" className="button small" data-testid="hide-none" disabled={hide.length === 0} onClick={() => display.setState({ hide: [] })}>
        {S.teach.hidden.show}
      </button>
      <button type="button" className="button small" data-testid="hide-copy" title={S.teach.copyHint} onClick={copy}>
        {S.teach.copy}
      </button>
      <span className="note" role="status" data-testid="hide-count">
        {said || D.shown(shown, HIDE_KEYS.length)}
      </span>
    </div>
  )
  return (
    <Modal id="hide-dialog" title={D.title} lead={D.lead} close={D.close} onClose={onClose} head={head}>
      <Branch parts={HIDE_PARTS} />
    </Modal>
  )
}

function Branch({ parts }: { parts: readonly HidePart[] }) {
  return (
    <ul className="hide-tree">
      {parts.map((part) => (
        <Part key={part.key} part={part} />
      ))}
    </ul>
  )
}

const below = ({ parts = [] }: HidePart): string[] => parts.flatMap((part) => [part.key, ...below(part)])

function Part({ part }: { part: HidePart }) {
  const { display } = useStores()
  const hide = useDisplay((d) => d.hide)
  const on = !isHidden(hide, part.key)
  const some = on && below(part).some((key) => isHidden(hide, key))
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = some
  }, [some])
  const name = S.teach.parts[part.key]
  return (
    <li>
      <label>
        <input ref={box} type="checkbox" data-testid={`show-${part.key}`} checked={on} onChange={(e) => display.setState({ hide: withHidden(hide, part.key, !e.target.checked) })} />
        {name ?? <code>{part.key}</code>}
      </label>
      {part.parts && <Branch parts={part.parts} />}
    </li>
  )
}

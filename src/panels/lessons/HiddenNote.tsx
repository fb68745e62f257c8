/** One line that says that parts of the page are hidden, and shows them on request. */

import { useState } from 'react'
import { useDisplay, useStores } from '../../store/hooks'
import { HIDE_KEYS, isHidden } from '../../store/hide'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'

const HideDialog = later(() => import('./HideDialog').then((part) => part.HideDialog))
const H = S.teach.hidden

/** What is hidden with what holds it counts once. */
const countOf = (hide: readonly string[]) => HIDE_KEYS.filter((key) => isHidden(hide, key) && hide.includes(key)).length

export function HiddenNote() {
  const { display } = useStores()
  const hide = useDisplay((d) => d.hide)
  // A lesson puts aside what it has no use for, and says so in its own strip.
  const lesson = useDisplay((d) => d.lesson)
  const [choosing, setChoosing] = useState(false)
  const count = countOf(hide)
  return (
    <>
      {count > 0 && lesson === null && (
        <aside className="alerts offer hidden-note" aria-label={S.teach.choose} data-testid="hidden-note">
          <p>{H.says(count)}</p>
          <button type="button" className="link" data-testid="show-all" onClick={() => display.setState({ hide: [] })}>
            {H.show}
          </button>
          <button type="button" className="link" data-testid="choose-hidden" onClick={() => setChoosing(true)}>
            {H.choose}
          </button>
        </aside>
      )}
      {choosing && <HideDialog onClose={() => setChoosing(false)} />}
    </>
  )
}

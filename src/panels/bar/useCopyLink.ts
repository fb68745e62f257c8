/** Copies the page's link and says for a moment how that went. */

import { useEffect, useState } from 'react'
import { useStores } from '../../store/hooks'
import { leftOut } from '../../store/link-environment'
import { addressNow } from '../../store/link-now'
import { copyText } from '../../ui/clipboard'
import { DURATIONS } from '../../ui/durations'
import { S } from '../../ui/strings'

/** `said` is '' when there is nothing to say. The settings are those of now: the address bar follows an edit a moment later. */
export function useCopyLink(): { said: string; copy: () => void } {
  const stores = useStores()
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), DURATIONS.copied)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    copyText(addressNow(stores)).then(
      () => {
        const stays = leftOut(stores.setup.getState().config.environment)
        setSaid(stays.length > 0 ? S.bar.copiedWithout(stays) : S.bar.copied)
      },
      () => setSaid(S.bar.copyFailed),
    )
  }
  return { said, copy }
}

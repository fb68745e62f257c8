/** Saves every file as soon as it is made, whether or not the dialog is still open. Draws nothing. */

import { useEffect } from 'react'
import { useStores, useTakeAway } from '../../store/hooks'
import { saveFile } from '../../ui/save-file'

export function SaveFiles() {
  const { takeAway } = useStores()
  const ready = useTakeAway((view) => view.ready)
  useEffect(() => {
    for (const { requestId, name, file } of ready) {
      saveFile(name, file)
      takeAway.saved(requestId)
    }
  }, [ready, takeAway])
  return null
}

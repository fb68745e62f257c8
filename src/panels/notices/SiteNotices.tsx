/** Quiet buttons in the bar that say that there is no network, or a newer version of the page. Nothing on the page moves for them. */

import { useStore } from 'zustand'
import { useRun } from '../../store/hooks'
import { siteStore } from '../../store/site-store'
import { isActive } from '../../store/view'
import { SITE_STRINGS as T } from '../../ui/site-strings'

export function SiteNotices() {
  const { update, offline } = useStore(siteStore)
  const busy = useRun((view) => isActive(view.run))
  return (
    <>
      {offline && (
        <>
          <button type="button" className="button quiet notices-button" popoverTarget="offline" data-testid="offline">
            {T.offline.short}
          </button>
          <p id="offline" popover="auto" className="notices" data-testid="offline-says">
            {T.offline.long}
          </p>
        </>
      )}
      {update && (
        <>
          <button type="button" className="button quiet notices-button" popoverTarget="update" data-testid="update">
            {T.update.short}
          </button>
          <div id="update" popover="auto" className="notices" role="group" aria-label={T.update.short}>
            <p data-testid="update-says">{busy ? T.update.busy : T.update.ready}</p>
            <button type="button" className="button" data-testid="update-reload" disabled={busy} onClick={update}>
              {T.update.reload}
            </button>
          </div>
        </>
      )}
    </>
  )
}

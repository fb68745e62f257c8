/** Quiet buttons in the bar that say that there is no network, no https, or a newer version of the page. Nothing on the page moves for them. */

import { useStore } from 'zustand'
import { useRun } from '../../store/hooks'
import { siteStore } from '../../store/site-store'
import { isActive } from '../../store/view'
import { SITE_STRINGS as T } from '../../ui/site-strings'

export function SiteNotices() {
  const { update, offline, untrusted } = useStore(siteStore)
  const busy = useRun((view) => isActive(view.run))
  return (
    <>
      {offline && <Saying id="offline" {...T.offline} />}
      {untrusted && <Saying id="untrusted" {...T.untrusted} />}
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

/** A word whose button opens the whole of it. */
function Saying({ id, short, long }: { id: string; short: string; long: string }) {
  return (
    <>
      <button type="button" className="button quiet notices-button" popoverTarget={id} data-testid={id}>
        {short}
      </button>
      <p id={id} popover="auto" className="notices" data-testid={`${id}-says`}>
        {long}
      </p>
    </>
  )
}

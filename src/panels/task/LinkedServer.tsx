/** On a phone, where the controls are in a sheet: the server that a link names, and the button that lets the page connect to it. */

import { describeAddress } from '../../store/address'
import { useSetup } from '../../store/hooks'
import { takeLostFocus } from '../../ui/focus'
import { S } from '../../ui/strings'
import { StartOver } from './StartOver'
import { useConnecting } from './useConnecting'

export function LinkedServer() {
  const environment = useSetup((s) => s.config.environment)
  const awaitsConsent = useSetup((s) => s.awaitsConsent)
  const hasCode = useSetup((s) => s.config.rollout_func !== undefined)
  const connecting = useConnecting()
  // Code beside the server is asked about with it, in one list.
  if (!awaitsConsent || environment.kind !== 'openenv' || hasCode) return null
  const { url } = environment
  return (
    <div className="address" data-testid="linked-server">
      <p className="note">{S.address.consent(url)}</p>
      <p className="note understood">{describeAddress(url, location.protocol)}</p>
      {connecting.asked === null && (
        <button
          type="button"
          className="button primary wide"
          data-testid="connect-linked"
          ref={connecting.answered ? takeLostFocus : null}
          onClick={() => connecting.connect(environment)}
        >
          {S.address.connect}
        </button>
      )}
      <StartOver connecting={connecting} />
    </div>
  )
}

/** What discovery found out about the connected server, folded beneath its tools; what the server needs stays in view. */

import type { DiscoveredEnvironment } from '../../core/discovered'
import { CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'
import { useConnected } from '../task/useConnected'
import { Facts } from './Facts'

/** Nothing for built-in environments, and while no server is connected. */
export function Discovered() {
  const found = useConnected()?.discovered
  return found ? <Found found={found} /> : null
}

function Found({ found }: { found: DiscoveredEnvironment }) {
  const { title, recognised, evidence, needs } = found
  const first = [
    [C.recognised, recognised],
    [C.evidence, C.evidenceWhy[evidence]],
  ] as const
  return (
    <div className="discovered" data-testid="discovered">
      {needs.length > 0 && (
        <p className="needs" data-testid="discovered-needs">
          {C.needs(needs)}
        </p>
      )}
      <details>
        <summary>
          {C.about}: {title}
        </summary>
        <Facts of={found} first={first} />
      </details>
    </div>
  )
}

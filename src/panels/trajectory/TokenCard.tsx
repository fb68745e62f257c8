/** The numbers of the kept token, below the episode. */

import { useDisplay } from '../../store/hooks'
import { S } from '../../ui/strings'
import { useNarrow } from '../../ui/useNarrow'
import type { TokenFacts } from './token-facts'
import { TokenNumbers } from './TokenNumbers'

/** `facts` null: none is kept. */
export function TokenCard({ facts }: { facts: TokenFacts | null }) {
  const heat = useDisplay((d) => d.heat)
  const narrow = useNarrow()
  if (!facts) {
    return (
      <aside className="token-card">
        <p className="note">{S.trajectory.hint}</p>
      </aside>
    )
  }
  return (
    <aside className="token-card filled" data-testid="token-card" aria-label={facts.position}>
      <TokenNumbers facts={facts} heat={heat} short={narrow} />
    </aside>
  )
}

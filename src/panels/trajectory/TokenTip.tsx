/** The numbers of the token under the pointer or the focus, floating beside it: one element for thousands of tokens. In a chunk of its own. */

import { Tooltip } from '@base-ui/react/tooltip'
import type { Heat } from '../../store/display'
import type { TokenFacts } from './token-facts'
import { TokenNumbers } from './TokenNumbers'

interface TokenTipProps {
  /** The token's element. */
  at: Element
  facts: TokenFacts
  heat: Heat
}

/** Room to the window's edges, in pixels. */
const PADDING = 8

/** Above the token, so that what is read next stays free; below where there is no room. */
export default function TokenTip({ at, facts, heat }: TokenTipProps) {
  // A token may run over two lines: the tip belongs where it begins.
  const anchor = { contextElement: at, getBoundingClientRect: () => at.getClientRects()[0] ?? at.getBoundingClientRect() }
  return (
    <Tooltip.Root open>
      {/* A modal dialog hides whatever is not in it. */}
      <Tooltip.Portal container={at.closest('dialog') ?? undefined}>
        <Tooltip.Positioner className="token-tip-place" anchor={anchor} side="top" align="start" sideOffset={8} alignOffset={-4} collisionPadding={PADDING}>
          <Tooltip.Popup className="token-tip" data-testid="token-tip" role="tooltip">
            <TokenNumbers facts={facts} heat={heat} short />
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

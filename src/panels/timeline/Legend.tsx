/** What the fills of the lanes mean, with each kind's share of the time; and the fills themselves. */

import type { SpanKind } from '../../core/timeline'
import { S } from '../../ui/strings'
import { SHARED } from './sentence'
import type { Shares } from './shares'

const T = S.timeline

/** How a kind is filled: by pattern as well as by colour. */
export const FILLS: Record<SpanKind, string> = {
  sampling: 'var(--accent)',
  prefill: 'url(#timeline-prefill)',
  waiting: 'url(#timeline-waiting)',
  training: 'url(#timeline-training)',
}

export function Patterns() {
  return (
    <svg width="0" height="0" className="timeline-patterns" aria-hidden="true">
      <defs>
        <pattern id="timeline-prefill" width="5" height="5" patternUnits="userSpaceOnUse">
          <rect width="5" height="5" fill="var(--prefill)" />
          <path d="M1 0V5M3.5 0V5" stroke="var(--accent)" strokeWidth="1.2" />
        </pattern>
        <pattern id="timeline-waiting" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" fill="var(--environment)" />
          <path d="M1 0V5M3.5 0V5" stroke="var(--idle)" strokeWidth="1.3" />
        </pattern>
        <pattern id="timeline-training" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect width="6" height="6" fill="var(--training)" />
          <circle cx="3" cy="3" r="1.1" fill="var(--ground)" />
        </pattern>
      </defs>
    </svg>
  )
}

export function Legend({ shares, note }: { shares: Shares; note: string }) {
  return (
    <div className="timeline-legend">
      <ul>
        {SHARED.map((kind) => (
          <li key={kind} title={T.hints[kind]} data-testid={`share-${kind}`}>
            <svg width="18" height="12" aria-hidden="true">
              {kind === 'idle' ? (
                <rect x="0.5" y="0.5" width="17" height="11" className="idle" />
              ) : (
                <rect y={kind === 'waiting' ? 3.5 : 0} width="18" height={kind === 'waiting' ? 5 : 12} fill={FILLS[kind]} />
              )}
            </svg>
            {T.kinds[kind]} <strong>{T.share(shares[kind])}</strong>
          </li>
        ))}
      </ul>
      <span className="note">{note}</span>
    </div>
  )
}

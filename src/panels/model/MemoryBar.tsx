/** Memory by part: one stacked bar against the budget, its numbers below. */

import type { MemoryPlan } from '../../core/plan'
import { bytes } from '../../ui/format'
import { S } from '../../ui/strings'
import { memoryParts } from './memory-parts'

/** `budget` in bytes; null leaves the mark out. */
export function MemoryBar({ plan, budget }: { plan: MemoryPlan; budget: number | null }) {
  const { parts, peak, scale, shared } = memoryParts(plan, budget)
  const share = (value: number) => `${((100 * value) / scale).toFixed(2)}%`
  const label = S.model.memory.label(parts.map((p) => `${S.model.memory.parts[p.id]} ${bytes(p.bytes)}`).join(', '), bytes(peak))
  return (
    <div className="memory" data-testid="memory">
      <div className="memory-bar" role="img" aria-label={label}>
        {parts.map((part) => (
          <span key={part.id} className={`memory-part memory-${part.id}`} style={{ inlineSize: share(part.bytes) }} />
        ))}
        {budget !== null && <span className="memory-mark" style={{ insetInlineStart: share(budget) }} />}
      </div>
      <ul className="memory-parts">
        {parts.map((part) => (
          <li key={part.id}>
            <span className={`memory-swatch memory-${part.id}`} />
            {S.model.memory.parts[part.id]} <span className="memory-number">{bytes(part.bytes)}</span>
          </li>
        ))}
        <li className="memory-peak">
          {S.model.memory.peak(bytes(peak))}
          {shared && <span className="note"> {S.model.memory.freed}</span>}
        </li>
      </ul>
      {budget !== null && (
        <p className="note">
          <span className="memory-tick" /> {S.model.memory.budget(bytes(budget))}
        </p>
      )}
    </div>
  )
}

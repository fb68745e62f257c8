/** Memory by part against the budget: one bar while sampling, one while training, the numbers below. */

import type { MemoryPlan } from '../../core/plan'
import { bytes } from '../../ui/format'
import { S } from '../../ui/strings'
import { memoryBars } from './memory-parts'

/** `budget` in bytes; null leaves the mark out. */
export function MemoryBar({ plan, budget }: { plan: MemoryPlan; budget: number | null }) {
  const words = S.model.memory
  const { phases, parts, scale } = memoryBars(plan, budget)
  const share = (value: number) => `${((100 * value) / scale).toFixed(2)}%`
  const label = words.label(parts.map((p) => `${words.parts[p.id]} ${bytes(p.bytes)}`).join(', '), bytes(plan.peak))
  return (
    <div className="memory" data-testid="memory">
      <div className="memory-bars" role="img" aria-label={label}>
        {phases.map((phase) => (
          <div key={phase.id} className="memory-bar" title={words.phases[phase.id]}>
            {phase.parts.map((part) => (
              <span key={part.id} className={`memory-part memory-${part.id}`} style={{ inlineSize: share(part.bytes) }} />
            ))}
          </div>
        ))}
        {budget !== null && <span className="memory-mark" style={{ insetInlineStart: share(budget) }} />}
      </div>
      <ul className="memory-parts">
        {parts.map((part) => (
          <li key={part.id}>
            <span className={`memory-swatch memory-${part.id}`} />
            {words.parts[part.id]} <span className="memory-number">{bytes(part.bytes)}</span>
          </li>
        ))}
        <li className="memory-peak">
          {words.peak} <span className="memory-number">{bytes(plan.peak)}</span>
        </li>
      </ul>
      <p className="note">{words.turns}</p>
      {budget !== null && (
        <p className="note">
          <span className="memory-tick" /> {words.budget(bytes(budget))}
        </p>
      )}
    </div>
  )
}

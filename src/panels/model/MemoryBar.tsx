/** Memory by part against the budget: one bar while sampling, one while training, and the numbers of both below. */

import type { MemoryPlan } from '../../core/plan'
import { bytes, NONE } from '../../ui/format'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { memoryBars } from './memory-parts'

/** `budget` in bytes of GPU memory; null on WASM, whose memory is the page's own. */
export function MemoryBar({ plan, budget }: { plan: MemoryPlan; budget: number | null }) {
  const words = S.model.memory
  const { phases, parts, scale } = memoryBars(plan, budget)
  const share = (value: number) => `${((100 * value) / scale).toFixed(2)}%`
  return (
    <div className="memory" data-testid="memory">
      <div className="memory-bars" aria-hidden="true">
        {phases.map((phase) => (
          <div key={phase.id} className="memory-bar" title={words.phases[phase.id]}>
            {phase.parts.map((part) => (
              <span key={part.id} className={`memory-part memory-${part.id}`} style={{ inlineSize: share(part.bytes) }} />
            ))}
          </div>
        ))}
        {budget !== null && <span className="memory-mark" style={{ insetInlineStart: share(budget) }} />}
      </div>
      <table className="memory-parts">
        <caption className="note">
          {budget === null ? words.inPage : words.onGpu} <Help of="model:memory" name={words.title} />
        </caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="sr-only">{words.part}</span>
            </th>
            {phases.map(({ id }) => (
              <th key={id} scope="col">
                {words.phases[id]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.id}>
              <th scope="row">
                <span className={`memory-swatch memory-${part.id}`} /> {words.parts[part.id]}
              </th>
              {phases.map(({ id }) => (
                <td key={id}>{part.in.includes(id) ? bytes(part.bytes) : NONE}</td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.peak}</th>
            {phases.map(({ id, total }) => (
              <td key={id}>{bytes(total)}</td>
            ))}
          </tr>
        </tfoot>
      </table>
      {budget !== null && (
        <p className="note">
          <span className="memory-tick" /> {words.budget(bytes(budget))}
        </p>
      )}
    </div>
  )
}

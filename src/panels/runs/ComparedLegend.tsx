/** Which line of the curves is which run; a run is taken out here. */

import { useRun, useStores } from '../../store/hooks'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import type { ComparedRun } from './useCompared'

export function ComparedLegend({ others }: { others: readonly ComparedRun[] }) {
  const { runs } = useStores()
  const begun = useRun((view) => view.history.length > 0)
  const words = S.runs.curves
  if (others.length === 0) return null
  return (
    <ul className="compared" aria-label={words.legend} data-testid="compared">
      <li>
        <Line color="var(--accent)" dash="" /> {begun ? words.present : words.noPresent}
      </li>
      {others.map(({ id, name, history, color, dash }) => (
        <li key={id}>
          <Line color={color} dash={dash} />
          <span className="name">{name}</span>
          <span className="note">{history === null ? words.reading : S.runs.reward(number(history.at(-1)?.metrics['reward']))}</span>
          <button type="button" className="help" aria-label={words.remove(name)} data-testid="compare-remove" onClick={() => runs.compare(id, false)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}

function Line({ color, dash }: { color: string; dash: string }) {
  return (
    <svg viewBox="0 0 26 8" aria-hidden="true">
      <line x1="0" x2="26" y1="4" y2="4" stroke={color} strokeWidth="2" strokeDasharray={dash} />
    </svg>
  )
}

/** Which line of the curves is which run; a run is hidden for a while or taken out here. */

import { useShown, useStores } from '../../store/hooks'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import type { ComparedRun } from './useCompared'

interface ComparedLegendProps {
  others: readonly ComparedRun[]
  /** Ids of the runs that are not drawn for now. */
  hidden: readonly string[]
  onHide: (id: string, hidden: boolean) => void
  /** Id of the run that the others are laid over. */
  present: string
}

export function ComparedLegend({ others, hidden, onHide, present }: ComparedLegendProps) {
  const { runs } = useStores()
  const begun = useShown((view) => view.history.length > 0)
  const words = S.runs.curves
  if (others.length === 0) return null
  const entry = (id: string, name: string) => ({ name, hidden: hidden.includes(id), onHide: (on: boolean) => onHide(id, on) })
  return (
    <ul className="compared" aria-label={words.legend} data-testid="compared">
      <li>
        <Eye {...entry(present, words.present)} />
        <Line color="var(--accent)" dash="" /> {begun ? words.present : words.noPresent}
      </li>
      {others.map(({ id, name, short, history, color, dash }) => (
        <li key={id}>
          <Eye {...entry(id, name)} />
          <Line color={color} dash={dash} />
          {short !== name && <strong style={{ color }}>{short}</strong>}
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

/** Whether a run is drawn: an open eye or a struck one. */
function Eye({ name, hidden, onHide }: { name: string; hidden: boolean; onHide: (hidden: boolean) => void }) {
  return (
    <button type="button" className="eye" aria-label={S.curves.compare.show(name)} aria-pressed={!hidden} data-testid="compare-eye" onClick={() => onHide(!hidden)}>
      <svg viewBox="0 0 16 12" aria-hidden="true">
        <path d="M1 6c3.5-6 10.5-6 14 0-3.5 6-10.5 6-14 0Z" />
        <circle cx="8" cy="6" r="2.2" />
        {hidden && <path d="M2 11.5 14 .5" />}
      </svg>
    </button>
  )
}

function Line({ color, dash }: { color: string; dash: string }) {
  return (
    <svg viewBox="0 0 26 8" aria-hidden="true">
      <line x1="0" x2="26" y1="4" y2="4" stroke={color} strokeWidth="2" strokeDasharray={dash} />
    </svg>
  )
}

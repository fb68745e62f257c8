/** The columns of the dataset row that an episode belongs to, as its reward functions get them. */

import type { EpisodeView } from '../../store/view'
import { S } from '../../ui/strings'

export function RowColumns({ columns }: { columns: NonNullable<EpisodeView['columns']> }) {
  const entries = Object.entries(columns)
  if (entries.length === 0) return null
  return (
    <dl className="trajectory-row" aria-label={S.trajectory.row} data-testid="row-columns">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

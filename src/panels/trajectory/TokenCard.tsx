/** The numbers of the token under the pointer, under the focus, or selected: one card for thousands of tokens. */

import { useTokens } from '../../store/hooks'
import type { LoggedToken } from '../../store/token-log'
import type { EpisodeView } from '../../store/view'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { factsOf } from './token-facts'

interface TokenCardProps {
  token: LoggedToken | null
  position: number
  episode: EpisodeView
  /** Who wrote in the model's place, if not the model. */
  writer?: string | undefined
}

export function TokenCard({ token, position, episode, writer }: TokenCardProps) {
  const log = useTokens()
  if (!token) {
    return (
      <aside className="token-card">
        <p className="note">{S.trajectory.hint}</p>
      </aside>
    )
  }
  const facts = factsOf(token, position, episode.length, episode.advantage, log, writer)
  return (
    <aside className="token-card" data-testid="token-card">
      <p className="token-title">
        <code>{facts.title}</code> <span className="note">{facts.position}</span>
      </p>
      <dl>
        {facts.rows.map((row) => (
          <div key={row.label}>
            <dt>{row.label}</dt>
            <dd>{row.value}</dd>
          </div>
        ))}
      </dl>
      {facts.alternatives.length > 0 && (
        <>
          <h3>{S.trajectory.alternatives}</h3>
          <ol className="alternatives">
            {facts.alternatives.map((option, i) => (
              <li key={i} className={option.sampled ? 'sampled' : ''}>
                <code>{option.text}</code>
                <span className="alternative-bar" style={{ inlineSize: `${option.probability * 100}%` }} />
                <span className="alternative-value">
                  {option.sampled && <span className="note">{S.trajectory.other} </span>}
                  {number(option.probability)}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </aside>
  )
}

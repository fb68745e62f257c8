/** A token's name, its numbers, and the likeliest tokens in its place as bars. */

import type { Heat } from '../../store/display'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import type { TokenFacts } from './token-facts'

interface TokenNumbersProps {
  facts: TokenFacts
  /** The number that colours the tokens stands out. */
  heat: Heat
  /** Numbers alone: what is in the way of reading must be small. */
  short?: boolean
}

export function TokenNumbers({ facts, heat, short = false }: TokenNumbersProps) {
  const rows = short ? facts.rows.filter((row) => !row.plain) : facts.rows
  return (
    <>
      <p className="token-title">
        <code>{facts.title}</code> <span className="note">{short ? `${facts.position} · ${facts.author}` : facts.position}</span>
      </p>
      <dl className="token-rows">
        {rows.map((row) => (
          <div key={row.label} className={row.heat === heat ? 'in-colour' : undefined}>
            <dt>{row.label}</dt>
            <dd>{row.value}</dd>
          </div>
        ))}
      </dl>
      {facts.alternatives.length > 0 && (
        <div className="token-alternatives">
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
        </div>
      )}
    </>
  )
}

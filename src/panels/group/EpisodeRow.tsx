/** One episode of the group: number, strip of tokens by author, what went wrong in it, mark and word. */

import { memo, type MouseEvent } from 'react'
import { useSelection, useStores, useTokens } from '../../store/hooks'
import type { EpisodeView } from '../../store/view'
import { scaleColor, symmetricScale } from '../../ui/colors'
import { S } from '../../ui/strings'
import { outcomeOf } from './outcome'
import { authorRuns } from './runs'

interface EpisodeRowProps {
  episode: EpisodeView | null
  index: number
  /** Place in the group, from 1. */
  place: number
  /** Tokens after the prompt of the longest episode in memory: the width of the strips. */
  longest: number
  /** End of the step's colour scale for advantages. */
  bound: number
  /** The one row that Tab reaches; arrow keys move on. */
  inTabOrder: boolean
}

export const EpisodeRow = memo(function EpisodeRow({ episode, index, place, longest, bound, inTabOrder }: EpisodeRowProps) {
  const { selection } = useStores()
  const selected = useSelection((s) => s.episode === index)
  const pointed = useSelection((s) => s.pointed === index)
  const outcome = episode ? outcomeOf(episode) : null
  const select = () => selection.setState({ episode: index, token: null })
  return (
    <li
      className={`row episode${selected ? ' selected' : ''}${pointed ? ' pointed' : ''}`}
      data-testid={`episode-${index}`}
      data-episode={index}
      data-outcome={outcome?.kind ?? 'pending'}
    >
      <button type="button" className="episode-button" aria-pressed={selected} tabIndex={inTabOrder ? 0 : -1} title={outcome?.why} onClick={select}>
        <span className="sr-only">{S.group.episode(place)}</span>
        <span aria-hidden="true" className="place">
          {place}
        </span>
        <span className="sr-only">{outcome?.word ?? S.group.pending}</span>
      </button>
      {episode ? <Strip episode={episode} longest={longest} bound={bound} /> : <span className="strip" />}
      {episode && <Faults episode={episode} />}
      <span aria-hidden="true" className={`outcome ${outcome?.kind ?? 'pending'}`} title={outcome?.why}>
        <span className="mark">{outcome?.mark}</span> {outcome?.word ?? S.group.pending}
      </span>
    </li>
  )
})

/** Mistakes of the model that are no outcome: each kind with its own sign. */
function Faults({ episode: { parseErrors, toolErrors } }: { episode: EpisodeView }) {
  if (parseErrors + toolErrors === 0) return null
  const faults = [
    { sign: S.group.signs.parse, count: parseErrors, words: S.group.parseErrors(parseErrors) },
    { sign: S.group.signs.tool, count: toolErrors, words: S.group.toolErrors(toolErrors) },
  ]
  return (
    <span className="faults">
      {faults.map(
        ({ sign, count, words }) =>
          count > 0 && (
            <span key={sign} title={words}>
              <span className="sr-only">{words}</span>
              <span aria-hidden="true">
                {sign}
                {count > 1 && count}
              </span>
            </span>
          ),
      )}
    </span>
  )
}

function Strip({ episode, longest, bound }: { episode: EpisodeView; longest: number; bound: number }) {
  const tokens = useTokens()
  const { selection } = useStores()
  const selectedToken = useSelection((s) => (s.episode === episode.index ? s.token : null))
  const { promptLength, length, step, index, advantage } = episode
  const written = length - promptLength
  const runs = authorRuns(tokens.read(step, index), promptLength, length)
  const tint = advantage === null || bound === 0 ? undefined : scaleColor('diverging', symmetricScale(bound).at(advantage))

  // A click takes the token under it; the keyboard's way to a token is the trajectory below.
  const pick = (event: MouseEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const share = box.width === 0 ? 0 : (event.clientX - box.left) / box.width
    const token = promptLength + Math.min(written - 1, Math.max(0, Math.floor(share * written)))
    selection.setState({ episode: index, token: written > 0 ? token : null })
  }
  return (
    <span className="strip">
      <span className="run run-prompt" title={S.group.promptTokens(promptLength)} />
      <span className="runs" style={{ width: `${(100 * written) / Math.max(1, longest)}%` }} onClick={pick}>
        {runs.map(({ author, start, length: tokensInRun }) => (
          <span
            key={start}
            className={`run run-${author}`}
            style={{ flexGrow: tokensInRun, background: author === 'model' ? tint : undefined }}
          />
        ))}
        {selectedToken !== null && selectedToken >= promptLength && selectedToken < length && (
          <span className="strip-cursor" style={{ left: `${(100 * (selectedToken - promptLength + 0.5)) / Math.max(1, written)}%` }} />
        )}
      </span>
    </span>
  )
}

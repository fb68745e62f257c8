/** One episode of the group: number, strip of tokens by author, mark and word. */

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
}

export const EpisodeRow = memo(function EpisodeRow({ episode, index, place, longest, bound }: EpisodeRowProps) {
  const { selection } = useStores()
  const selected = useSelection((s) => s.episode === index)
  const outcome = episode ? outcomeOf(episode) : null
  const select = () => selection.setState({ episode: index, token: null })
  return (
    <li
      className={selected ? 'row episode selected' : 'row episode'}
      data-testid={`episode-${index}`}
      data-outcome={outcome?.kind ?? 'pending'}
    >
      <button type="button" className="episode-button" aria-pressed={selected} title={outcome?.why} onClick={select}>
        <span className="sr-only">{S.group.episode(place)}</span>
        <span aria-hidden="true" className="place">
          {place}
        </span>
        <span className="sr-only">{outcome?.word ?? S.group.pending}</span>
      </button>
      {episode ? <Strip episode={episode} longest={longest} bound={bound} /> : <span className="strip" />}
      <span aria-hidden="true" className={`outcome ${outcome?.kind ?? 'pending'}`}>
        <span className="mark">{outcome?.mark}</span> {outcome?.word ?? S.group.pending}
      </span>
    </li>
  )
})

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
      <span className="run run-prompt" title={`${promptLength} prompt tokens`} />
      <span className="runs" style={{ width: `${(100 * written) / Math.max(1, longest)}%` }} onClick={pick}>
        {runs.map(({ author, start, length: tokensInRun }) => (
          <span
            key={start}
            className={`run run-${author}`}
            style={{ flexGrow: tokensInRun, background: author === 'model' ? tint : undefined }}
          />
        ))}
        {selectedToken !== null && selectedToken >= promptLength && (
          <span className="strip-cursor" style={{ left: `${(100 * (selectedToken - promptLength + 0.5)) / Math.max(1, written)}%` }} />
        )}
      </span>
    </span>
  )
}

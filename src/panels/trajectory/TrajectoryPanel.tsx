/** The selected episode, every token with its author, turn by turn. */

import { type FocusEvent, type KeyboardEvent, type MouseEvent, useState } from 'react'
import { useDisplay, useSelectedEpisode, useSelectedStep, useSelection, useStores, useTokens } from '../../store/hooks'
import type { AnswerView, EpisodeView } from '../../store/view'
import { number } from '../../ui/format'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { outcomeOf } from '../group/outcome'
import { groupOf } from '../group/group-view'
import { advantageBound } from '../rewards/advantage-scale'
import { heatColor, heatScale, heatValue } from './heat'
import { ColourBy, HeatLegend } from './Legend'
import { type Segment, segmentsOf } from './segments'
import { TokenCard } from './TokenCard'
import { TokenText } from './TokenText'
import { TurnPictures } from './TurnPictures'

export function TrajectoryPanel() {
  const episode = useSelectedEpisode()
  const step = useSelectedStep()
  const selected = useSelection((s) => s.step)
  const why = selected !== null && !step ? S.group.gone(selected) : S.trajectory.empty
  return (
    <Panel id="trajectory" title={S.trajectory.title} lead={S.trajectory.lead} aside={<ColourBy />}>
      {episode ? <Trajectory key={`${episode.step}/${episode.index}`} episode={episode} /> : <p className="empty">{why}</p>}
    </Panel>
  )
}

/** The position that an event inside a token belongs to. */
function positionOf(target: EventTarget): number | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-position]') : null
  return element ? Number(element.dataset['position']) : null
}

interface TrajectoryProps {
  episode: EpisodeView
  /** Of an episode that the model did not play: which one it is, and who wrote in the model's place. */
  by?: { summary: string; writer: string }
}

/** An episode with its tokens, from the stores above it. */
export function Trajectory({ episode, by }: TrajectoryProps) {
  const { selection } = useStores()
  const tokens = useTokens().read(episode.step, episode.index)
  const step = useSelectedStep()
  const heat = useDisplay((d) => d.heat)
  const selected = useSelection((s) => s.token)
  const [pointed, setPointed] = useState<number | null>(null)
  const [promptOpen, setPromptOpen] = useState(false)

  const bound = advantageBound(step)
  const scale = heatScale(tokens, heat, episode.advantage, bound)
  const segments = segmentsOf(tokens, episode.promptLength)
  const shown = pointed ?? selected
  // Never a token that is not drawn: Tab would reach none.
  const drawnFrom = promptOpen ? 0 : episode.promptLength
  const tabStop = selected !== null && selected >= drawnFrom && selected < tokens.length ? selected : episode.promptLength

  /** Pressed again, it is let go. */
  const keep = (position: number) => selection.setState({ token: position === selected ? null : position })
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const from = positionOf(event.target)
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (from === null) return
    if (event.key === 'Enter' || event.key === ' ') keep(from)
    else if (event.key === 'Escape' && selected !== null) selection.setState({ token: null })
    else if (by === undefined) return
    else {
      const next = event.currentTarget.querySelector<HTMLElement>(`[data-position="${from + by}"]`)
      next?.focus()
      // A kept token moves along: its numbers stand in the formula.
      if (next && selected === from) selection.setState({ token: from + by })
    }
    event.preventDefault()
  }
  const point = (event: MouseEvent | FocusEvent) => setPointed(positionOf(event.target))
  const select = (event: MouseEvent) => {
    const position = positionOf(event.target)
    if (position !== null) keep(position)
  }

  const drawn = (segment: Segment) =>
    tokens.slice(segment.start, segment.end).map((token, i) => {
      const position = segment.start + i
      return (
        <TokenText
          key={position}
          token={token}
          position={position}
          background={heatColor(scale, heatValue(token, heat, episode.advantage))}
          selected={position === selected}
          inTabOrder={position === tabStop}
          revision={`${token.mask}${token.trainLogprob}`}
        />
      )
    })

  return (
    <div className="trajectory">
      <div className="trajectory-main">
        <Summary episode={episode} of={by?.summary} />
        {/* Pointer and keyboard events of all tokens are taken here: one listener instead of thousands. */}
        <div
          className="segments"
          role="group"
          aria-label={S.trajectory.title}
          onMouseOver={point}
          onMouseLeave={() => setPointed(null)}
          onFocus={point}
          onBlur={() => setPointed(null)}
          onClick={select}
          onKeyDown={move}
        >
          {segments.map((segment) =>
            segment.turn === null ? (
              <div key="prompt" className="segment">
                <span className="segment-name">{S.trajectory.prompt}</span>
                <div className="tokens">
                  <button
                    type="button"
                    className="link"
                    data-testid="toggle-prompt"
                    aria-expanded={promptOpen}
                    onClick={() => setPromptOpen(!promptOpen)}
                  >
                    {promptOpen ? S.trajectory.hidePrompt(segment.end) : S.trajectory.showPrompt(segment.end)}
                  </button>
                  {promptOpen && <div className="prompt-tokens">{drawn(segment)}</div>}
                </div>
                <TurnPictures scene={episode.scene} />
              </div>
            ) : (
              <div key={segment.turn} className="segment">
                <span className="segment-name">
                  {S.trajectory.turn(segment.turn + 1)}
                  <TurnReward episode={episode} turn={segment.turn} />
                </span>
                <div className="tokens">{drawn(segment)}</div>
                <TurnPictures scene={answerTo(episode, segment.turn)?.scene} />
              </div>
            ),
          )}
        </div>
        <HeatLegend scale={scale} writer={by?.writer} />
      </div>
      <TokenCard token={shown === null ? null : (tokens[shown] ?? null)} position={shown ?? 0} episode={episode} writer={by?.writer} />
    </div>
  )
}

/** What the environment said after this turn. */
function answerTo(episode: EpisodeView, turn: number): AnswerView | undefined {
  return episode.answers.find((a) => a.turn === turn)
}

function TurnReward({ episode, turn }: { episode: EpisodeView; turn: number }) {
  const answer = answerTo(episode, turn)
  if (answer?.reward === undefined || answer.reward === null) return null
  return (
    <span className="segment-reward">
      {S.trajectory.reward} {number(answer.reward)}
    </span>
  )
}

/** Which episode this is and how it ended. */
function Summary({ episode, of }: { episode: EpisodeView; of: string | undefined }) {
  const step = useSelectedStep()
  const outcome = outcomeOf(episode)
  const group = step ? groupOf(step, episode.index) : null
  const place = group ? episode.index - group.firstIndex + 1 : episode.index + 1
  return (
    <p className="trajectory-summary">
      {of ?? `Step ${episode.step}`}
      {of === undefined && step && step.groupCount > 1 && group && ` · group ${group.group + 1}`}
      {of === undefined && ` · ${S.group.episode(place).toLowerCase()}`} ·{' '}
      <span className={`outcome ${outcome.kind}`}>
        <span className="mark" aria-hidden="true">
          {outcome.mark}
        </span>{' '}
        {of !== undefined && outcome.kind === 'writing' ? S.environment.yourTurn : outcome.word}
      </span>
      {episode.finished && outcome.why && ` · ${outcome.why}`}
    </p>
  )
}

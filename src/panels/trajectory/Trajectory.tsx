/** An episode with its tokens, from the stores above it: drawn as a chat, coloured, walked through by pointer and keyboard. */

import { type FocusEvent, type KeyboardEvent, lazy, type MouseEvent, Suspense, useMemo, useRef, useState } from 'react'
import { useDisplay, useSelection, useStores, useTokens } from '../../store/hooks'
import type { EpisodeView } from '../../store/view'
import { Help } from '../../ui/Help'
import { Hideable } from '../../ui/Hideable'
import { S } from '../../ui/strings'
import { useNarrow } from '../../ui/useNarrow'
import { FIRST_DRAWN } from './blocks'
import { Jumps } from './Jumps'
import { BlanksSwitch, ColourBy, TrajectoryLegend } from './Legend'
import { segmentsOf } from './segments'
import { RowColumns } from './RowColumns'
import { Summary, TrajectoryEnd } from './Summary'
import { TokenCard } from './TokenCard'
import { factsOf } from './token-facts'
import { Turns } from './Turns'
import { useHeat } from './useHeat'
import { useRoving } from './useRoving'
import { useSteadyHeight, useTextWidth } from './useRoom'

const TokenTip = lazy(() => import('./TokenTip'))

/** Of the monospaced text, in pixels: near enough to keep the room of what is not drawn. */
const TEXT = { character: 7.23, around: 3 }
const LINE = { wide: 22, narrow: 26 }

/** Tokens of a dataset's prompt that is shown without being asked for. */
const SHORT_PROMPT = 300

/** The token that an event is inside of. */
function tokenOf(target: EventTarget): { element: HTMLElement; position: number } | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-position]') : null
  return element && { element, position: Number(element.dataset['position']) }
}

interface TrajectoryProps {
  episode: EpisodeView
  /** Of an episode that the model did not play: which one it is, and who wrote in the model's place. */
  by?: { summary: string; writer: string }
}

export function Trajectory({ episode, by }: TrajectoryProps) {
  const { selection } = useStores()
  const log = useTokens()
  const tokens = log.read(episode.step, episode.index)
  const { length } = tokens
  const selected = useSelection((s) => s.token)
  const lit = useSelection((s) => !by && s.pointed === episode.index)
  const blanks = useDisplay((d) => d.blanks)
  const narrow = useNarrow()
  const [pointed, setPointed] = useState<ReturnType<typeof tokenOf>>(null)
  // Of a dataset the prompt is what differs between groups.
  const [promptOpen, setPromptOpen] = useState(episode.rewardless === true && episode.promptLength <= SHORT_PROMPT)
  const [all, setAll] = useState(false)
  const surface = useRef<HTMLDivElement>(null)

  const view = useHeat(episode, tokens, by === undefined)
  const { heat, scale } = view
  const look = useMemo(() => ({ heat, scale, advantage: episode.advantage, blanks }), [heat, scale, episode.advantage, blanks])
  const segments = useMemo(() => segmentsOf(tokens, episode.promptLength), [tokens, length, episode.promptLength])

  const first = promptOpen ? 0 : episode.promptLength
  const roving = useRoving(surface, first, length - 1, segments)
  const cut = episode.promptLength + FIRST_DRAWN
  const beyond = [selected, roving.active].some((position) => position !== null && position >= cut && position < length)
  const end = all || beyond ? length : Math.min(length, cut)
  const windowed = length - first > FIRST_DRAWN
  const width = useTextWidth(surface, windowed)
  const size = useMemo(() => (windowed ? { ...TEXT, width, line: narrow ? LINE.narrow : LINE.wide } : null), [windowed, width, narrow])
  useSteadyHeight(surface, `${promptOpen} ${end > cut} ${selected === null} ${episode.index}`)

  // Never a token that is not drawn: Tab would reach none.
  const reachable = (position: number | null): position is number => position !== null && position >= first && position < end
  const tabStop = [roving.active, selected].find(reachable) ?? episode.promptLength

  const factsAt = (position: number | null) => {
    const token = position === null ? undefined : tokens[position]
    return token && position !== null ? factsOf(token, position, episode.length, episode.advantage, log, by?.writer) : null
  }
  // On a phone a touch points, too, and the tip would lie on what is touched.
  const mayTip = pointed !== null && (!narrow || pointed.element.matches(':focus-visible'))
  const tipped = mayTip && pointed.position !== selected && pointed.element.isConnected ? pointed : null
  const tip = factsAt(tipped?.position ?? null)

  /** Pressed again, it is let go. */
  const keep = (position: number) => {
    selection.setState({ token: position === selected ? null : position })
    // The card that comes must not lie on it.
    if (position !== selected) roving.reveal(position)
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const from = tokenOf(event.target)?.position
    if (from === undefined) return
    if (event.key === 'Enter' || event.key === ' ') keep(from)
    else if (event.key === 'Escape' && tipped) setPointed(null)
    else if (event.key === 'Escape' && selected !== null) selection.setState({ token: null })
    else {
      const to = roving.target(event, from)
      if (to === null) return
      roving.focus(to)
      // A kept token moves along: its numbers stand in the formula.
      if (selected === from) selection.setState({ token: to })
    }
    event.preventDefault()
  }
  const point = (event: MouseEvent | FocusEvent) => {
    const found = tokenOf(event.target)
    setPointed(found)
    if (found && event.type === 'focus') roving.setActive(found.position)
  }
  const select = (event: MouseEvent) => {
    const found = tokenOf(event.target)
    if (found) keep(found.position)
  }

  return (
    <div className={lit ? 'trajectory pointed' : 'trajectory'} data-episode={by ? undefined : episode.index}>
      {!by && (
        <div className="trajectory-controls">
          <span className="titled">
            <Hideable part="heat">
              <ColourBy />
            </Hideable>
            <Help of="view:heat" name={S.trajectory.colour} />
          </span>
          <span className="titled">
            <BlanksSwitch />
            <Help of="view:blanks" name={S.trajectory.blanks} />
          </span>
          <Jumps tokens={tokens} length={length} revision={log.revision} from={selected ?? roving.active ?? episode.promptLength - 1} onJump={roving.reveal} />
        </div>
      )}
      <TrajectoryLegend view={view} writer={by?.writer} unplayed={episode.rewardless === true && episode.answers.length === 0} />
      <Summary episode={episode} of={by?.summary} />
      {episode.columns && <RowColumns columns={episode.columns} />}
      <div className="trajectory-text">
        {/* Pointer and keyboard events of all tokens are taken here: one listener instead of thousands. */}
        <div
          ref={surface}
          className="segments"
          role="group"
          aria-label={S.trajectory.title}
          onMouseOver={point}
          onMouseLeave={() => setPointed(null)}
          onFocus={point}
          onBlur={() => setPointed(null)}
          onClick={select}
          onKeyDown={press}
        >
          <Turns
            episode={episode}
            tokens={tokens}
            segments={segments}
            end={end}
            promptOpen={promptOpen}
            onTogglePrompt={() => setPromptOpen(!promptOpen)}
            look={look}
            revision={log.revision}
            selected={selected}
            tabStop={tabStop}
            size={size}
            writer={by?.writer}
          />
          {length > cut && (end < length || !beyond) && (
            <p className="trajectory-more">
              {end < length && `${S.trajectory.notDrawn(length - end)} `}
              <button type="button" className="button small" data-testid="show-all" aria-expanded={end === length} onClick={() => setAll(!all)}>
                {end < length ? S.trajectory.showAll(length) : S.trajectory.showFewer}
              </button>
            </p>
          )}
          {end === length && <TrajectoryEnd episode={episode} />}
        </div>
      </div>
      <TokenCard facts={factsAt(selected)} />
      {tip && tipped && (
        <Suspense fallback={null}>
          <TokenTip at={tipped.element} facts={tip} heat={heat} />
        </Suspense>
      )}
    </div>
  )
}

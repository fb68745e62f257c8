/** One GRPO step in slow motion on the page's own panels: the step is played part by part, each with one sentence. */

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { useShownGrpo, useStores } from '../../store/hooks'
import { SLOW_STEP_STRINGS as W } from '../../ui/slow-step-strings'
import '../../ui/slow-step.css'
import { groupOf } from '../group/group-view'
import { BEATS } from './beats'
import { captionsOf, heroOf } from './captions'
import { flightsOf, launch } from './flights'
import { browserTimers, createPlayer } from './player'
import { holdPage, light, watchedStep } from './stage'

/** Without movement the parts wait for the reader. */
const prefersStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches

export default function SlowStep({ onEnd }: { onEnd: () => void }) {
  const stores = useStores()
  const grpo = useShownGrpo()
  const [still] = useState(prefersStill)
  const box = useRef<HTMLElement>(null)
  const [player] = useState(() => createPlayer(BEATS.map(({ ms }) => ms), browserTimers))
  const { beat, playing, ended } = useSyncExternalStore(player.subscribe, player.getView)
  // As it is at the beginning: what is told does not change while it is told.
  const [told] = useState(() => tellStep(stores, grpo))
  const [paused, setPaused] = useState(false)
  const captions = useMemo(() => told && captionsOf(told), [told])
  const part = BEATS[beat]

  useEffect(() => {
    if (told === null) return onEnd()
    const focused = document.activeElement
    const held = holdPage(stores)
    setPaused(held.paused)
    const hero = heroOf(groupOf(told.step, told.episode), told.episode)
    stores.selection.setState({ step: told.step.step, episode: hero?.index ?? told.episode, token: null })
    box.current?.focus()
    if (!still) player.play()
    return () => {
      player.end()
      held.giveBack()
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
    }
    // Once, from opening to closing.
  }, [])

  useEffect(() => {
    if (ended) onEnd()
  }, [ended])

  useEffect(() => {
    if (!part || !told) return
    if (part.id === 'tokens') stores.display.setState({ heat: 'advantage' })
    const dark = light(part, still)
    const group = groupOf(told.step, told.episode)
    const episodes = group.episodes.filter((e) => e !== null)
    const reward = told.history.find((s) => s.step === told.step.step)?.metrics['reward'] ?? null
    // The page may scroll first; what is held shows how the part ends, where nothing flies any more.
    let flown: ReturnType<typeof launch> | null = null
    let due = false
    const start = () => {
      due = true
      if (player.getView().playing) flown ??= launch(flightsOf(part.id, episodes, heroOf(group, told.episode), reward), part.ms)
    }
    const timer = still ? undefined : setTimeout(start, part.ms * START)
    const stop = player.subscribe(() => {
      if (!player.getView().playing) flown?.hold()
      else if (flown) flown.play()
      else if (due) start()
    })
    return () => {
      clearTimeout(timer)
      stop()
      flown?.end()
      dark()
    }
  }, [part])

  useEffect(() => {
    document.documentElement.toggleAttribute('data-slow-held', !playing && !still)
    return () => document.documentElement.removeAttribute('data-slow-held')
  }, [playing])

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = { Escape: player.end, ' ': toggle, ArrowRight: () => player.move(1), ArrowLeft: () => player.move(-1) }[event.key]
      // Space on a button presses it.
      if (!act || event.altKey || event.ctrlKey || event.metaKey || (event.key === ' ' && box.current?.querySelector(':focus') instanceof HTMLButtonElement)) return
      event.preventDefault()
      event.stopImmediatePropagation()
      act()
    }
    // Before the page's own shortcuts, which have the same keys.
    window.addEventListener('keydown', press, { capture: true })
    return () => window.removeEventListener('keydown', press, { capture: true })
  }, [])

  const toggle = () => {
    if (still) player.move(1)
    else if (player.getView().playing) player.hold()
    else player.play()
  }

  if (!captions || !part) return null
  return createPortal(
    <section ref={box} className="slow-step" data-testid="slow-step" data-part={part.id} aria-label={W.title} tabIndex={-1}>
      <p className="slow-caption" aria-live="polite" data-testid="slow-caption">
        {captions[part.id]}
      </p>
      <div className="slow-foot">
        <span className="note">
          {W.title} · {W.part(beat + 1, BEATS.length)}
          {paused && ` · ${W.paused}`}
        </span>
        <span className="slow-buttons">
          <button type="button" className="button small" data-testid="slow-back" disabled={beat === 0} onClick={() => player.move(-1)}>
            {W.back}
          </button>
          {!still && (
            <button type="button" className="button small" data-testid="slow-hold" onClick={toggle}>
              {playing ? W.hold : W.go}
            </button>
          )}
          <button type="button" className="button small" data-testid="slow-next" onClick={() => player.move(1)}>
            {beat === BEATS.length - 1 ? W.end : W.next}
          </button>
          <button type="button" className="button small" data-testid="slow-skip" title={W.keys} onClick={player.end}>
            {W.skip}
          </button>
        </span>
      </div>
      <ol className="slow-progress" aria-hidden="true">
        {BEATS.map(({ id, ms }, i) => (
          <li key={id} className={i < beat ? 'over' : i === beat ? 'now' : ''} style={{ flexGrow: ms }}>
            {i === beat && !still && <span style={{ animationDuration: `${ms}ms` }} />}
          </li>
        ))}
      </ol>
    </section>,
    document.body,
  )
}

/** Share of a part after which its numbers fly. */
const START = 0.25

function tellStep({ shown, selection }: ReturnType<typeof useStores>, grpo: ReturnType<typeof useShownGrpo>) {
  const view = shown.getState()
  const step = watchedStep(view, selection.getState().step)
  return step && { step, episode: selection.getState().episode, log: shown.tokens, history: view.history, grpo }
}

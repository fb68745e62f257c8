/** The tour's box: a question, its answer in the numbers that are in view, and the frame around the element that holds it. Nothing is blocked. */

import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useSelection, useSetup, useShown, useStores, useTokens, useTour } from '../../store/hooks'
import type { SelectionView } from '../../store/selection-store'
import { findStep } from '../../store/view'
import { useNarrow } from '../../ui/useNarrow'
import { TOUR_STRINGS as T } from '../../ui/tour-strings'
import { tourFacts } from './facts'
import { placeBeside } from './placement'
import { focusLater } from '../../ui/focus'
import { headEdge, lineEdge } from '../../ui/edges'
import { bringIntoView, findTarget, Spotlight, useBox } from './Spotlight'
import { TOUR, type TourQuestion } from './tour.data'

/** Room between the box and the window's edges. */
const MARGIN = 16

export function Tour() {
  const { tour } = useStores()
  const at = useTour((view) => Math.min(view.at, TOUR.length - 1))
  const dialog = useRef<HTMLDivElement>(null)
  const narrow = useNarrow()
  useKeys(dialog, at)
  const item = TOUR[at] as (typeof TOUR)[number]
  useStandStill(item)
  const box = useBox(item.target)
  useEffect(() => {
    const element = findTarget(item.target)
    if (element) bringIntoView(beginOf(element, item.from))
  }, [item])
  useEffect(() => {
    dialog.current?.focus({ preventScroll: true })
    return () => focusLater('teach')
  }, [])
  const place = usePlace(dialog, narrow ? 'sheet' : box)
  const facts = useFacts()
  const last = at === TOUR.length - 1
  return (
    <>
      <Spotlight box={box} dim />
      <div ref={dialog} role="dialog" aria-modal="false" aria-label={T.name} tabIndex={-1} className="tour" data-testid="tour" data-question={item.id} style={place}>
        <div className="tour-head">
          <p className="note">{T.place(at + 1, TOUR.length)}</p>
          <button type="button" className="button quiet" aria-label={T.close} title={T.close} data-testid="tour-close" onClick={tour.close}>
            ×
          </button>
        </div>
        <div aria-live="polite" aria-atomic="true">
          <h2>{item.question(facts)}</h2>
          <p data-testid="tour-answer">{box ? item.answer(facts) : T.absent}</p>
        </div>
        <div className="tour-foot">
          <button type="button" className="link" data-testid="tour-never" onClick={tour.never}>
            {T.never}
          </button>
          <span className="tour-moves">
            <button type="button" className="button small" data-testid="tour-back" disabled={at === 0} onClick={() => tour.goTo(at - 1)}>
              {T.back}
            </button>
            <button type="button" className="button small primary" data-testid="tour-next" title={T.keys} onClick={() => (last ? tour.finish() : tour.goTo(at + 1))}>
              {last ? T.finish : T.next}
            </button>
          </span>
        </div>
      </div>
    </>
  )
}

function useFacts() {
  const view = useShown((shown) => shown)
  const tokens = useTokens()
  const step = useSelection((s) => s.step)
  const episode = useSelection((s) => s.episode)
  const prompt = useSetup((s) => s.config.system_prompt)
  return tourFacts({ view, tokens, selection: { step, episode }, prompt })
}

/** The recorded run is held at the end of a step while the tour speaks of it; after it everything is as it was. */
function useStandStill(item: TourQuestion) {
  const { replay, selection, shown } = useStores()
  const before = useRef<{ position: number; playing: boolean; selection: SelectionView } | null>(null)
  useEffect(() => {
    const { playing, position } = replay.store.getState()
    before.current ??= { position, playing, selection: selection.getState() }
    const at = before.current
    if (replay.store.getState().state === 'on') {
      replay.pause()
      replay.seek(item.atEnd ? replay.store.getState().rewards.length : Math.max(1, Math.floor(at.position)))
    }
    const step = findStep(shown.getState(), at.selection.step)
    const picked = step && item.pick?.(step)
    if (typeof picked === 'number') selection.setState({ episode: picked, token: null })
  }, [item, replay, selection, shown])
  useEffect(
    () => () => {
      const at = before.current
      before.current = null
      if (!at) return
      selection.setState({ ...at.selection, step: selection.getState().step })
      if (replay.store.getState().state !== 'on') return
      replay.seek(at.position)
      if (at.playing) replay.play()
    },
    [replay, selection],
  )
}

/** Space and → go on, ← goes back, Escape closes; never from a control that has a use for the key. */
function useKeys(dialog: React.RefObject<HTMLElement | null>, at: number) {
  const { tour } = useStores()
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : document.body
      const mine = dialog.current?.contains(target) ?? false
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || (!mine && target !== document.body)) return
      const pressed = target instanceof HTMLButtonElement
      if (event.key === 'Escape') tour.close()
      else if (event.key === 'ArrowLeft') tour.goTo(Math.max(0, at - 1))
      else if (event.key === 'ArrowRight' || (event.key === ' ' && !pressed)) {
        if (at === TOUR.length - 1) tour.finish()
        else tour.goTo(at + 1)
      } else return
      event.preventDefault()
    }
    window.addEventListener('keydown', hear)
    return () => window.removeEventListener('keydown', hear)
  }, [dialog, at, tour])
}

/** On a phone a sheet at the foot of the window, which its style sheet places. */
function usePlace(dialog: React.RefObject<HTMLElement | null>, box: ReturnType<typeof useBox> | 'sheet') {
  const [place, setPlace] = useState<{ left?: number; top?: number; bottom?: number }>({})
  useLayoutEffect(() => {
    const { current } = dialog
    if (!current) return
    const foot = lineEdge()
    if (box === 'sheet') {
      setPlace({ bottom: Math.max(0, innerHeight - foot) })
      return
    }
    const head = headEdge()
    const room = { left: MARGIN, top: head + MARGIN, width: innerWidth - 2 * MARGIN, height: foot - head - 2 * MARGIN }
    setPlace(placeBeside(box, { width: current.offsetWidth, height: current.offsetHeight }, room))
  }, [dialog, box])
  return place
}

/** The element itself, or where its answer begins in one that is higher than the window has room for. */
function beginOf(element: HTMLElement, from: string | undefined): HTMLElement {
  const begin = from === undefined ? null : element.querySelector<HTMLElement>(from)
  return begin && element.getBoundingClientRect().height > lineEdge() - headEdge() ? begin : element
}

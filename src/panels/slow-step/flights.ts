/** What flies in the slow step: a number of the page from the place where it stands to the place that it makes. */

import { headEdge } from '../../ui/edges'
import { number, signed } from '../../ui/format'
import { signMark } from '../../ui/colors'
import type { EpisodeView } from '../../store/view'
import type { Beat } from './beats'

export interface Flight {
  from: Element
  to: Element
  text: string
  /** For the colour: an advantage above or below zero. */
  sign: -1 | 0 | 1
}

const at = (selector: string) => document.querySelector(selector)

/** The flights of a part, by the elements that the page has now. `hero`: the episode whose numbers are followed; `reward`: the step's mean. */
export function flightsOf(id: Beat['id'], episodes: readonly EpisodeView[], hero: EpisodeView | null, reward: number | null): Flight[] {
  const each = (from: (e: EpisodeView) => string, to: (e: EpisodeView) => string, text: (e: EpisodeView) => string, among = episodes) =>
    among.flatMap((e) => fly(at(from(e)), at(to(e)), text(e), Math.sign(e.advantage ?? 0) as -1 | 0 | 1))
  const scored = episodes.filter((e) => e.reward !== null)
  const moved = scored.filter((e) => e.advantage !== null && e.advantage !== 0)
  const advantage = (e: EpisodeView) => `${signMark(e.advantage ?? 0)}${signed(e.advantage)}`
  const rewards = (e: EpisodeView, part: string) => `[data-testid="reward-${e.index}"] ${part}`
  const row = (e: EpisodeView, part: string) => `[data-testid="episode-${e.index}"] ${part}`
  switch (id) {
    case 'rewards':
      return each((e) => row(e, '.outcome'), (e) => rewards(e, '.bar-track'), (e) => number(e.reward), scored).map((flight) => ({ ...flight, sign: 0 }))
    case 'advantages':
      return each((e) => rewards(e, '.bar-track'), (e) => rewards(e, '.advantage'), advantage, moved)
    case 'tokens':
      return each((e) => rewards(e, '.advantage'), (e) => row(e, '.runs'), advantage, moved)
    case 'formula':
      return hero === null ? [] : each((e) => row(e, '.runs'), () => '[data-testid="formula-numbers"]', advantage, [hero])
    case 'curve':
      return reward === null ? [] : fly(at('[data-testid="panel-rewards"] .mean-line'), at('[data-testid="reward-curve"]'), number(reward), 0)
    case 'prompt':
    case 'episodes':
      return []
  }
}

function fly(from: Element | null, to: Element | null, text: string, sign: Flight['sign']): Flight[] {
  return from !== null && to !== null ? [{ from, to, text, sign }] : []
}

const inView = ({ left, right, top, bottom }: DOMRect) => right > 0 && bottom > headEdge() && left < innerWidth && top < innerHeight

/** Lets them fly, one a little after the other, within `ms`; those that would leave what is free of the window stay. Returns what holds, goes on and ends them. */
export function launch(flights: readonly Flight[], ms: number): { hold(): void; play(): void; end(): void } {
  const flying = flights.flatMap((flight, i) => {
    const [a, b] = [flight.from.getBoundingClientRect(), flight.to.getBoundingClientRect()]
    if (!inView(a) || !inView(b)) return []
    const element = document.createElement('span')
    element.className = `slow-flight${flight.sign > 0 ? ' above' : flight.sign < 0 ? ' below' : ''}`
    element.setAttribute('aria-hidden', 'true')
    element.textContent = flight.text
    document.body.append(element)
    const delay = (0.35 * ms * i) / Math.max(1, flights.length)
    const place = (box: DOMRect) => `translate(${box.left + box.width / 2}px, ${box.top + box.height / 2}px) translate(-50%, -50%)`
    const frames = [
      { transform: place(a), opacity: 0, offset: 0 },
      { transform: place(a), opacity: 1, offset: 0.12 },
      { transform: place(b), opacity: 1, offset: 0.88 },
      { transform: place(b), opacity: 0, offset: 1 },
    ]
    const animation = element.animate(frames, { duration: 0.5 * ms, delay, easing: 'ease-in-out', fill: 'both' })
    animation.onfinish = () => element.remove()
    return [{ element, animation }]
  })
  return {
    hold: () => flying.forEach(({ animation }) => animation.playState === 'running' && animation.pause()),
    play: () => flying.forEach(({ animation }) => animation.playState === 'paused' && animation.play()),
    end: () => flying.forEach(({ element }) => element.remove()),
  }
}

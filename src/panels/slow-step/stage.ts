/** Makes the page ready for the slow step, and gives everything back as it was: what is selected, the replay or the run, the colours, the place on the page. */

import type { Stores } from '../../store/hooks'
import { isActive, type RunView, type StepView } from '../../store/view'
import { toItsTop } from '../../ui/edges'
import type { Beat } from './beats'

/** The step that is looked at, if it is finished and its episodes are kept; else the newest that is. */
export function watchedStep(view: Pick<RunView, 'steps'>, selected: number | null): StepView | null {
  const finished = view.steps.filter((step) => step.finished && step.episodes.length > 0)
  return finished.find((step) => step.step === selected) ?? finished.at(-1) ?? null
}

/** Holds what moves, so that the step stays. `paused`: a run was. */
export function holdPage({ run, replay, selection, display, controller }: Stores): { paused: boolean; giveBack(): void } {
  const { step, episode, token } = selection.getState()
  const { heat, only } = display.getState()
  const replayed = replay.store.getState().playing
  const before = run.getState().run
  const paused = replay.store.getState().state !== 'on' && isActive(before)
  const scroll = { left: scrollX, top: scrollY }
  if (replayed) replay.pause()
  if (paused) controller.pause()
  display.setState({ only: 'all' })
  return {
    paused,
    giveBack() {
      selection.setState({ step, episode, token })
      display.setState({ heat, only })
      scrollTo(scroll)
      if (replayed) replay.play()
      if (paused) goOn()
    },
  }

  /** A pause that was asked for may not have come yet. */
  function goOn() {
    const again = () => {
      if (before.state === 'running' && before.until !== 'limit') controller.step()
      else controller.train()
      // Both go to the newest step.
      selection.setState({ step })
    }
    if (run.getState().run.state === 'paused') return again()
    if (run.getState().run.state !== 'pausing') return
    const stop = run.subscribe(({ run: now }) => {
      if (now.state === 'pausing') return
      stop()
      if (now.state === 'paused') again()
    })
  }
}

/** Marks what the part is about, dims the rest and brings what it shows into view. Returns what takes the marks away. */
export function light({ id, about, shows }: Beat, still: boolean): () => void {
  const root = document.documentElement
  const lit = about.flatMap((testId) => document.querySelector<HTMLElement>(`[data-testid="${testId}"]`) ?? [])
  root.dataset['slow'] = id
  for (const element of lit) element.dataset['slowLit'] = ''
  if (lit[0]) toItsTop(lit[0])
  const shown = (shows === undefined ? null : document.querySelector<HTMLElement>(shows)) ?? lit[0]
  if (shown) shown.dataset['slowShown'] = ''
  shown?.scrollIntoView({ block: 'nearest', inline: 'start', behavior: still ? 'auto' : 'smooth' })
  return () => {
    delete root.dataset['slow']
    for (const element of lit) delete element.dataset['slowLit']
    delete shown?.dataset['slowShown']
  }
}

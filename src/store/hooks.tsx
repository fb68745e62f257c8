/** The stores as React sees them: one context, one hook per store. Selectors must return stable references. */

import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { useStore } from 'zustand'
import type { GrpoConfig } from '../core/config'
import type { Account, AccountView } from './account-store'
import type { Chat, ChatView } from './chat-store'
import type { Compare, CompareView } from './compare-store'
import type { Controller, EnginePort } from './controller'
import type { Display, DisplayStore, PanelThatOpens } from './display'
import type { Guard, GuardView } from './guard-store'
import { isHidden } from './hide'
import type { LessonProgress, Progress } from './lesson-progress'
import type { Lessons } from './lesson-store'
import { needsLoad } from './model-settings'
import { type AskedExamination, examinationKey, type Examinations } from './examination-store'
import type { ModelStore, ModelView } from './model-store'
import type { Play, PlayView } from './play-store'
import type { Replay, ReplayView } from './replay'
import type { RunStore } from './run-store'
import type { Runs, RunsView } from './runs-store'
import type { SelectionStore, SelectionView } from './selection-store'
import type { SetupStore, SetupView } from './setup-store'
import type { Shown } from './shown'
import type { TakeAway, TakeAwayView } from './take-away-store'
import type { TokenLog } from './token-log'
import type { Tour, TourView } from './tour-store'
import { findStep, type EpisodeView, type RunView, type StepView } from './view'

export interface Stores {
  /** The run in the worker: what the controls, the scripting handle and all that is kept speak of. */
  run: RunStore
  /** What the panels draw: the run, or the recorded one before there is any. */
  shown: Shown
  replay: Replay
  setup: SetupStore
  selection: SelectionStore
  display: DisplayStore
  lessons: Lessons
  progress: LessonProgress
  tour: Tour
  models: ModelStore
  chat: Chat
  play: Play
  examinations: Examinations
  compare: Compare
  guard: Guard
  runs: Runs
  takeAway: TakeAway
  account: Account
  controller: Controller
  /** The worker, for stores that are made when they are first wanted. */
  worker: EnginePort
}

const Context = createContext<Stores | null>(null)

export function StoresProvider({ stores, children }: { stores: Stores; children: ReactNode }) {
  return <Context.Provider value={stores}>{children}</Context.Provider>
}

export function useStores(): Stores {
  const stores = useContext(Context)
  if (!stores) throw new Error('useStores needs a StoresProvider above it')
  return stores
}

export function useRun<T>(selector: (view: RunView) => T): T {
  const { run } = useStores()
  return useStore({ getState: run.getState, getInitialState: run.getState, subscribe: run.subscribe }, selector)
}

/** Of what the panels draw, which may be the recorded run; controls use `useRun`. */
export function useShown<T>(selector: (view: RunView) => T): T {
  const { shown } = useStores()
  return useStore({ getState: shown.getState, getInitialState: shown.getState, subscribe: shown.subscribe }, selector)
}

export function useReplay<T>(selector: (view: ReplayView) => T): T {
  return useStore(useStores().replay.store, selector)
}

export function useSetup<T>(selector: (view: SetupView) => T): T {
  return useStore(useStores().setup, selector)
}

export function useModels<T>(selector: (view: ModelView) => T): T {
  return useStore(useStores().models, selector)
}

export function useChat<T>(selector: (view: ChatView) => T): T {
  return useStore(useStores().chat.store, selector)
}

export function useCompare<T>(selector: (view: CompareView) => T): T {
  return useStore(useStores().compare.store, selector)
}

export function useGuard<T>(selector: (view: GuardView) => T): T {
  return useStore(useStores().guard.store, selector)
}

export function usePlay<T>(selector: (view: PlayView) => T): T {
  return useStore(useStores().play.store, selector)
}

export function useRuns<T>(selector: (view: RunsView) => T): T {
  return useStore(useStores().runs.store, selector)
}

export function useTakeAway<T>(selector: (view: TakeAwayView) => T): T {
  return useStore(useStores().takeAway.store, selector)
}

export function useAccount<T>(selector: (view: AccountView) => T): T {
  return useStore(useStores().account.store, selector)
}

export function useSelection<T>(selector: (view: SelectionView) => T): T {
  return useStore(useStores().selection, selector)
}

export function useDisplay<T>(selector: (view: Display) => T): T {
  return useStore(useStores().display, selector)
}

/** Whether a part of the page, by its name in hide.ts, is hidden. Never while a person's consent is waited for that is given there. */
export function useHidden(part: string): boolean {
  const hidden = useDisplay(({ hide }) => hide.length > 0 && isHidden(hide, part))
  const needed = useSetup((s) => (s.awaitsConsent && (part === 'task' || part === 'environment')) || (needsLoad(s) && (part === 'task' || part === 'model')))
  return hidden && !needed
}

/** Whether a panel that opens is open, and how to change that: it is in the page's link. */
export function useOpen(panel: PanelThatOpens): [boolean, (open: boolean) => void] {
  const { display } = useStores()
  const open = useDisplay((d) => d.open.includes(panel))
  return [open, (next) => display.setState(({ open: all }) => ({ open: next ? [...all.filter((each) => each !== panel), panel].sort() : all.filter((each) => each !== panel) }))]
}

/** What was asked of the model about an episode of the run; null for nothing. */
export function useAskedExamination(step: number, index: number): AskedExamination | null {
  return useStore(useStores().examinations.store, (view) => view[examinationKey(step, index)] ?? null)
}

export function useTour<T>(selector: (view: TourView) => T): T {
  return useStore(useStores().tour.store, selector)
}

export function useProgress<T>(selector: (progress: Progress) => T): T {
  return useStore(useStores().progress.store, selector)
}

export function useTokens(): TokenLog {
  return useStores().shown.tokens
}

/** GRPO's settings of the run that is shown: a recording has its own, and settings that were only just changed are not in use yet. */
export function useShownGrpo(): GrpoConfig {
  const recorded = useShown((view) => view.recorded?.grpo ?? null)
  const own = useSetup((s) => (s.applied ?? s.config).grpo)
  return recorded ?? own
}

/** The step that is looked at; null when none has begun or its episodes are no longer kept. */
export function useSelectedStep(): StepView | null {
  const selected = useSelection((s) => s.step)
  return useShown((view) => findStep(view, selected))
}

/** An empty step in the shape of the settings: what the first step will fill. */
export function usePlannedStep(): StepView {
  const { num_generations, prompts_per_step } = useSetup((s) => s.config.grpo)
  const episodeCount = num_generations * prompts_per_step
  return useMemo(
    () => ({ step: 0, groupCount: prompts_per_step, episodeCount, episodes: [], groups: null, training: null, finished: false }),
    [prompts_per_step, episodeCount],
  )
}

/** The episode that is looked at; null while it has not begun. */
export function useSelectedEpisode(): EpisodeView | null {
  const step = useSelectedStep()
  const index = useSelection((s) => s.episode)
  return step?.episodes.find((e) => e.index === index) ?? null
}

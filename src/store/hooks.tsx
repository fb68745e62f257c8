/** The stores as React sees them: one context, one hook per store. Selectors must return stable references. */

import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { useStore } from 'zustand'
import type { GrpoConfig } from '../core/config'
import type { Account, AccountView } from './account-store'
import type { Chat, ChatView } from './chat-store'
import type { Controller } from './controller'
import type { Display, DisplayStore } from './display'
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
  models: ModelStore
  chat: Chat
  play: Play
  runs: Runs
  takeAway: TakeAway
  account: Account
  controller: Controller
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

/** The page as the open lesson's cards read it, and how a card brings the page into its state. */

import { useEffect, useMemo } from 'react'
import type { AnswerValue } from '../../store/lesson-progress'
import { type Stores, useProgress, useReplay, useRun, useSelection, useSetup, useShown, useStores, useTokens } from '../../store/hooks'
import type { LessonId } from '../../store/lessons'
import { type Card, finishedStep, type Scene } from './card'
import { type Progress, progressOf } from './wants'

/** What cards read. */
export function sceneOf({ shown, setup, selection, progress }: Pick<Stores, 'shown' | 'setup' | 'selection' | 'progress'>, lesson: LessonId): Scene {
  const view = shown.getState()
  const { config, applied } = setup.getState()
  const earlier: Record<string, AnswerValue> = {}
  for (const [card, answer] of Object.entries(progress.store.getState()[lesson] ?? {})) earlier[card] = answer.was
  return { view, tokens: shown.tokens, settings: (view.recorded ?? applied ?? config).grpo, selection: selection.getState(), earlier }
}

/** The same, renewed with everything that it reads. */
export function useScene(lesson: LessonId): Scene {
  const stores = useStores()
  const view = useShown((v) => v)
  const tokens = useTokens()
  const selection = useSelection((s) => s)
  const setup = useSetup((s) => s)
  const answers = useProgress((p) => p[lesson])
  // What it reads, it reads through the stores.
  return useMemo(() => sceneOf(stores, lesson), [stores, lesson, view, tokens, selection, setup, answers])
}

/** What a card waits for; null where it wants nothing trained. */
export function useWants(card: Card): Progress | null {
  const view = useRun((v) => v)
  const config = useSetup((s) => s.config)
  const applied = useSetup((s) => s.applied)
  return card.wants ? progressOf(card.wants, { config, applied, view }) : null
}

/** Brings the page into the card's state: once when it comes into view, and again when what it waited for has come. */
export function useLook(lesson: LessonId, card: Card, ready: boolean): void {
  const stores = useStores()
  const recording = useReplay(({ state }) => state === 'on')
  const steps = useShown((view) => view.history.length > 0)
  useEffect(() => {
    const { replay, selection, display } = stores
    if (!ready) return
    if (recording && card.at !== undefined && replay.store.getState().position !== card.at) {
      replay.pause()
      replay.seek(card.at)
    }
    if (card.heat) display.setState({ heat: card.heat })
    const scene = sceneOf(stores, lesson)
    // A run that goes on must not take the step away that a question is about.
    const step = finishedStep(scene)
    const pick = card.pick?.(scene)
    if (pick) selection.setState({ episode: pick.episode, token: pick.token ?? null, ...(!recording && step && { step: step.step }) })
  }, [stores, lesson, card, ready, recording, steps])
}

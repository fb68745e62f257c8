/** What a lesson is made of: cards, each with what the page shows for it, what must be trained first, and a question whose answer is read off the page. */

import type { GrpoConfig } from '../../core/config'
import type { Heat } from '../../store/display'
import type { AnswerValue } from '../../store/lesson-progress'
import type { LessonId } from '../../store/lessons'
import type { SettingKey, SettingValue } from '../../store/settings'
import type { LoggedToken, TokenLog } from '../../store/token-log'
import { type EpisodeView, findStep, type RunView, type StepView } from '../../store/view'
import { groupOf, type GroupView } from '../group/group-view'

/** The page as a card reads it: the recorded run, or the one in the worker. */
export interface Scene {
  view: RunView
  tokens: TokenLog
  /** That made what is shown. */
  settings: GrpoConfig
  selection: { step: number | null; episode: number; token: number | null }
  /** What the earlier questions of this lesson brought, by card. */
  earlier: Readonly<Record<string, AnswerValue>>
}

export type Question = {
  ask: string
  /** Tells what came of it; null while the page does not know. */
  reveal: string | null
} & (
  | { kind: 'choice'; options: readonly { id: string; text: string }[]; answer: string | null }
  /** `exact`: to be computed, and right or not; else a guess. `tolerance`: what counts as right. */
  | { kind: 'numbers'; labels: readonly string[]; exact: boolean; tolerance: number; answer: readonly number[] | null; /** Remembered beside the answer, for later cards. */ more?: readonly number[] }
)

export interface Drawn {
  text: string
  question: Question | null
}

/** What must have been trained before the page knows the answer. */
export interface Wants {
  environment?: 'lane' | 'echo'
  settings: Partial<Record<SettingKey, SettingValue>>
  steps: number
}

/** Parts of the page that a question would be answered by. Each has its rules in teach.css. */
export type Cover = 'statistics' | 'advantages' | 'rewards' | 'reasons' | 'numbers' | 'push' | 'facts' | 'signal'

export interface Card {
  id: string
  /** Place in the recorded run, where it is shown. */
  at?: number
  heat?: Heat
  /** Test id of the part of the page that it speaks of. */
  show?: string
  wants?: Wants
  /** Until it is answered. */
  covers?: readonly Cover[]
  /** What is selected for it. */
  pick?(scene: Scene): { episode: number; token?: number | null } | null
  draw(scene: Scene): Drawn
}

export interface Lesson {
  id: LessonId
  cards: readonly Card[]
}

/** The newest step that is finished and whose episodes are all there; of a step that is looked at, that one. */
export function finishedStep({ view, selection }: Scene): StepView | null {
  const looked = selection.step === null ? view.steps.findLast(({ finished }) => finished) : findStep(view, selection.step)
  return looked?.finished && looked.episodes.length === looked.episodeCount ? looked : null
}

/** All groups of a step. */
export function groupsOf(step: StepView): GroupView[] {
  const size = step.episodeCount / Math.max(1, step.groupCount)
  return Array.from({ length: step.groupCount }, (_, group) => groupOf(step, group * size))
}

/** The rewards of a group's episodes, where all have one. */
export function rewardsOf({ episodes }: GroupView): number[] | null {
  const rewards = episodes.flatMap((episode) => episode?.reward ?? [])
  return rewards.length === episodes.length ? rewards : null
}

/** The selected episode of a step, with its tokens. */
export function selectedOf({ tokens, selection }: Scene, step: StepView): { episode: EpisodeView; log: readonly LoggedToken[] } | null {
  const episode = step.episodes.find(({ index }) => index === selection.episode)
  return episode ? { episode, log: tokens.read(step.step, episode.index) } : null
}

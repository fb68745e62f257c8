/** What a pupil predicted and what came, question by question; kept in this browser alone. */

import { z } from 'zod/mini'
import { createStore, type StoreApi } from 'zustand/vanilla'
import { readKept, writeKept } from './kept'
import type { LessonId } from './lessons'

const NAME = 'grpo-playground.lessons'

const valueSchema = z.union([z.string(), z.array(z.number())])

const answerSchema = z.object({
  /** What the pupil said: an option, or numbers. */
  said: valueSchema,
  /** What the run's own numbers say. */
  was: valueSchema,
  /** The sentence that told it. */
  words: z.string(),
})
export type Answer = z.infer<typeof answerSchema>
/** An option, or numbers. */
export type AnswerValue = Answer['said']

const progressSchema = z.record(z.string(), z.record(z.string(), answerSchema))
/** Answers by lesson and card. */
export type Progress = z.infer<typeof progressSchema>

export interface LessonProgress {
  readonly store: StoreApi<Progress>
  answer(lesson: LessonId, card: string, answer: Answer): void
  /** Takes an answer back, to try again. */
  forget(lesson: LessonId, card: string): void
}

export function createLessonProgress(): LessonProgress {
  const store = createStore<Progress>(() => readKept(NAME, progressSchema, {}))
  const set = (lesson: LessonId, change: (cards: Progress[string]) => Progress[string]) => {
    const all = store.getState()
    store.setState({ ...all, [lesson]: change(all[lesson] ?? {}) }, true)
    writeKept(NAME, store.getState())
  }
  return {
    store,
    answer: (lesson, card, answer) => set(lesson, (cards) => ({ ...cards, [card]: answer })),
    forget: (lesson, card) => set(lesson, ({ [card]: _gone, ...rest }) => rest),
  }
}

// @vitest-environment happy-dom
import { beforeEach, expect, it } from 'vitest'
import { createLessonProgress } from './lesson-progress'

beforeEach(() => localStorage.clear())

it('keeps what was predicted beside what came, and lets one be tried again', () => {
  const progress = createLessonProgress()
  progress.answer('one-step', 'mean', { said: [0.4], was: [0.5], words: 'It is 0.5.' })
  progress.answer('one-step', 'push', { said: 'up', was: 'up', words: 'Up.' })
  expect(createLessonProgress().store.getState()['one-step']?.['mean']).toEqual({ said: [0.4], was: [0.5], words: 'It is 0.5.' })
  progress.forget('one-step', 'mean')
  expect(Object.keys(createLessonProgress().store.getState()['one-step'] ?? {})).toEqual(['push'])
})

it('what is kept in another shape counts for nothing', () => {
  localStorage.setItem('grpo-playground.lessons', '{"one-step":{"mean":{"said":5}}}')
  expect(createLessonProgress().store.getState()).toEqual({})
})

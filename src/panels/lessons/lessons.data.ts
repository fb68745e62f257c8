/** All lessons, in the order in which they are offered. */

import { LESSON_IDS, type LessonId } from '../../store/lessons'
import type { Lesson } from './card'
import { clipping } from './cards/clipping'
import { masking } from './cards/masking'
import { oneStep } from './cards/one-step'
import { rewardHacking } from './cards/reward-hacking'
import { temperature } from './cards/temperature'
import { whyGroups } from './cards/why-groups'
import { zeroVariance } from './cards/zero-variance'

const BY_ID: Record<LessonId, Lesson> = {
  'one-step': oneStep,
  'why-groups': whyGroups,
  masking,
  'reward-hacking': rewardHacking,
  'zero-variance': zeroVariance,
  clipping,
  temperature,
}

export const LESSONS: readonly Lesson[] = LESSON_IDS.map((id) => BY_ID[id])

export const lessonById = (id: LessonId): Lesson => BY_ID[id]

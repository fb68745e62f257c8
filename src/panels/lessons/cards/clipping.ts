/** Lesson: clipping with several updates on one batch. One update never clips; four are trained by the pupil. */

import { ratioLogprobs } from '../../../store/token-log'
import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { visibleText } from '../../trajectory/token-facts'
import { explainToken, stepLoss, type TokenNumbers } from '../../update/explain'
import { type Drawn, finishedStep, type Lesson, type Scene, selectedOf, type Wants } from '../card'

const L = LESSON_STRINGS.clipping
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }
const FOUR: Wants = { environment: 'lane', settings: { num_iterations: 4 }, steps: 3 }

/** What the loss makes of the selected token. */
function selectedNumbers(scene: Scene): (TokenNumbers & { text: string }) | null {
  const step = finishedStep(scene)
  const selected = step && selectedOf(scene, step)
  const position = scene.selection.token ?? -1
  const token = selected?.log[position]
  if (!step || !selected || !token) return null
  const found = explainToken(token, position, selected.episode, stepLoss(step, scene.tokens, scene.settings), true, scene.settings)
  return found.kind === 'numbers' ? { ...found, text: visibleText(token.text) } : null
}

/** The token of the step whose ratio is furthest from 1, in an episode that pushes. */
export function furthestOf(scene: Scene): { episode: number; token: number } | null {
  const step = finishedStep(scene)
  if (!step) return null
  let furthest: { episode: number; token: number; distance: number } | null = null
  for (const { index, advantage } of step.episodes) {
    if (!advantage) continue
    for (const [token, logged] of scene.tokens.read(step.step, index).entries()) {
      const ratio = ratioLogprobs(logged)
      if (logged.mask === 0 || ratio === null) continue
      const distance = Math.abs(ratio.now - ratio.old)
      if (!furthest || distance > furthest.distance) furthest = { episode: index, token, distance }
    }
  }
  return furthest
}

export const clipping: Lesson = {
  id: 'clipping',
  cards: [
    {
      id: 'one',
      at: 2,
      show: 'formula',
      covers: ['numbers', 'facts'],
      pick: furthestOf,
      draw(scene) {
        const found = selectedNumbers(scene)
        if (!found || found.update !== 'only') return NOTHING
        return {
          text: L.one.text(found.text),
          question: { kind: 'numbers', ask: L.one.ask, labels: [L.one.label], exact: true, tolerance: 0.001, answer: [found.term.ratio], reveal: L.one.reveal(found.term.ratio) },
        }
      },
    },
    {
      id: 'bound',
      at: 2,
      show: 'formula',
      draw({ settings }) {
        const bound = 1 + (settings.epsilon_high ?? settings.epsilon)
        return {
          text: L.bound.text(settings.epsilon),
          question: { kind: 'numbers', ask: L.bound.ask, labels: [L.bound.label], exact: true, tolerance: 0.001, answer: [bound], reveal: L.bound.reveal(bound) },
        }
      },
    },
    {
      id: 'four',
      show: 'panel-curves',
      wants: FOUR,
      draw({ view }) {
        const third = view.history.find(({ step }) => step === FOUR.steps)
        const share = third?.metrics['clip_ratio/region_mean'] ?? null
        return {
          text: L.four.text,
          question: {
            kind: 'numbers',
            ask: L.four.ask,
            labels: [L.four.label],
            exact: false,
            tolerance: 1,
            answer: share === null ? null : [100 * share],
            reveal: share === null ? null : L.four.reveal(share, FOUR.steps),
          },
        }
      },
    },
    {
      id: 'furthest',
      heat: 'ratio',
      show: 'formula',
      wants: FOUR,
      covers: ['numbers'],
      pick: furthestOf,
      draw(scene) {
        const found = selectedNumbers(scene)
        if (!found) return NOTHING
        const { ratio, clip } = found.term
        if (!clip) return NOTHING
        const { branch } = clip
        const options = Object.entries(L.furthest.options).map(([id, text]) => ({ id, text }))
        return { text: L.furthest.text(found.text, ratio, found.advantage), question: { kind: 'choice', ask: L.furthest.ask, options, answer: branch, reveal: L.furthest.reveal[branch] } }
      },
    },
  ],
}

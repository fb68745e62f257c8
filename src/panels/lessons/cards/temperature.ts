/** Lesson: temperature and exploration. One step at 0.3 and one at 2, beside the recorded one at 1. */

import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { visibleText } from '../../trajectory/token-facts'
import { type Card, type Drawn, finishedStep, type Lesson, type Scene } from '../card'
import { usefulOf } from './why-groups'

const L = LESSON_STRINGS.temperature
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }

/** What is listed has at least this probability together. */
const MOST = 0.9

/** The likeliest option's share when every probability is raised to 1 ÷ temperature and all are scaled to add up to 1. */
export function likeliestAt(probs: readonly number[], temperature: number): number {
  const raised = probs.map((prob) => prob ** (1 / temperature))
  return Math.max(...raised) / raised.reduce((sum, prob) => sum + prob, 0)
}

/** The token of the step at which the model was least decided, of those where nearly all it might write is listed. */
function leastDecided(scene: Scene) {
  const step = finishedStep(scene)
  let least: { episode: number; token: number; text: string; probs: number[] } | null = null
  for (const { index } of step?.episodes ?? []) {
    for (const [token, { text, mask, top }] of scene.tokens.read(step?.step ?? 0, index).entries()) {
      const probs = top?.map(({ prob }) => prob) ?? []
      if (mask === 0 || probs.length < 2 || probs.reduce((sum, prob) => sum + prob, 0) < MOST) continue
      if (!least || Math.max(...probs) < Math.max(...least.probs)) least = { episode: index, token, text, probs }
    }
  }
  return least
}

/** Of the run's first step: groups with a signal, mean reward, entropy. */
function firstOf(scene: Scene) {
  const groups = usefulOf(scene)
  const { reward = null, entropy = null } = scene.view.history[0]?.metrics ?? {}
  return groups && reward !== null && entropy !== null ? { ...groups, reward, entropy } : null
}

/** A card that plays the first step at another temperature. */
function trained(id: 'cold' | 'hot', temperature: number): Card {
  const words = L[id]
  return {
    id,
    show: 'panel-group',
    covers: ['signal'],
    wants: { environment: 'lane', settings: { temperature }, steps: 1 },
    draw(scene) {
      const found = firstOf(scene)
      const one = scene.earlier['one']
      return {
        text: words.text,
        question: {
          kind: 'numbers',
          ask: words.ask,
          labels: [words.label],
          exact: false,
          tolerance: 0,
          answer: found ? [found.useful] : null,
          reveal: found ? L.reveal(found.useful, found.groups, found.reward, found.entropy, Array.isArray(one) && one.length === 3 ? one : null) : null,
        },
      }
    },
  }
}

export const temperature: Lesson = {
  id: 'temperature',
  cards: [
    {
      id: 'sharper',
      at: 1,
      heat: 'entropy',
      show: 'panel-trajectory',
      pick: leastDecided,
      draw(scene) {
        const found = leastDecided(scene)
        if (!found) return NOTHING
        const [now, sharp] = [likeliestAt(found.probs, 1), likeliestAt(found.probs, 0.5)]
        return {
          text: L.sharper.text(visibleText(found.text), Math.max(...found.probs), found.probs.length),
          question: {
            kind: 'numbers',
            ask: L.sharper.ask(found.probs.length),
            labels: [L.sharper.label],
            exact: false,
            tolerance: 3,
            answer: [100 * sharp],
            reveal: L.sharper.reveal(sharp, now),
          },
        }
      },
    },
    {
      id: 'one',
      at: 1,
      show: 'panel-group',
      covers: ['signal'],
      draw(scene) {
        const found = firstOf(scene)
        if (!found || scene.settings.temperature !== 1) return NOTHING
        const { useful, groups, reward, entropy } = found
        return {
          text: L.one.text(scene.view.history[0]?.step ?? 1),
          question: { kind: 'numbers', ask: L.one.ask(groups), labels: [L.one.label], exact: false, tolerance: 0, answer: [useful], reveal: L.one.reveal(useful, groups, reward, entropy), more: [reward, entropy] },
        }
      },
    },
    trained('cold', 0.3),
    trained('hot', 2),
  ],
}

/** Lesson: one GRPO step by hand, in the numbers of a group that is on the page. */

import { advantages, mean, standardDeviation } from '../../../rl'
import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { explainToken, stepLoss } from '../../update/explain'
import { type Cover, type Drawn, finishedStep, groupsOf, type Lesson, type Question, rewardsOf, type Scene, selectedOf } from '../card'
import { visibleText } from '../../trajectory/token-facts'

const L = LESSON_STRINGS.oneStep
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }
/** What rounding to two digits may cost. */
const ROUNDING = 0.011
const SIZE = 4
/** Where the page does with the whole group what is asked of four. */
const OF_ALL: readonly Cover[] = ['statistics', 'advantages', 'reasons']

/** The first group whose first four rewards differ, and what is computed from these. */
export function fourOf(scene: Scene) {
  const step = finishedStep(scene)
  for (const group of step ? groupsOf(step) : []) {
    const rewards = rewardsOf(group)?.slice(0, SIZE) ?? []
    const std = standardDeviation(rewards)
    if (!step || rewards.length < SIZE || !std) continue
    return { step, group, rewards, mean: mean(rewards) ?? 0, std, advantages: [...advantages(rewards, SIZE, 'group')] }
  }
  return null
}

/** The best episode of that group. */
function bestOf(scene: Scene) {
  const four = fourOf(scene)
  const episodes = four?.group.episodes.flatMap((episode) => episode ?? []) ?? []
  const best = episodes.toSorted((a, b) => (b.reward ?? 0) - (a.reward ?? 0))[0]
  if (!four || !best || best.reward === null || best.advantage === null) return null
  return { ...four, episode: best, place: best.index - four.group.firstIndex + 1, reward: best.reward, advantage: best.advantage }
}

/** Which way the optimizer step pushes the selected token. */
export function pushOf(scene: Scene) {
  const step = finishedStep(scene)
  const selected = step && selectedOf(scene, step)
  const token = selected?.log[scene.selection.token ?? -1]
  if (!step || !selected || !token) return null
  const found = explainToken(token, scene.selection.token ?? 0, selected.episode, stepLoss(step, scene.tokens, scene.settings), true, scene.settings)
  if (found.kind !== 'numbers') return null
  const { derivative, advantage } = found
  return { derivative, advantage, text: visibleText(token.text), answer: derivative < 0 ? 'up' : derivative > 0 ? 'down' : 'none' }
}

/** The choice that both this lesson and the one on masking end with. */
export function pushQuestion(found: ReturnType<typeof pushOf>, ask: string): Question {
  const options = Object.entries(L.push.options).map(([id, text]) => ({ id, text }))
  return { kind: 'choice', ask, options, answer: found?.answer ?? null, reveal: found ? L.push.reveal(found.derivative) : null }
}

/** The best episode's first token of the model. */
function pickBest(scene: Scene) {
  const best = bestOf(scene)
  if (!best) return null
  const token = scene.tokens.read(best.step.step, best.episode.index).findIndex(({ mask }) => mask === 1)
  return { episode: best.episode.index, token: token < 0 ? null : token }
}

const pickGroup = (scene: Scene) => {
  const four = fourOf(scene)
  return four ? { episode: four.group.firstIndex, token: null } : null
}

export const oneStep: Lesson = {
  id: 'one-step',
  cards: [
    {
      id: 'mean',
      at: 2,
      show: 'panel-rewards',
      covers: OF_ALL,
      pick: pickGroup,
      draw(scene) {
        const four = fourOf(scene)
        if (!four) return NOTHING
        const { step, group, rewards } = four
        return {
          text: L.mean.text(step.step, group.group + 1, group.size, rewards),
          question: { kind: 'numbers', ask: L.mean.ask, labels: [L.mean.label], exact: true, tolerance: ROUNDING, answer: [four.mean], reveal: L.mean.reveal(four.mean, group.size) },
        }
      },
    },
    {
      id: 'std',
      at: 2,
      show: 'panel-rewards',
      covers: OF_ALL,
      pick: pickGroup,
      draw(scene) {
        const four = fourOf(scene)
        if (!four) return NOTHING
        return {
          text: L.std.text(four.rewards, four.mean),
          question: { kind: 'numbers', ask: L.std.ask, labels: [L.std.label], exact: true, tolerance: ROUNDING, answer: [four.std], reveal: L.std.reveal(four.std) },
        }
      },
    },
    {
      id: 'advantages',
      at: 2,
      show: 'panel-rewards',
      covers: OF_ALL,
      pick: pickGroup,
      draw(scene) {
        const four = fourOf(scene)
        if (!four) return NOTHING
        return {
          text: L.advantages.text(four.rewards, four.mean, four.std),
          question: {
            kind: 'numbers',
            ask: L.advantages.ask,
            labels: four.rewards.map((_, i) => L.advantages.label(i + 1)),
            exact: true,
            tolerance: 2 * ROUNDING,
            answer: four.advantages,
            reveal: L.advantages.reveal(four.advantages),
          },
        }
      },
    },
    {
      id: 'whole',
      at: 2,
      show: 'panel-rewards',
      covers: ['advantages', 'reasons'],
      pick: pickGroup,
      draw(scene) {
        const best = bestOf(scene)
        const stats = best?.group.stats
        if (!best || !stats || stats.mean === null || stats.std === null) return NOTHING
        return {
          text: L.whole.text(best.group.size, stats.mean, stats.std),
          question: {
            kind: 'numbers',
            ask: L.whole.ask(best.place, best.reward),
            labels: [L.whole.label],
            exact: true,
            tolerance: 2 * ROUNDING,
            answer: [best.advantage],
            reveal: L.whole.reveal(best.place, best.advantage),
          },
        }
      },
    },
    {
      id: 'push',
      at: 2,
      heat: 'advantage',
      show: 'formula',
      covers: ['push', 'reasons'],
      pick: pickBest,
      draw(scene) {
        const [best, found] = [bestOf(scene), pushOf(scene)]
        if (!best || !found) return NOTHING
        return { text: L.push.text(found.text, best.place, found.advantage), question: pushQuestion(found, L.push.ask) }
      },
    },
  ],
}

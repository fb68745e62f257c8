/** Lesson: why groups. The rewards on the page are cut into smaller groups; then groups of 2 and of 16 are really trained. */

import { advantages, groupStatistics } from '../../../rl'
import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { type Card, type Drawn, finishedStep, groupsOf, type Lesson, rewardsOf, type Scene, type Wants } from '../card'

const L = LESSON_STRINGS.whyGroups
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }

/** The groups of the step cut into parts of `size`: how many there are, and how many have no signal. */
export function cut(scene: Scene, size: number) {
  const step = finishedStep(scene)
  const groups = step ? groupsOf(step) : []
  const parts = groups.flatMap((group) => {
    const rewards = rewardsOf(group) ?? []
    return rewards.length >= size ? groupStatistics(rewards.slice(0, rewards.length - (rewards.length % size)), size) : []
  })
  if (!step || parts.length === 0) return null
  const whole = groups.filter(({ stats }) => stats && !stats.signal).length
  return { step, size: groups[0]?.size ?? 0, groups: groups.length, whole, parts: parts.length, silent: parts.filter(({ signal }) => !signal).length }
}

/** The first pair whose rewards differ. */
function pairOf(scene: Scene): { high: number; low: number; episode: number } | null {
  const step = finishedStep(scene)
  for (const group of step ? groupsOf(step) : []) {
    const rewards = rewardsOf(group) ?? []
    for (let i = 0; i + 1 < rewards.length; i += 2) {
      const [a, b] = [rewards[i] as number, rewards[i + 1] as number]
      if (a !== b) return { high: Math.max(a, b), low: Math.min(a, b), episode: group.firstIndex + i }
    }
  }
  return null
}

/** Groups with a signal in the first step of the run that is shown. */
export function usefulOf(scene: Scene) {
  const groups = scene.view.history[0]?.groups
  return groups ? { useful: groups.filter(({ signal }) => signal).length, groups: groups.length, episodes: scene.view.history[0]?.episodes ?? 0 } : null
}

/** A card that trains one step with groups of another size. */
function trained(id: 'two' | 'sixteen', wants: Wants, tell: (found: NonNullable<ReturnType<typeof usefulOf>>, scene: Scene) => string): Card {
  const words = L[id]
  return {
    id,
    show: 'panel-group',
    covers: ['signal'],
    wants,
    draw(scene) {
      const found = usefulOf(scene)
      return {
        text: words.text,
        question: {
          kind: 'numbers',
          ask: words.ask,
          labels: [words.label],
          exact: false,
          tolerance: id === 'two' ? 2 : 0,
          answer: found ? [found.useful] : null,
          reveal: found ? tell(found, scene) : null,
        },
      }
    },
  }
}

export const whyGroups: Lesson = {
  id: 'why-groups',
  cards: [
    {
      id: 'pairs',
      at: 3,
      show: 'panel-rewards',
      draw(scene) {
        const found = cut(scene, 2)
        if (!found) return NOTHING
        const { step, size, parts, silent } = found
        return {
          text: L.pairs.text(step.step, step.episodeCount, size, parts),
          question: { kind: 'numbers', ask: L.pairs.ask(parts), labels: [L.pairs.label], exact: false, tolerance: 2, answer: [silent], reveal: L.pairs.reveal(silent, parts) },
        }
      },
    },
    {
      id: 'fours',
      at: 3,
      show: 'panel-rewards',
      draw(scene) {
        const found = cut(scene, 4)
        if (!found) return NOTHING
        const { parts, silent, whole, groups } = found
        return {
          text: L.fours.text(parts),
          question: { kind: 'numbers', ask: L.fours.ask(parts), labels: [L.fours.label], exact: false, tolerance: 1, answer: [silent], reveal: L.fours.reveal(silent, parts, whole, groups) },
        }
      },
    },
    {
      id: 'pair',
      at: 3,
      show: 'panel-rewards',
      pick: (scene) => pairOf(scene),
      draw(scene) {
        const pair = pairOf(scene)
        if (!pair) return NOTHING
        const [better = 0] = advantages([pair.high, pair.low], 2, 'group')
        return {
          text: L.pair.text(pair.high, pair.low),
          question: { kind: 'numbers', ask: L.pair.ask, labels: [L.pair.label], exact: true, tolerance: 0.011, answer: [better], reveal: L.pair.reveal(better) },
        }
      },
    },
    trained('two', { environment: 'lane', settings: { num_generations: 2, prompts_per_step: 32 }, steps: 1 }, ({ useful, groups, episodes }) => L.two.reveal(useful, groups, episodes)),
    trained('sixteen', { environment: 'lane', settings: { num_generations: 16, prompts_per_step: 4 }, steps: 1 }, ({ useful, groups }, { earlier }) => {
      const before = earlier['two']
      return L.sixteen.reveal(useful, groups, Array.isArray(before) ? (before[0] ?? null) : null)
    }),
  ],
}

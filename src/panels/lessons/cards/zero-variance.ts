/** Lesson: groups without a signal, found in the step that is in view and over the whole run. */

import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { type Drawn, finishedStep, groupsOf, type Lesson, type Scene } from '../card'

const L = LESSON_STRINGS.silent
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }
/** Steps at either end of a run that are compared; fewer where it is short. */
const END = 5
/** A smaller difference of shares is none. */
const ALIKE = 0.02

/** The first group of the step without a signal, all of its rewards known. */
function silentOf(scene: Scene) {
  const step = finishedStep(scene)
  const group = step && groupsOf(step).find(({ stats }) => stats && !stats.signal && stats.mean !== null)
  const first = group?.episodes[0]
  return step && group && first && first.reward !== null && first.advantage !== null ? { step, group, reward: first.reward, advantage: first.advantage } : null
}

/** Share of groups without a signal in the first and in the last steps of the run. */
export function trendOf({ view: { history } }: Scene) {
  const shares = history.flatMap(({ metrics }) => metrics['frac_reward_zero_std'] ?? [])
  const share = Math.min(END, shares.length >> 1)
  if (share === 0) return null
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return { steps: history.length, share, early: mean(shares.slice(0, share)), late: mean(shares.slice(-share)) }
}

export const zeroVariance: Lesson = {
  id: 'zero-variance',
  cards: [
    {
      id: 'advantage',
      at: 17,
      show: 'panel-rewards',
      covers: ['advantages', 'reasons'],
      pick(scene) {
        const found = silentOf(scene)
        return found && { episode: found.group.firstIndex, token: null }
      },
      draw(scene) {
        const found = silentOf(scene)
        if (!found) return NOTHING
        const { step, group, reward, advantage } = found
        return {
          text: L.advantage.text(step.step, group.group + 1, group.size, reward),
          question: { kind: 'numbers', ask: L.advantage.ask, labels: [L.advantage.label], exact: true, tolerance: 0.001, answer: [advantage], reveal: L.advantage.reveal(advantage) },
        }
      },
    },
    {
      id: 'count',
      at: 17,
      show: 'panel-group',
      covers: ['signal'],
      draw(scene) {
        const step = finishedStep(scene)
        if (!step?.groups) return NOTHING
        const silent = step.groups.filter(({ signal }) => !signal).length
        return {
          text: L.count.text(step.step, step.groupCount),
          question: { kind: 'numbers', ask: L.count.ask(step.groupCount), labels: [L.count.label], exact: false, tolerance: 0, answer: [silent], reveal: L.count.reveal(silent, step.groupCount) },
        }
      },
    },
    {
      id: 'work',
      at: 17,
      show: 'panel-rewards',
      draw(scene) {
        const step = finishedStep(scene)
        if (!step) return NOTHING
        const pushing = step.episodes.filter(({ advantage }) => advantage !== null && advantage !== 0).length
        return {
          text: L.work.text(step.episodeCount, step.step),
          question: { kind: 'numbers', ask: L.work.ask, labels: [L.work.label], exact: false, tolerance: 4, answer: [pushing], reveal: L.work.reveal(pushing, step.episodeCount) },
        }
      },
    },
    {
      id: 'trend',
      at: 20,
      show: 'panel-curves',
      draw(scene) {
        const found = trendOf(scene)
        if (!found) return NOTHING
        const { steps, share, early, late } = found
        const options = Object.entries(L.trend.options).map(([id, text]) => ({ id, text }))
        return {
          text: L.trend.text(steps),
          question: { kind: 'choice', ask: L.trend.ask, options, answer: Math.abs(late - early) < ALIKE ? 'same' : late > early ? 'more' : 'fewer', reveal: L.trend.reveal(early, late, share) },
        }
      },
    },
  ],
}

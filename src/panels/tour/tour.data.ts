/** The tour as data: each question, the element of the page that holds its answer, the answer in words, and how it is found in that element. */

import { number, signed } from '../../ui/format'
import { TOUR_STRINGS as T } from '../../ui/tour-strings'
import type { StepView } from '../../store/view'
import type { TourFacts } from './facts'

/** What an element must hold: a text (also as the value of a control or as a label), or so many of something. */
export type Evidence = { text: string } | { selector: string; count: number }

export interface TourQuestion {
  id: 'task' | 'tokens' | 'group' | 'advantages' | 'learning'
  /** The test id of the element that holds the answer. */
  target: string
  question(facts: TourFacts): string
  /** Where in a tall element the answer begins: on a phone it is scrolled to that. */
  from?: string
  /** The recorded run is shown at its end for it. */
  atEnd?: true
  /** Index of the episode that is selected for it. */
  pick?(step: StepView): number | null
  /** At most two sentences. */
  answer(facts: TourFacts): string
  /** Where in the element the answer stands; nothing while there is none. */
  evidence(facts: TourFacts): readonly Evidence[]
}

export const TOUR: readonly TourQuestion[] = [
  {
    id: 'task',
    target: 'panel-task',
    question: () => T.task.question,
    answer: ({ prompt, tools }) => T.task.answer(prompt, tools),
    evidence: ({ prompt, tools }) => [prompt, ...tools].filter((text) => text !== '').map((text) => ({ text })),
  },
  {
    id: 'tokens',
    target: 'panel-trajectory',
    from: '[data-testid="token"][data-mask="1"]',
    // One in which the environment wrote too, if there is one: then there is something hatched to see.
    pick: (step) => step.episodes.toSorted((a, b) => b.turn - a.turn || a.index - b.index)[0]?.index ?? null,
    question: () => T.tokens.question,
    answer: ({ episode }) => (episode ? T.tokens.answer(episode.trained, episode.total) : T.nothing),
    evidence: ({ episode }) =>
      episode
        ? [
            { selector: '[data-testid="token"][data-mask="1"]', count: episode.trained },
            { text: String(episode.promptLength) },
          ]
        : [],
  },
  {
    id: 'group',
    target: 'panel-group',
    question: ({ group }) => T.group.question(group?.size ?? 0),
    answer({ group }) {
      if (!group) return T.nothing
      const { size, rewards, solved } = group
      if (solved !== null) return T.group.solved(size, solved)
      return rewards.length < size ? T.group.open(size) : T.group.rewarded(size, Math.min(...rewards), Math.max(...rewards))
    },
    evidence: ({ group }) =>
      group
        ? [{ selector: '[data-outcome]', count: group.size }, ...(group.solved === null ? [] : [{ selector: '[data-outcome="success"]', count: group.solved }])]
        : [],
  },
  {
    id: 'advantages',
    target: 'panel-rewards',
    question: () => T.advantages.question,
    answer({ group }) {
      if (!group?.advantages) return T.advantages.open
      const up = group.advantages.filter((advantage) => advantage > 0)
      if (up.length === 0) return T.advantages.none
      return T.advantages.some(up.length, Math.max(...up), group.advantages.filter((advantage) => advantage < 0).length)
    },
    evidence: ({ group }) => [...new Set(group?.advantages ?? [])].map((advantage) => ({ text: signed(advantage) })),
  },
  {
    id: 'learning',
    target: 'panel-curves',
    atEnd: true,
    question: () => T.learning.question,
    answer({ rewards }) {
      const [first, last] = [rewards[0], rewards.at(-1)]
      if (first === undefined || last === undefined) return T.nothing
      return rewards.length === 1 ? T.learning.one(first) : T.learning.answer(first, last, rewards.length)
    },
    evidence: ({ rewards }) => [rewards[0], rewards.at(-1)].flatMap((reward) => (reward === undefined ? [] : [{ text: number(reward) }])),
  },
]

/** What of the evidence is not in the element. Stands alone, so that a test may send it into a page. */
export function missingFrom(element: Element, evidence: readonly Evidence[]): readonly Evidence[] {
  const labels = [...element.querySelectorAll('[aria-label]')].map((each) => each.getAttribute('aria-label'))
  const values = [...element.querySelectorAll('input, textarea, select')].map((each) => (each as HTMLInputElement).value)
  const words = [element.textContent, ...labels, ...values].join('\n')
  return evidence.filter((each) => ('text' in each ? !words.includes(each.text) : element.querySelectorAll(each.selector).length !== each.count))
}

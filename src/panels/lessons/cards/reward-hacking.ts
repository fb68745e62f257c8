/** Lesson: reward hacking. Echo is paid by the character; what it then learns is read off the episodes that the pupil trains. */

import { z } from 'zod/mini'
import { echoReward } from '../../../env/builtin/echo'
import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { LESSON_STARTS } from '../../../store/lessons'
import type { EpisodeView } from '../../../store/view'
import { type Drawn, finishedStep, type Lesson, type Scene } from '../card'

const L = LESSON_STRINGS.hacking
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }
const SETTINGS = LESSON_STARTS['reward-hacking'].settings ?? {}
/** By then it has left the message behind, if it does at all. */
const STEPS = 18

const echoScene = z.object({ kind: z.literal('echo'), wanted: z.string(), said: z.nullable(z.string()) })

/** What was asked for and what was said, at the end of an episode. */
function exchangeOf(episode: EpisodeView): { wanted: string; said: string } | null {
  const last = echoScene.safeParse(episode.answers.findLast(({ scene }) => scene !== undefined)?.scene)
  const first = echoScene.safeParse(episode.scene)
  const found = last.success ? last.data : first.success ? first.data : null
  return found && { wanted: found.wanted, said: found.said ?? '' }
}

/** How faithful the episodes of a step, or of the newest, were, and what they earned. */
export function faithOf(scene: Scene, number: number | null = null) {
  const step = finishedStep(number === null ? scene : { ...scene, selection: { ...scene.selection, step: number } })
  const exchanges = step?.episodes.flatMap((episode) => exchangeOf(episode) ?? []) ?? []
  const rewards = step?.episodes.flatMap(({ reward }) => reward ?? []) ?? []
  if (!step || exchanges.length === 0 || rewards.length === 0) return null
  return {
    step: step.step,
    episodes: exchanges.length,
    exact: exchanges.filter(({ wanted, said }) => wanted === said).length,
    longer: exchanges.filter(({ wanted, said }) => [...said].length > [...wanted].length).length,
    chars: exchanges.reduce((sum, { said }) => sum + [...said].length, 0) / exchanges.length,
    reward: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
  }
}

/** What most of a step's episodes do. */
function learnt({ exact, longer, episodes }: { exact: number; longer: number; episodes: number }) {
  if (2 * exact > episodes) return 'repeat'
  return 2 * longer > episodes ? 'longer' : 'neither'
}

/** The episode of the newest step that said most beyond what was asked. */
function boldest(scene: Scene) {
  const step = finishedStep(scene)
  const all = step?.episodes.flatMap((episode) => {
    const exchange = exchangeOf(episode)
    return exchange && episode.reward !== null ? [{ index: episode.index, reward: episode.reward, ...exchange }] : []
  })
  return all?.toSorted((a, b) => b.said.length - b.wanted.length - (a.said.length - a.wanted.length))[0] ?? null
}

export const rewardHacking: Lesson = {
  id: 'reward-hacking',
  cards: [
    {
      id: 'before',
      show: 'panel-task',
      wants: { environment: 'echo', settings: SETTINGS, steps: 1 },
      draw(scene) {
        const found = faithOf(scene, 1)
        const episodes = found?.episodes ?? scene.settings.num_generations * scene.settings.prompts_per_step
        return {
          text: L.before.text,
          question: {
            kind: 'numbers',
            ask: L.before.ask(episodes),
            labels: [L.before.label],
            exact: false,
            tolerance: episodes / 16,
            answer: found ? [found.exact] : null,
            more: found ? [found.longer] : [],
            reveal: found ? L.before.reveal(found.exact, found.longer, found.episodes, found.reward) : null,
          },
        }
      },
    },
    {
      id: 'learns',
      show: 'panel-curves',
      wants: { environment: 'echo', settings: SETTINGS, steps: STEPS },
      draw(scene) {
        const found = faithOf(scene)
        const before = scene.earlier['before']
        const [exact, longer] = Array.isArray(before) && before.length === 2 ? (before as [number, number]) : [null, null]
        const options = Object.entries(L.learns.options).map(([id, text]) => ({ id, text }))
        return {
          text: L.learns.text,
          question: { kind: 'choice', ask: L.learns.ask, options, answer: found && learnt(found), reveal: found && L.learns.reveal(found, exact, longer) },
        }
      },
    },
    {
      id: 'best',
      show: 'panel-trajectory',
      covers: ['rewards', 'reasons'],
      wants: { environment: 'echo', settings: SETTINGS, steps: STEPS },
      pick(scene) {
        const found = boldest(scene)
        return found && { episode: found.index, token: null }
      },
      draw(scene) {
        const found = boldest(scene)
        if (!found) return NOTHING
        return {
          text: L.best.text(found.wanted, found.said),
          question: {
            kind: 'numbers',
            ask: L.best.ask,
            labels: [L.best.label],
            exact: false,
            tolerance: 0.05,
            answer: [found.reward],
            reveal: L.best.reveal(found.reward, echoReward(found.wanted)),
          },
        }
      },
    },
  ],
}

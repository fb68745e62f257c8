/** Lesson: what masking does. Its numbers are those of the episode in view with most from the environment. */

import { LESSON_STRINGS } from '../../../ui/lesson-strings'
import { S } from '../../../ui/strings'
import { visibleText } from '../../trajectory/token-facts'
import { explainToken, stepLoss } from '../../update/explain'
import { type Drawn, finishedStep, type Lesson, type Scene, selectedOf } from '../card'
import { pushOf, pushQuestion } from './one-step'

const L = LESSON_STRINGS.masking
const NOTHING: Drawn = { text: LESSON_STRINGS.nothingYet, question: null }

/** The episode with most tokens of the environment; where there are none, the longest. */
function pick(scene: Scene, wanted: 'environment' | 'model' | null) {
  const step = finishedStep(scene)
  const logs = step?.episodes.map(({ index, promptLength, length }) => {
    const log = scene.tokens.read(step.step, index)
    const after = log.slice(promptLength)
    return { index, promptLength, log, size: after.filter(({ author }) => author === 'environment').length * 10_000 + length }
  })
  const best = logs?.toSorted((a, b) => b.size - a.size)[0]
  if (!best) return null
  if (wanted === null) return { episode: best.index, token: null }
  // In the middle of what the environment said; the model's first token else.
  const places = best.log.flatMap((token, i) => (i >= best.promptLength && (wanted === 'model' ? token.mask === 1 : token.author === 'environment') ? [i] : []))
  const token = places[wanted === 'model' ? 0 : places.length >> 1] ?? best.log.findIndex(({ mask }, i) => i >= best.promptLength && mask === (wanted === 'model' ? 1 : 0))
  return { episode: best.index, token: token < 0 ? null : token }
}

export const masking: Lesson = {
  id: 'masking',
  cards: [
    {
      id: 'count',
      at: 10,
      heat: 'author',
      show: 'panel-trajectory',
      pick: (scene) => pick(scene, null),
      draw(scene) {
        const step = finishedStep(scene)
        const selected = step && selectedOf(scene, step)
        if (!selected) return NOTHING
        const { log, episode } = selected
        const trained = log.filter(({ mask }) => mask === 1).length
        return {
          text: L.count.text(log.length, episode.turn + 1),
          question: { kind: 'numbers', ask: L.count.ask, labels: [L.count.label], exact: false, tolerance: log.length / 20, answer: [trained], reveal: L.count.reveal(trained, log.length) },
        }
      },
    },
    {
      id: 'other',
      at: 10,
      heat: 'author',
      show: 'formula',
      covers: ['numbers', 'facts'],
      pick: (scene) => pick(scene, 'environment'),
      draw(scene) {
        const step = finishedStep(scene)
        const selected = step && selectedOf(scene, step)
        const position = scene.selection.token ?? -1
        const token = selected?.log[position]
        if (!step || !selected || !token) return NOTHING
        const found = explainToken(token, position, selected.episode, stepLoss(step, scene.tokens, scene.settings), true, scene.settings)
        const answer = found.kind === 'masked' ? 'zero' : 'full'
        const options = Object.entries(L.other.options).map(([id, text]) => ({ id, text }))
        return { text: L.other.text(visibleText(token.text), S.authors[token.author]), question: { kind: 'choice', ask: L.other.ask, options, answer, reveal: L.other.reveal[answer] } }
      },
    },
    {
      id: 'own',
      at: 10,
      heat: 'advantage',
      show: 'formula',
      covers: ['push', 'reasons'],
      pick: (scene) => pick(scene, 'model'),
      draw(scene) {
        const found = pushOf(scene)
        return found ? { text: L.own.text(found.text, found.advantage), question: pushQuestion(found, L.own.ask) } : NOTHING
      },
    },
    {
      id: 'share',
      at: 10,
      heat: 'author',
      show: 'panel-group',
      draw(scene) {
        const step = finishedStep(scene)
        if (!step) return NOTHING
        const logs = step.episodes.map(({ index }) => scene.tokens.read(step.step, index))
        const total = logs.reduce((sum, log) => sum + log.length, 0)
        const trained = logs.reduce((sum, log) => sum + log.filter(({ mask }) => mask === 1).length, 0)
        if (total === 0) return NOTHING
        return {
          text: L.share.text(step.episodeCount, step.step),
          question: {
            kind: 'numbers',
            ask: L.share.ask,
            labels: [L.share.label],
            exact: false,
            tolerance: 3,
            answer: [(100 * trained) / total],
            reveal: L.share.reveal(trained, total),
          },
        }
      },
    },
  ],
}

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { readRecordedRun, type RecordedRun } from '../../store/recorded-run'
import { createReplay } from '../../store/replay'
import { RECORDED_RUN_PATH } from '../../store/replay-start'
import type { Card, Scene } from './card'
import { judge } from './check'
import { cut, usefulOf } from './cards/why-groups'
import { fourOf } from './cards/one-step'
import { likeliestAt } from './cards/temperature'
import { trendOf } from './cards/zero-variance'
import { LESSONS, lessonById } from './lessons.data'

let recording: RecordedRun
beforeAll(() => {
  recording = readRecordedRun(JSON.parse(gunzipSync(readFileSync(`public/${RECORDED_RUN_PATH}`)).toString()))
})

const scenes = new Map<number, Scene>()

/** The page with the recorded run held at a place, as a card would have it. */
function sceneAt(at: number): Scene {
  const made = scenes.get(at) ?? makeScene(at)
  scenes.set(at, made)
  return made
}

function makeScene(at: number): Scene {
  const replay = createReplay({ now: () => 0, frame: () => {} }, () => 1)
  replay.expect()
  replay.open(recording, true)
  replay.seek(at)
  const { view } = replay.store.getState()
  return { view, tokens: replay.tokens, settings: recording.run.config.grpo, selection: { step: null, episode: 0, token: null }, earlier: {} }
}

function sceneOf(card: Card): Scene {
  const scene = sceneAt(card.at ?? 20)
  const pick = card.pick?.(scene)
  return pick ? { ...scene, selection: { step: null, episode: pick.episode, token: pick.token ?? null } } : scene
}

const untrained = LESSONS.flatMap((lesson) => lesson.cards.filter((card) => !card.wants).map((card) => [lesson.id, card] as const))

describe('the lessons on the recorded run', () => {
  it('are seven, of three to six cards with names of their own', () => {
    expect(LESSONS).toHaveLength(7)
    for (const { cards } of LESSONS) {
      expect(cards.length).toBeGreaterThanOrEqual(3)
      expect(cards.length).toBeLessThanOrEqual(6)
      expect(new Set(cards.map(({ id }) => id)).size).toBe(cards.length)
    }
  })

  it.each(untrained)('%s: every question that needs no training has its answer there', (_lesson, card) => {
    const { text, question } = card.draw(sceneOf(card))
    expect(text).not.toContain('press Step')
    expect(question?.answer).not.toBeNull()
    expect(question?.reveal).toMatch(/\w/)
    if (!question || question.answer === null) throw new Error('no answer')
    expect(judge(question, typeof question.answer === 'string' ? question.answer : [...question.answer])).toBe('right')
    if (question.kind === 'choice') expect(question.options.map(({ id }) => id)).toContain(question.answer)
    else expect(question.labels).toHaveLength(question.answer?.length ?? 0)
  })

  it('know nothing before anything was played, and say what to do', () => {
    for (const [, card] of untrained) {
      if (card.id === 'bound') continue
      expect(card.draw(sceneAt(0)), card.id).toMatchObject({ question: null, text: expect.stringContaining('press Step') })
    }
  })

  it('what a question asks for is covered by a rule of its own', () => {
    const css = readFileSync('src/ui/teach.css', 'utf8')
    const covers = [...new Set(LESSONS.flatMap(({ cards }) => cards.flatMap((card) => card.covers ?? [])))]
    expect(covers.length).toBeGreaterThan(4)
    for (const cover of covers) expect(css, cover).toContain(`:root[data-covered~='${cover}']`)
    for (const id of ['one-step', 'masking'] as const) {
      const plain = lessonById(id).cards.filter((card) => !card.covers).map((card) => card.id)
      expect(plain, id).toEqual(id === 'masking' ? ['count', 'share'] : [])
    }
  })

  it('by hand: the page’s own numbers', () => {
    const four = fourOf(sceneAt(2))
    if (!four) throw new Error('no group')
    const byHand = four.rewards.map((reward) => (reward - four.mean) / (four.std + 1e-4))
    four.advantages.forEach((advantage, i) => expect(advantage).toBeCloseTo(byHand[i] ?? NaN, 9))
    const card = lessonById('one-step').cards.find(({ id }) => id === 'whole') as Card
    const scene = sceneOf(card)
    const best = Math.max(...scene.view.steps.at(-1)!.episodes.filter(({ group }) => group === four.group.group).map(({ advantage }) => advantage ?? -9))
    expect(card.draw(scene).question).toMatchObject({ answer: [best] })
  })

  it('groups cut smaller waste more: pairs more than fours, fours more than the whole', () => {
    const scene = sceneAt(3)
    const [pairs, fours] = [cut(scene, 2), cut(scene, 4)]
    if (!pairs || !fours) throw new Error('no step')
    expect([pairs.parts, fours.parts]).toEqual([32, 16])
    expect(pairs.silent / 32).toBeGreaterThan(fours.silent / 16)
    expect(fours.silent / 16).toBeGreaterThanOrEqual(fours.whole / 8)
    expect(usefulOf(scene)).toMatchObject({ groups: 8, episodes: 64 })
  })

  it('the trend of silent groups is that of the metric', () => {
    const found = trendOf(sceneAt(20))
    const shares = recording.history.map(({ metrics }) => metrics['frac_reward_zero_std'] ?? 0)
    expect(found?.late).toBeCloseTo(shares.slice(-5).reduce((a, b) => a + b) / 5)
    expect(trendOf(sceneAt(1))).toBeNull()
  })

  it('half the temperature squares the probabilities', () => {
    expect(likeliestAt([0.6, 0.4], 1)).toBeCloseTo(0.6)
    expect(likeliestAt([0.6, 0.4], 0.5)).toBeCloseTo(0.36 / 0.52)
  })

  it('cards of runs that are still to come ask all the same, and reveal nothing', () => {
    const waiting = LESSONS.flatMap(({ cards }) => cards.filter((card) => card.wants && !card.pick))
    for (const card of waiting) {
      const { question } = card.draw(sceneAt(0))
      expect(question, card.id).toMatchObject({ answer: null, reveal: null })
    }
    expect(waiting.length).toBeGreaterThan(5)
  })
})

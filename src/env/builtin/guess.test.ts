import { describe, expect, it } from 'vitest'
import { GUESS_SCENARIOS, GUESS_TURNS, guessCall, guessEnvironment, guessMiddle, guessRules, guessStart, type GuessScenario, type GuessState } from './guess'

const ALL = [...GUESS_SCENARIOS.train, ...GUESS_SCENARIOS.heldout]

/** Reward of a game in which `choose` guesses. */
function play(scenario: GuessScenario, choose: (state: GuessState) => number): number {
  let state = guessStart(scenario)
  while (guessRules.outcome(state) === null) state = guessRules.act(state, guessCall(choose(state)))
  return guessRules.outcome(state) ?? 0
}

const rate = (choose: (state: GuessState) => number): number => ALL.reduce((won, scenario) => won + play(scenario, choose), 0) / ALL.length

describe('guess', () => {
  it('splits 58 games into 46 and 12, disjoint, each with its secret in the range', () => {
    const key = (s: GuessScenario) => `${s.low}/${s.high}/${s.secret}`
    const [train, held] = [new Set(GUESS_SCENARIOS.train.map(key)), new Set(GUESS_SCENARIOS.heldout.map(key))]
    expect([train.size, held.size, new Set([...train, ...held]).size]).toEqual([46, 12, 58])
    expect(ALL.every(({ low, high, secret }) => low >= 0 && high <= 9 && secret >= low && secret <= high)).toBe(true)
  })

  it('is always won by halving, and seldom without', () => {
    expect(rate(guessMiddle)).toBe(1)
    expect(rate(({ low }) => low)).toBeLessThan(0.5)
    // The best three numbers that are the same in every game.
    const digits = Array.from({ length: 10 }, (_, i) => i)
    const fixed = digits.flatMap((a) => digits.flatMap((b) => digits.map((c) => rate(({ turn }) => [a, b, c][turn] ?? 0))))
    expect(Math.max(...fixed)).toBeLessThan(0.6)
  })

  it('says higher, lower, right, and what is left', async () => {
    const session = await guessEnvironment().open()
    const { text } = await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    const [, low, high] = /^from (\d) to (\d)$/.exec(text)?.map(Number) ?? []
    const secret = GUESS_SCENARIOS.train.find((s) => s.low === low && s.high === high && guessRules.begin(1, 'train').secret === s.secret)?.secret ?? -1
    // Below the range: true, and nothing is lost but the guess.
    expect(await session.step(guessCall(-1))).toMatchObject({ text: `higher, from ${low} to ${high}`, reward: null, done: false })
    expect(await session.step(guessCall(secret))).toMatchObject({ text: 'right', reward: 1, done: true, scene: { kind: 'guess', found: true, turn: 2 } })
  })

  it('ends after three guesses, refused calls included', async () => {
    const session = await guessEnvironment().open()
    await session.reset({ seed: 2, episode_id: 'e', split: 'train' })
    expect(await session.step({ name: 'guess', arguments: { number: '3' } })).toMatchObject({ toolError: true, done: false, text: 'Error: number must be a whole number.' })
    expect(await session.step({ name: 'guess', arguments: { number: 2.5 } })).toMatchObject({ toolError: true, done: false })
    const last = await session.step(guessCall(99))
    expect(last).toMatchObject({ reward: 0, done: true, scene: { found: false, turns: GUESS_TURNS } })
    expect(last.text).toMatch(/^no guess left, it was \d$/)
  })
})

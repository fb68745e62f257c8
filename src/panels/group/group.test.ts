import { describe, expect, it } from 'vitest'
import { reduce } from '../../store/reduce'
import { stepMessages } from '../../store/testing/script'
import { TokenLog } from '../../store/token-log'
import { EMPTY_RUN, type EpisodeView, latestStep, type StepView } from '../../store/view'
import { groupOf, meanReward } from './group-view'
import { outcomeOf } from './outcome'
import { authorRuns } from './runs'

const tokens = new TokenLog()
const view = stepMessages(1, { groups: 3, size: 4, broken: 5, skill: () => 0.5 }).reduce((v, m) => reduce(v, m, tokens, 0), EMPTY_RUN)
const step = latestStep(view) as StepView

describe('the group in view', () => {
  it('is the one the selected episode belongs to', () => {
    expect(groupOf(step, 6)).toMatchObject({ group: 1, size: 4, firstIndex: 4 })
    expect(groupOf(step, 6).episodes.map((e) => e?.index)).toEqual([4, 5, 6, 7])
  })
  it('is the last one when the selection lies beyond', () => {
    expect(groupOf(step, 99).group).toBe(2)
  })
  it('has empty places for episodes that have not begun', () => {
    expect(groupOf({ ...step, episodes: [] }, 0).episodes).toEqual([null, null, null, null])
  })
  it('leaves unscorable episodes out of the mean', () => {
    const { episodes, stats } = groupOf(step, 5)
    expect(episodes[1]?.reward).toBeNull()
    expect(meanReward(episodes)).toBeCloseTo(stats?.mean as number, 12)
    expect(meanReward([null])).toBeNull()
  })
})

describe('how an episode stands', () => {
  const episode = step.episodes[0] as EpisodeView
  it.each([
    [{ finished: false }, 'writing'],
    [{ finished: false, waitingSince: 3 }, 'waiting'],
    [{ success: true, reward: 1 }, 'success'],
    [{ success: false, reward: 0 }, 'failure'],
    [{ success: null, reward: 0.4 }, 'done'],
    [{ reward: null, error: 'gone' }, 'unscorable'],
    [{ reward: null, exit: 'env_error', error: 'gone' }, 'unscorable'],
    [{ reward: null, exit: 'env_unreadable', error: 'no JSON' }, 'unreadable'],
    [{ reward: 0, success: false, exit: 'turn_limit' }, 'budget'],
    [{ reward: 0.5, success: null, exit: 'token_limit' }, 'budget'],
    [{ reward: 1, success: true, exit: 'token_limit' }, 'success'],
  ] as const)('%o is %s', (change, kind) => {
    const outcome = outcomeOf({ ...episode, ...change })
    expect(outcome.kind).toBe(kind)
    expect(outcome.word).not.toBe('')
  })
  it('gives the reason of a failed environment, not a verdict', () => {
    expect(outcomeOf(step.episodes[5] as EpisodeView)).toMatchObject({ word: 'server failed', why: expect.stringContaining('1006') })
  })
})

describe('the strip', () => {
  it('covers every token once, in order', () => {
    const log = tokens.read(1, 0)
    const runs = authorRuns(log, 10)
    expect(runs[0]?.start).toBe(10)
    expect(runs.reduce((sum, run) => sum + run.length, 0)).toBe(log.length - 10)
    expect(runs.every((run, i) => i === 0 || run.author !== runs[i - 1]?.author)).toBe(true)
  })
})

import { describe, expect, it } from 'vitest'
import type { EpisodeView, GroupStats } from '../../store/view'
import { explainEpisode, explainSilence, remedies, workedOut } from './explain'

const stats: GroupStats = { group: 0, mean: 0.625, std: 0.5176, unscorable: 0, signal: true }
const scoring = { stats, scale: 'group', batchStd: 0.4 } as const
const episode = (more: Partial<EpisodeView> = {}) =>
  ({ finished: true, reward: 1, advantage: 0.7244, success: true, exit: 'env_done', error: null, verdict: 'said', parseErrors: 0, toolErrors: 0, answers: [], ...more }) as EpisodeView

describe('how an advantage was made', () => {
  it('is worked out with the numbers in place, by scale_rewards', () => {
    expect(workedOut(1, 0.7244, scoring)).toBe('(1.00 − 0.625) ÷ (0.518 + 0.0001) =\u00a0+0.724')
    expect(workedOut(1, 0.9373, { ...scoring, scale: 'batch' })).toBe('(1.00 − 0.625) ÷ (0.400 + 0.0001) =\u00a0+0.937')
    expect(workedOut(1, 0.375, { ...scoring, scale: 'none' })).toBe('1.00 − 0.625 =\u00a0+0.375')
  })
  it('puts a negative mean in brackets', () => {
    expect(workedOut(-1, -0.5, { ...scoring, scale: 'none', stats: { ...stats, mean: -0.5 } })).toBe('−1.00 − (−0.500) =\u00a0−0.500')
  })
  it('says what it does to the tokens', () => {
    expect(explainEpisode(episode(), scoring)).toEqual([expect.stringContaining('+0.724'), expect.stringMatching(/^Better .* more likely\.$/)])
    expect(explainEpisode(episode({ reward: 0, advantage: -1.2 }), scoring).join(' ')).toMatch(/environment itself said 0.*less likely/)
  })
  it('tells how far an episode is that has none yet', () => {
    expect(explainEpisode(null, scoring)).toEqual(['It has not begun.'])
    expect(explainEpisode(episode({ finished: false, reward: null }), scoring)[0]).toContain('being written')
    expect(explainEpisode(episode({ advantage: null }), scoring)[0]).toContain('Its reward is 1.00.')
  })
  it('gives the whole reason of one that was left out', () => {
    const broken = episode({ reward: null, advantage: 0, exit: 'env_error', error: 'The server closed the connection.', verdict: 'env_failed' })
    expect(explainEpisode(broken, scoring)).toEqual([expect.stringMatching(/Left out of mean and std.*The server closed the connection\./)])
  })
  it('keeps the environment’s 0 apart from the 0 of no call, of spent tokens and of spent turns', () => {
    const first = (more: Partial<EpisodeView>) => explainEpisode(episode({ reward: 0, advantage: -1, ...more }), scoring)[0]
    expect(first({ verdict: 'no_call', exit: 'answered' })).toContain('no call of the model reached it')
    expect(first({ verdict: 'budget', exit: 'token_limit' })).toContain('max_completion_length')
    expect(first({ verdict: 'budget', exit: 'turn_limit' })).toContain('max_tool_calling_iterations')
  })
  it('lists rewards by turn and the model’s mistakes', () => {
    const answers = [0.25, 0.75].map((reward, turn) => ({ turn, reward, done: turn === 1, ms: 1 }))
    const words = explainEpisode(episode({ answers, parseErrors: 1, toolErrors: 2 }), scoring).join(' ')
    expect(words).toContain('By turn: 1: +0.250, 2: +0.750.')
    expect(words).toContain('one tool call that could not be parsed'.replace('one', '1'))
    expect(words).toContain('2 calls answered with an error')
  })
})

describe('a group without a signal', () => {
  const grpo = { num_generations: 8, temperature: 1, prompts_per_step: 4 }
  it('says which value all rewards have, and that the gradient is exactly 0, or the KL term alone', () => {
    const silence = { kind: 'equal', reward: 1, count: 8, solved: true } as const
    expect(explainSilence(silence, 0)).toEqual([expect.stringContaining('All 8 rewards are 1.00'), expect.stringContaining('exactly 0')])
    expect(explainSilence(silence, 0.04)[1]).toContain('KL term alone (beta 0.04)')
    expect(explainSilence({ kind: 'none' }, 0.04)).toEqual([expect.stringContaining('No episode'), expect.stringContaining('exactly 0')])
    expect(explainSilence({ kind: 'one', reward: 0.5 }, 0)[0]).toContain('nothing to compare it with')
  })
  it('names the settings that may help and what they are now; a harder task where all solved it, an easier one where none did', () => {
    const named = [/^num_generations, now 8/, /^temperature, now 1/, /^prompts_per_step, now 4/].map((name) => expect.stringMatching(name) as string)
    expect(remedies({ kind: 'equal', reward: 1, count: 8, solved: true }, grpo)).toEqual([expect.stringContaining('harder task'), ...named])
    expect(remedies({ kind: 'equal', reward: 0, count: 8, solved: false }, grpo)).toEqual([...named, expect.stringContaining('easier task')])
    expect(remedies({ kind: 'none' }, grpo)).toEqual([expect.stringContaining('reasons stand on the rows'), ...named])
  })
  it('names get_reward() first where episodes of a class of one’s own have no reward', () => {
    const silence = { kind: 'equal', reward: 0, count: 6, solved: false } as const
    const [first, ...rest] = remedies(silence, grpo, { count: 7, ownClass: true })
    expect(first).toMatch(/^7 episodes have no reward: let get_reward\(\) of your class return a number/)
    expect(rest).toEqual(remedies(silence, grpo))
    expect(remedies(silence, grpo, { count: 7, ownClass: false })).toEqual(rest)
    expect(remedies(silence, grpo, { count: 0, ownClass: true })).toEqual(rest)
  })
})

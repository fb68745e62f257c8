import { describe, expect, it } from 'vitest'
import type { AppendedToken, ScoredEpisode } from '../core/events'
import { TokenLog } from './token-log'

const token = (id: number, text: string, author: AppendedToken['author'] = 'model'): AppendedToken => ({
  id,
  text,
  author,
  logprob: null,
  top: null,
})

describe('token log', () => {
  it('masks what the model did not write', () => {
    const log = new TokenLog()
    log.startEpisode(1, 0, [token(1, 'a', 'template'), token(2, 'b', 'environment')])
    log.append(1, 0, [token(3, 'c')])
    expect(log.read(1, 0).map((t) => t.mask)).toEqual([0, 0, 1])
  })

  it('masks everything in an episode that was left out of the update', () => {
    const log = new TokenLog()
    log.startEpisode(1, 0, [token(1, 'a')])
    log.score({ step: 1, index: 0, ids: [1], mask: [1], reward: null, trainLogprobs: null, entropies: null } as unknown as ScoredEpisode)
    expect(log.read(1, 0)[0]?.mask).toBe(0)
  })

  it('masks everything in an episode that was cut off and left out of the update for it', () => {
    const log = new TokenLog()
    log.startEpisode(1, 0, [token(1, 'a')])
    const cut = { step: 1, index: 0, ids: [1], mask: [1], reward: 0, terminated: false, advantage: 0.5, entropies: null }
    log.score({ ...cut, trainLogprobs: [-1] } as unknown as ScoredEpisode)
    expect(log.read(1, 0)[0]?.mask).toBe(1)
    log.score({ ...cut, trainLogprobs: null } as unknown as ScoredEpisode)
    expect(log.read(1, 0)[0]?.mask).toBe(0)
  })

  it('does not pair scores with tokens of another length', () => {
    const log = new TokenLog()
    log.startEpisode(1, 0, [token(1, 'a')])
    log.score({ step: 1, index: 0, ids: [1, 2], mask: [1, 1], trainLogprobs: [-1, -2], entropies: [0, 0] } as unknown as ScoredEpisode)
    expect(log.read(1, 0)[0]?.trainLogprob).toBeNull()
  })

  it('writes an alternative by its text, by a text it has seen, or by its id', () => {
    const log = new TokenLog()
    log.startEpisode(1, 0, [token(7, ' left')])
    expect(log.textOf({ id: 9, prob: 0.5, text: ' right' })).toBe(' right')
    expect(log.textOf({ id: 7, prob: 0.5 })).toBe(' left')
    expect(log.textOf({ id: 8, prob: 0.5 })).toBe('#8')
  })
})

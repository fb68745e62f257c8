import { describe, expect, it } from 'vitest'
import { meanChange, meanLogprob, orderEpisodes } from './episode-order'
import type { LoggedToken } from './token-log'
import type { EpisodeView } from './view'

const token = (more: Partial<LoggedToken>): LoggedToken => ({ id: 1, text: 'a', author: 'model', mask: 1, logprob: -1, trainLogprob: -1, entropy: 0, top: null, ...more })
const episode = (index: number, reward: number | null) => ({ index, reward }) as EpisodeView
const group = [episode(0, 0), episode(1, 1), null, episode(3, null), episode(4, 1)]

const logs: Record<number, LoggedToken[]> = {
  0: [token({ logprob: -0.5, afterLogprob: -1.5 })],
  1: [token({ logprob: -2, afterLogprob: -0.9 }), token({ author: 'environment', mask: 0, logprob: null, trainLogprob: null })],
  3: [],
  4: [token({ logprob: -0.1 })],
}
const placesOf = (order: Parameters<typeof orderEpisodes>[1]) => orderEpisodes(group, order, ({ index }) => logs[index] ?? [])

describe('the order of a group', () => {
  it('by index is the group’s own', () => {
    expect(placesOf('index')).toEqual({ places: [0, 1, 2, 3, 4], known: true })
    expect(orderEpisodes([null, null], 'index', () => [])).toEqual({ places: [0, 1], known: true })
  })
  it('puts the best or the worst first, equal ones by index, and those without a reward last', () => {
    expect(placesOf('best').places).toEqual([1, 4, 0, 2, 3])
    expect(placesOf('worst').places).toEqual([0, 1, 4, 2, 3])
  })
  it('puts the one first that the model thought least likely, by its own tokens alone', () => {
    expect(meanLogprob(logs[1] ?? [])).toBe(-2)
    expect(placesOf('surprising').places).toEqual([1, 0, 4, 2, 3])
  })
  it('puts the one first that the update moved most, up or down', () => {
    expect(meanChange(logs[0] ?? [])).toBeCloseTo(0.5, 12)
    expect(placesOf('changed')).toEqual({ places: [0, 1, 2, 3, 4], known: true })
  })
  it('says that it knows nothing to order by', () => {
    expect(orderEpisodes([episode(0, 1), episode(1, 0)], 'changed', () => [token({})])).toEqual({ places: [0, 1], known: false })
  })
})

import { describe, expect, it } from 'vitest'
import { type KeptEpisode, timelineOf, withSpans } from './run-record'
import type { TimelineSpan } from './timeline'

const episode = (index: number) => ({ index }) as KeptEpisode
const span = (episode: number, lane: number, start: number): TimelineSpan => ({ kind: lane < 0 ? 'training' : 'sampling', lane, episode, turn: 0, start, end: start + 10 })
const TIMELINE = [span(1, 0, 0), span(0, 1, 0), span(7, 1, 15), span(1, 0, 20), span(-1, -1, 40)]

describe('a step’s timeline', () => {
  it('is kept with its episodes, and comes back whole: also what belongs to none of them', () => {
    const kept = withSpans([episode(0), episode(1), episode(2)], TIMELINE)
    expect(kept.map(({ spans }) => spans?.length)).toEqual([3, 2, undefined])
    expect(timelineOf(kept)).toEqual(TIMELINE)
  })

  it('is absent where nobody measured it', () => {
    const episodes = [episode(0), episode(1)]
    expect(withSpans(episodes, undefined)).toEqual(episodes)
    expect(timelineOf(episodes)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { addSpans, type TimelineSpan } from './timeline'

const span = (start: number, end: number, change: Partial<TimelineSpan> = {}): TimelineSpan => ({ kind: 'sampling', lane: 0, episode: 0, turn: 0, start, end, ...change })

function added(...spans: TimelineSpan[]): TimelineSpan[] {
  const all: TimelineSpan[] = []
  addSpans(all, spans)
  return all
}

describe('addSpans', () => {
  it('makes one span of what only goes on, also across a gap that nobody would see', () => {
    expect(added(span(0, 10), span(10, 20), span(21, 30))).toEqual([span(0, 30)])
  })

  it('keeps a gap in which the lane really rested', () => {
    expect(added(span(0, 10), span(15, 20))).toEqual([span(0, 10), span(15, 20)])
  })

  it.each<Partial<TimelineSpan>>([{ kind: 'waiting' }, { episode: 1 }, { turn: 1 }, { part: 'score' }])('keeps apart what differs in %o', (change) => {
    expect(added(span(0, 10), span(10, 20, change))).toHaveLength(2)
  })

  it('joins within a lane whatever other lanes did meanwhile, and over several calls', () => {
    const all = added(span(0, 10), span(0, 5, { lane: 1 }))
    const first = all[0]
    addSpans(all, [span(5, 9, { lane: 1 }), span(10, 12)])
    expect(all).toEqual([span(0, 12), span(0, 9, { lane: 1 })])
    expect(first).toEqual(span(0, 10))
  })
})

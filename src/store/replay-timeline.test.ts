import { describe, expect, it } from 'vitest'
import { addSpans, type TimelineSpan } from '../core/timeline'
import { piecesOf } from './replay-timeline'

const span = (lane: number, start: number, end: number): TimelineSpan => ({ kind: lane < 0 ? 'training' : 'sampling', lane, start, end, episode: 0, turn: 0 })
const TIMELINE = [span(0, 0, 500), span(1, 100, 1004), span(-1, 1004, 1500)]

describe('piecesOf', () => {
  it('tells a phase piece by piece, each no farther than its time', () => {
    const pieces = piecesOf(TIMELINE.filter(({ lane }) => lane >= 0), 0, 1000, 4)
    expect(pieces.map((spans) => Math.max(...spans.map(({ end }) => end)))).toEqual([250, 500, 750, 1004])
    expect(pieces[2]).toEqual([span(1, 500, 750)])
  })

  it('adds up to what was recorded', () => {
    const told: TimelineSpan[] = []
    for (const spans of [...piecesOf(TIMELINE.slice(0, 2), 0, 1000, 7), ...piecesOf(TIMELINE.slice(2), 1000, 1500, 3)]) addSpans(told, spans)
    expect(told).toEqual(TIMELINE)
  })
})

import { describe, expect, it } from 'vitest'
import type { TimelineSpan } from '../../core/timeline'
import { boxOf, type Layout, nextSpan, pathOf, placeAt, placeOf, reachOf, spanAt } from './geometry'

const layout: Layout = { width: 500, height: 84, slots: 3, total: 1000 }
const span = (lane: number, start: number, end: number, kind: TimelineSpan['kind'] = 'sampling'): TimelineSpan => ({ lane, start, end, kind, episode: 0, turn: 0 })
const SPANS = [span(0, 0, 100), span(2, 50, 300, 'waiting'), span(0, 200, 400), span(-1, 600, 900, 'training')]
const [first, waiting, second, update] = SPANS as [TimelineSpan, TimelineSpan, TimelineSpan, TimelineSpan]

describe('the lanes', () => {
  it('put every span into its row, the trainer into the last', () => {
    expect(boxOf(second, layout)).toEqual({ x: 100, y: 0, width: 100, height: 18 })
    expect(boxOf(update, layout)).toMatchObject({ x: 300, y: 64, width: 150 })
    expect(boxOf(waiting, layout).height).toBeLessThan(10)
    for (const each of SPANS) {
      const { x, y, width, height } = boxOf(each, layout)
      expect(spanAt(SPANS, placeAt(x + width / 2, y + height / 2, layout))).toBe(each)
    }
  })

  it('draw many spans as one path', () => {
    expect(pathOf([first, second], layout)).toBe('M0 0h50v18h-50zM100 0h100v18h-100z')
    expect(pathOf([], layout)).toBe('')
  })

  it('show 64 slots and spans of no length', () => {
    const many = { ...layout, height: 184, slots: 64 }
    const { y, height, width } = boxOf(span(63, 10, 10.01), many)
    expect(height).toBeGreaterThan(1)
    expect(width).toBeGreaterThanOrEqual(0.5)
    expect(y + height).toBeLessThan(boxOf(update, many).y)
  })

  it('find a span within reach, and none in a gap', () => {
    expect(spanAt(SPANS, { lane: 0, at: 150 })).toBeNull()
    expect(spanAt(SPANS, { lane: 0, at: 196 }, 5)).toBe(second)
    expect(spanAt(SPANS, { lane: 1, at: 150 }, Infinity)).toBeNull()
  })

  it('lead the keys along a lane and over empty ones to the next', () => {
    const go = (from: TimelineSpan, key: string) => nextSpan(SPANS, from, key, 3)
    expect(go(first, 'ArrowRight')).toBe(second)
    expect(go(second, 'ArrowRight')).toBeNull()
    expect(go(second, 'Home')).toBe(first)
    expect(go(first, 'End')).toBe(second)
    expect(go(second, 'ArrowDown')).toBe(waiting)
    expect(go(waiting, 'ArrowDown')).toBe(update)
    expect(go(update, 'ArrowUp')).toBe(waiting)
    expect(go(first, 'ArrowUp')).toBeNull()
    expect(go(first, 'a')).toBeNull()
    expect(spanAt(SPANS, placeOf(waiting))).toBe(waiting)
  })

  it('rescale seldom while a step goes on', () => {
    expect(reachOf(500, 2000)).toBe(2000)
    expect(new Set(Array.from({ length: 100 }, (_, i) => reachOf(1000 + i * 10, 0))).size).toBe(3)
    for (const end of [0.4, 7, 99, 1234]) expect(reachOf(end, 0)).toBeGreaterThanOrEqual(end)
  })
})

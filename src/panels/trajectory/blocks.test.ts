import { describe, expect, it } from 'vitest'
import type { LoggedToken } from '../../store/token-log'
import { blocksOf, heightOf } from './blocks'

const token = (text: string): LoggedToken => ({ id: 1, text, author: 'model', mask: 1, logprob: -1, trainLogprob: null, entropy: null, top: null })
const lines = (count: number, perLine: number) => Array.from({ length: count }, (_, i) => token(i % perLine === perLine - 1 ? '.\n' : 'word'))

describe('blocks of a long episode', () => {
  it('cover it without gaps and end with a line where lines are not too long', () => {
    const tokens = lines(10_000, 25)
    const blocks = blocksOf(tokens, 200, 10_000)
    expect(blocks[0]?.start).toBe(200)
    expect(blocks.at(-1)?.end).toBe(10_000)
    expect(blocks.every(({ start }, i) => i === 0 || start === blocks[i - 1]?.end)).toBe(true)
    expect(blocks.every(({ end }) => tokens[end - 1]?.text === '.\n')).toBe(true)
    expect(Math.max(...blocks.map(({ start, end }) => end - start))).toBeLessThanOrEqual(128)
  })
  it('are cut where a line never ends', () => {
    expect(blocksOf(lines(300, 1000), 0, 300)).toHaveLength(3)
    expect(blocksOf([], 0, 0)).toEqual([])
  })
  it('stay as they are when tokens come', () => {
    const tokens = lines(1000, 17)
    expect(blocksOf(tokens, 0, 900).slice(0, -1)).toEqual(blocksOf(tokens, 0, 1000).slice(0, blocksOf(tokens, 0, 900).length - 1))
  })
  it('keep room for the lines that their text fills', () => {
    const size = { width: 100, character: 10, around: 0, line: 20 }
    // Two words of four letters in a line, and one line that ends itself.
    expect(heightOf([token('word'), token('word'), token('word')], { start: 0, end: 3 }, size)).toBe(40)
    expect(heightOf([token('a\n'), token('b')], { start: 0, end: 2 }, size)).toBe(40)
    expect(heightOf([token('a\n')], { start: 0, end: 1 }, size)).toBe(20)
  })
})

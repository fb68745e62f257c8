/** Where texts are cut, and what becomes of half a character. */

import { expect, it } from 'vitest'
import { cutText, slug, wellFormed, wellFormedJson } from './text'

it.each([
  ['abc', 2, 'ab'],
  ['abc', 3, 'abc'],
  ['abc', 9, 'abc'],
  ['a😀c', 1, 'a'],
  ['a😀c', 2, 'a'],
  ['a😀c', 3, 'a😀'],
  ['😀', 1, ''],
  ['', 1, ''],
])('%j cut at %i', (text, most, cut) => {
  expect(cutText(text, most)).toBe(cut)
})

it.each([
  ['a\uD83D', 'a\uFFFD'],
  ['\uDE00\uD83D!', '\uFFFD\uFFFD!'],
  ['a😀 \\ud83d ü', 'a😀 \\ud83d ü'],
])('%j becomes well formed', (text, right) => {
  expect(wellFormed(text)).toBe(right)
})

it('JSON has no half character in it, and all else as it was', () => {
  const value = { a: ['x\uD83D', '😀', 'C:\\ud83d'], b: { c: null, d: 1.5 } }
  expect(JSON.parse(wellFormedJson(value))).toEqual({ ...value, a: ['x\uFFFD', '😀', 'C:\\ud83d'] })
  expect(wellFormedJson(value, 1)).toContain('\n "a"')
  expect(wellFormedJson({ a: '😀' })).toBe('{"a":"😀"}')
})

it('a name becomes a file name', () => {
  expect([slug('Lane · tiny'), slug('日本'), slug('../../etc'), slug('A'.repeat(99))]).toEqual(['lane-tiny', 'run', 'etc', 'a'.repeat(60)])
})

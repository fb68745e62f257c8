/** JSON with Python's extras: read rightly, refused when it could mean two things, and linear in its length. */

import { describe, expect, it } from 'vitest'
import { readJson } from './json'

const value = (text: string) => {
  const read = readJson(text)
  return read.ok ? read.value : `refused: ${read.why}`
}

describe('readJson', () => {
  it.each([
    ['{"a":NaN,"b":[-Infinity,Infinity]}', { a: null, b: [null, null] }],
    ['{"a":"NaN \\" Infinity","b":"\\\\"}', { a: 'NaN " Infinity', b: '\\' }],
    ['[1,-2.5e3,true,null,"x"]', [1, -2500, true, null, 'x']],
    ['{"a":{"a":{"a":{"a":1,"a":2}}}}', { a: { a: { a: { a: 2 } } } }],
    ['{"a":[{"b":1},{"b":2}]}', { a: [{ b: 1 }, { b: 2 }] }],
    ['{"a":"a","b":"a"}', { a: 'a', b: 'a' }],
  ])('%s', (text, wanted) => expect(value(text)).toEqual(wanted))

  it.each(['', '{', '"', '"\\"', '1NaN', 'NaN1', 'Nan', 'Inf', '-NaN', '{"a":}', '{a:1}', '[1,]', '\u0000', 'nul'])('%j is not JSON', (text) =>
    expect(value(text)).toBe('refused: it is not JSON'),
  )

  it('refuses a key that is there twice, escaped or not', () => {
    expect(value('{"reward":1,"reward":0}')).toBe('refused: it holds "reward" twice')
    expect(value('{"data":{"reward" :1,"rew\\u0061rd":0}}')).toBe('refused: it holds "reward" twice')
    expect(value('{"data":{"observation":{"reward":1,"reward":0}}}')).toBe('refused: it holds "reward" twice')
  })

  it('refuses what nests too deeply, before anything is built', () => {
    expect(value('['.repeat(1_000_000))).toBe('refused: it nests deeper than 100 levels')
    expect(value('{"a":'.repeat(101) + '1' + '}'.repeat(101))).toContain('100 levels')
    expect(readJson('['.repeat(100) + ']'.repeat(100)).ok).toBe(true)
  })

  it('is quick on what makes a naive reader slow', () => {
    // Of this process alone: a busy machine keeps nobody's clock. What looks at each place once more for every other takes minutes.
    const began = process.cpuUsage()
    const long = `{"a":"${'x'.repeat(12_000_000)}","b":NaN}`
    expect(value(long)).toMatchObject({ b: null })
    expect(value(`"${'\\"'.repeat(1_000_000)}`)).toContain('not JSON')
    expect(readJson(`{"screenshot":[${'[1,2,3],'.repeat(500_000)}[1]]}`).ok).toBe(true)
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(30)
  })
})

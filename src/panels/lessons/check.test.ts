import { describe, expect, it } from 'vitest'
import type { Question } from './card'
import { judge, readNumber, readNumbers } from './check'

describe('what a pupil types', () => {
  it.each([
    ['0.5', 0.5],
    [' \u22120,94 ', -0.94],
    ['+1', 1],
    ['1/4', 0.25],
    ['-3/8', -0.375],
    ['20 %', 20],
    ['.5', 0.5],
    ['', null],
    ['half', null],
    ['1/0', null],
    ['1/2/3', null],
    ['1e999', null],
    ['0x10', null],
  ])('%s is %s', (text, value) => expect(readNumber(text)).toBe(value))

  it('one that is no number spoils all', () => {
    expect(readNumbers(['1', '2'])).toEqual([1, 2])
    expect(readNumbers(['1', 'x'])).toBeNull()
  })
})

const numbers = (exact: boolean, tolerance: number, ...answer: number[]): Question => ({ kind: 'numbers', ask: '', reveal: '', labels: answer.map(String), exact, tolerance, answer })

describe('the verdict', () => {
  it('numbers that are computed are right within their rounding, all of them or none', () => {
    expect(judge(numbers(true, 0.02, 0.866, -0.866), [0.87, -0.87])).toBe('right')
    expect(judge(numbers(true, 0.02, 0.866, -0.866), [0.87, 0.87])).toBe('off')
    expect(judge(numbers(true, 0.02, 0.866), [0.75])).toBe('off')
    expect(judge(numbers(true, 0.02, 0.866), 'up')).toBe('off')
    expect(judge(numbers(true, 0.02, 0.866), [0.87, 0.87])).toBe('off')
  })
  it('a guess is right, near or off', () => {
    expect(judge(numbers(false, 1, 18), [19])).toBe('right')
    expect(judge(numbers(false, 1, 18), [12])).toBe('near')
    expect(judge(numbers(false, 1, 18), [2])).toBe('off')
  })
  it('a choice is right or off', () => {
    const question: Question = { kind: 'choice', ask: '', reveal: '', options: [], answer: 'up' }
    expect([judge(question, 'up'), judge(question, 'down')]).toEqual(['right', 'off'])
  })
})

import { expect, it } from 'vitest'
import { said } from './said'

it('keeps what a person can read', () => {
  expect(said('No such tool: “héllo” <b>')).toBe('No such tool: “héllo” <b>')
})

it('is one line, and turns no letter of the sentence around it', () => {
  expect(said('\tTraceback:\r\n  line 1\u0000')).toBe('Traceback:   line 1')
  expect(said('no\u202Edrawkcab\u2066')).toBe('no drawkcab')
})

it('is cut between characters', () => {
  expect(said('x'.repeat(300))).toHaveLength(300)
  expect(said('x'.repeat(10_000))).toBe(`${'x'.repeat(300)}…`)
  expect(said(`${'x'.repeat(299)}😀😀`)).toBe(`${'x'.repeat(299)}…`)
})

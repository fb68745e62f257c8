import { expect, it } from 'vitest'
import { describeError, isLasting, PlaygroundError, UnreadableReplyError } from './errors'

it('an error reads as what happened and what to do', () => {
  expect(describeError(new PlaygroundError('config', 'r is 0.', 'Choose 1 or more.'))).toBe('r is 0. Choose 1 or more.')
  expect(describeError(new PlaygroundError('config', 'r is 0.'))).toBe('r is 0.')
  expect([describeError(new TypeError('x is not a function')), describeError('text')]).toEqual(['x is not a function', 'text'])
})

it('only an error that says so would come again in the same way', () => {
  const lasting = new PlaygroundError('environment', 'It raised.', '', { recurrence: 'lasting' })
  const passing = new PlaygroundError('environment', 'It went away.', '', { recurrence: 'passing' })
  expect([lasting, passing, new PlaygroundError('environment', 'Who knows.'), new Error('x')].map(isLasting)).toEqual([true, false, false, false])
})

it('an answer that could not be read is the environment’s matter, and keeps its cause', () => {
  const cause = new SyntaxError('bad')
  const error = new UnreadableReplyError('It sent no JSON.', 'Look at its log.', { cause })
  expect(error).toMatchObject({ kind: 'environment', name: 'UnreadableReplyError', cause, advice: 'Look at its log.' })
  expect(error).toBeInstanceOf(PlaygroundError)
})

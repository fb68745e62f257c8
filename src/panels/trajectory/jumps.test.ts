import { expect, it } from 'vitest'
import type { LoggedToken } from '../../store/token-log'
import { mostChanged, mostSurprising, nextTrained } from './jumps'

const token = (logprob: number | null, mask: 0 | 1 = 1, afterLogprob?: number): LoggedToken => ({
  id: 1,
  text: 'x',
  author: mask ? 'model' : 'environment',
  mask,
  logprob,
  trainLogprob: null,
  entropy: null,
  top: null,
  ...(afterLogprob !== undefined && { afterLogprob }),
})

it('finds the least likely and the most changed of the trained tokens, up or down', () => {
  const tokens = [token(-9, 0), token(-1, 1, -1.1), token(-3, 1, -2.8), token(-2, 1, -2.5)]
  expect([mostSurprising(tokens), mostChanged(tokens)]).toEqual([2, 3])
  expect([mostSurprising([token(null, 0)]), mostChanged([token(-1)])]).toEqual([null, null])
})

it('goes to the next trained token over what is masked', () => {
  const tokens = [token(-1), token(null, 0), token(null, 0), token(-1)]
  expect([nextTrained(tokens, 0, 1), nextTrained(tokens, 3, -1), nextTrained(tokens, 3, 1)]).toEqual([3, 0, null])
})

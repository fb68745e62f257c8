/** When two continuations part. */

import { expect, it } from 'vitest'
import { sameBeginnings } from './rollout'

it('counts the tokens that both wrote', () => {
  expect(sameBeginnings([[1, 2, 3], [4], [5, 6]], [[1, 2, 3], [5], [5, 7]])).toEqual([3, 0, 1])
  expect(sameBeginnings([[1, 2]], [[1]])).toEqual([1])
  expect(sameBeginnings([[1]], [])).toEqual([0])
})

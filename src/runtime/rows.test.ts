import { expect, it } from 'vitest'
import { gatherRows } from './rows'

it('takes rows in the order that is asked for, one more than once too', () => {
  const matrix = Float32Array.of(0, 1, 10, 11, 20, 21)
  expect([...gatherRows(matrix, 2, [2, 0, 2])]).toEqual([20, 21, 0, 1, 20, 21])
  expect(gatherRows(matrix, 2, [])).toHaveLength(0)
})

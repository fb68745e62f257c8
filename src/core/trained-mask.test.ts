import { expect, it } from 'vitest'
import { trainedMask } from './trained-mask'

const whole = { mask: [0, 1, 1] as (0 | 1)[], reward: 0, terminated: true, trainLogprobs: [0, -1, -2] }

it.each([
  ['trained', {}, [0, 1, 1]],
  ['cut off and trained all the same', { terminated: false }, [0, 1, 1]],
  ['cut off and left out by the update', { terminated: false, trainLogprobs: null }, [0, 0, 0]],
  ['without a reward', { reward: null, trainLogprobs: null }, [0, 0, 0]],
  ['without a record of log-probs', { trainLogprobs: null }, [0, 1, 1]],
])('an episode that was %s', (_, change, mask) => {
  expect(trainedMask({ ...whole, ...change })).toEqual(mask)
})

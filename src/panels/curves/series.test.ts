import { describe, expect, it } from 'vitest'
import { reduce } from '../../store/reduce'
import { stepMessages } from '../../store/testing/script'
import { TokenLog } from '../../store/token-log'
import { EMPTY_RUN } from '../../store/view'
import { fixedDomain, seriesOf } from './series'

const messages = [stepMessages(1), stepMessages(2)].flat()
const { history } = messages.reduce((v, m) => reduce(v, m, new TokenLog(), 0), EMPTY_RUN)

describe('curves', () => {
  it('have a range only for the reward', () => {
    expect(seriesOf(history, 'reward').map((p) => [p.step, p.range])).toEqual([
      [1, [0, 1]],
      [2, [0, 1]],
    ])
    expect(seriesOf(history, 'entropy').every((p) => p.range === null && (p.value ?? 0) > 0)).toBe(true)
  })
  it('leave a gap where nothing was measured', () => {
    expect(seriesOf(history, 'kl').map((p) => p.value)).toEqual([null, null])
  })
  it('are laid over those of other runs, step by step', () => {
    const other = [1, 2, 3].map((step) => ({ ...(history[0] as (typeof history)[number]), step, metrics: { reward: step / 10 } }))
    expect(seriesOf(history, 'reward', [other, []]).map((p) => [p.step, p.value === null, p.others])).toEqual([
      [1, false, [0.1, null]],
      [2, false, [0.2, null]],
      [3, true, [0.3, null]],
    ])
  })
  it('keep shares on the whole range', () => {
    expect(fixedDomain('success')).toEqual([0, 1])
    expect(fixedDomain('loss')).toBeNull()
  })

  it('begin at 0 where nothing can be below it', () => {
    for (const name of ['entropy', 'grad_norm', 'completions/mean_length']) expect(fixedDomain(name)).toEqual([0, 'auto'])
  })
})

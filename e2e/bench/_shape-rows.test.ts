/** Plans and /proc become rows. */

import { describe, expect, it } from 'vitest'
import { parseStatus } from './_processes'
import { memoryRow, plannedPeaks, secondsRow } from './_shape-rows'

describe('memory', () => {
  it('of a plan is what exists together: training after sampling, with the cache or without', () => {
    const plan = { weights: 1000, adapter: 200, kvCache: 300, sampling: 40, training: 500, peak: 0, largestBuffer: 0 }
    expect(plannedPeaks(plan)).toEqual({ sampling: 1540, training: 1740, trainingWithCache: 2040 })
  })

  it('is told in GB, with the plan beside it as the peer', () => {
    expect(memoryRow('shape06b', 'qwen3-0.6b/memory', 2_242_400_000)).toEqual({ bench: 'shape06b', row: 'qwen3-0.6b/memory', value: 2.242, unit: 'GB' })
    expect(memoryRow('shape06b', 'm/memory counted', 1.1e9, 1e9)).toMatchObject({ value: 1.1, peer: 'planMemory', peerValue: 1, ratio: 1.1 })
    expect(secondsRow('shape06b', 'm/load', 12.34)).toEqual({ bench: 'shape06b', row: 'm/load', value: 12.3, unit: 's' })
  })

  it('of a process is read from its status', () => {
    expect(parseStatus('Name:\tchromium\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\nRssAnon:\t 5 kB\n')).toEqual({ now: 104_857_600, peak: 209_715_200 })
    expect(() => parseStatus('Name:\tkthread\n')).toThrow('no VmRSS')
  })
})

import { describe, expect, it } from 'vitest'
import type { StepSummary } from '../core/run-record'
import { silentGroups, whySilent } from './signal'

const said = (reward: number | null, success: boolean | null = null) => ({ reward, success })
const step = (number: number, ...signals: boolean[]) => ({ step: number, groups: signals.map((signal, group) => ({ group, signal })) }) as unknown as StepSummary

describe('a group without a signal', () => {
  it('has none because no episode, or only one, could be scored', () => {
    expect(whySilent([said(null), null])).toEqual({ kind: 'none' })
    expect(whySilent([said(null), said(0.5)])).toEqual({ kind: 'one', reward: 0.5 })
  })
  it('has none because all rewards are equal, be they solved, not solved or neither', () => {
    expect(whySilent([said(1, true), said(1, true), said(null)])).toEqual({ kind: 'equal', reward: 1, count: 2, solved: true })
    expect(whySilent([said(0, false), said(0, false)])).toMatchObject({ solved: false })
    expect(whySilent([said(-0.5), said(-0.5)])).toMatchObject({ reward: -0.5, solved: null })
    expect(whySilent([said(0, false), said(0, true)])).toMatchObject({ solved: null })
  })
  it('is counted over the last steps, up to the one that is looked at', () => {
    const history = [step(1, false, false), step(2, true, false), step(3, true, true)]
    expect(silentGroups(history, null)).toEqual({ silent: 3, groups: 6, steps: 3 })
    expect(silentGroups(history, 1)).toEqual({ silent: 2, groups: 2, steps: 1 })
    expect(silentGroups([], null)).toEqual({ silent: 0, groups: 0, steps: 0 })
    expect(silentGroups(Array.from({ length: 30 }, (_, i) => step(i + 1, false)), null)).toMatchObject({ silent: 20, steps: 20 })
  })
})

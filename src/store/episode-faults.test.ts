import { describe, expect, it } from 'vitest'
import { countFaults, FAULTS, passes } from './episode-faults'

const well = { verdict: 'said', reward: 1, parseErrors: 0, toolErrors: 0 } as const

describe('what went otherwise than asked', () => {
  it('keeps three kinds of nothing apart: the environment said 0, we could not read it, it failed', () => {
    const episodes = [{ ...well, reward: 0 }, { ...well, verdict: 'unreadable' as const, reward: null }, { ...well, verdict: 'env_failed' as const, reward: null }]
    expect(episodes.map((e) => FAULTS.filter((fault) => passes(e, fault)))).toEqual([['zero'], ['unreadable'], ['failed']])
  })
  it('takes no 0 for the environment’s that it did not say', () => {
    expect(FAULTS.filter((fault) => passes({ ...well, verdict: 'no_call', reward: 0 }, fault))).toEqual(['no_call'])
    expect(FAULTS.filter((fault) => passes({ ...well, verdict: 'budget', reward: 0 }, fault))).toEqual(['budget'])
  })
  it('counts an episode in each kind that it had, and one that has not begun in none', () => {
    const both = { ...well, reward: 0, parseErrors: 2, toolErrors: 1 }
    expect(countFaults([well, both, null])).toEqual({ all: 3, zero: 1, no_call: 0, parse: 1, tool: 1, budget: 0, silent: 0, failed: 0, unreadable: 0, stopped: 0 })
  })
})

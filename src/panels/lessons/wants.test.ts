import { describe, expect, it } from 'vitest'
import { defaultConfig } from '../../store/presets'
import { setSetting } from '../../store/settings'
import { EMPTY_RUN, type RunView } from '../../store/view'
import type { StepSummary } from '../../core/run-record'
import type { Wants } from './card'
import { progressOf, settingsInWords, suits, withWants } from './wants'

const wants: Wants = { settings: { num_generations: 16, prompts_per_step: 4 }, steps: 2 }
const lane = defaultConfig()
const wanted = withWants(lane, wants)
const summary = (step: number): StepSummary => ({ step, metrics: {}, rewardMin: 0, rewardMax: 1, groups: [], episodes: 64, unscorable: 0, seconds: { sampling: 0, training: 0 }, version: step })
const after = (steps: number, run: RunView['run'] = { state: 'paused', step: steps }): RunView => ({ ...EMPTY_RUN, run, history: Array.from({ length: steps }, (_, i) => summary(i + 1)) })

describe('what a card wants trained', () => {
  it('is set, taken over, pressed for, waited for and met', () => {
    expect(progressOf(wants, { config: lane, applied: lane, view: after(0, { state: 'ready' }) })).toEqual({ state: 'set' })
    expect(progressOf(wants, { config: wanted, applied: lane, view: after(0, { state: 'ready' }) })).toEqual({ state: 'press', steps: 2, done: 0 })
    expect(progressOf(wants, { config: wanted, applied: lane, view: after(5) })).toEqual({ state: 'reset' })
    expect(progressOf(wants, { config: wanted, applied: wanted, view: after(0, { state: 'loading', what: '', done: 0, total: null }) })).toEqual({ state: 'loading' })
    expect(progressOf(wants, { config: wanted, applied: wanted, view: after(1, { state: 'running', until: 'limit' }) })).toEqual({ state: 'running', steps: 2, done: 1 })
    expect(progressOf(wants, { config: wanted, applied: wanted, view: after(1) })).toEqual({ state: 'press', steps: 2, done: 1 })
    expect(progressOf(wants, { config: wanted, applied: wanted, view: after(2) })).toEqual({ state: 'met' })
  })
  it('is met by the run, whatever the controls say now', () => {
    expect(progressOf(wants, { config: lane, applied: wanted, view: after(2) })).toEqual({ state: 'met' })
    expect(progressOf(wants, { config: wanted, applied: setSetting(wanted, 'num_generations', 2), view: after(2) })).toEqual({ state: 'reset' })
  })
  it('another environment comes with its own settings', () => {
    const echo: Wants = { environment: 'echo', settings: { temperature: 1 }, steps: 1 }
    expect(suits(lane, echo)).toBe(false)
    expect(withWants({ ...lane, backend: 'wasm' }, echo)).toEqual({ ...defaultConfig({ kind: 'builtin', name: 'echo' }), backend: 'wasm' })
    expect(suits(withWants(lane, echo), echo)).toBe(true)
  })
  it('is told by name', () => expect(settingsInWords(wants)).toBe('num_generations 16, prompts_per_step 4'))
})

/** Each finding of a dry run names what to change; one that is as it should be names nothing. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig } from '../../core/config'
import type { DryRunReport } from '../../core/dry-run'
import { adviceOn } from './advice'

function report({ grpo, ...change }: Partial<Omit<DryRunReport, 'grpo'>> & { grpo?: Partial<GrpoConfig> } = {}): DryRunReport {
  return {
    grpo: { ...DEFAULT_GRPO, ...grpo },
    rewards: [0, 1, 0, 1, 1, 0, 0, 1],
    groups: 2,
    useful: 2,
    solved: 4,
    outOfTokens: 0,
    outOfTurns: 0,
    calls: 8,
    toolErrors: 0,
    unparsed: 0,
    noCall: 0,
    error: null,
    tokens: 20,
    seconds: { sampling: 1, training: 1 },
    step: { sampling: 4, training: 4 },
    ...change,
  }
}
const settings = (found: DryRunReport) => adviceOn(found).map(({ setting }) => setting)
const text = (found: DryRunReport) => adviceOn(found).map((each) => each.text).join(' ')
const equal = (reward: number) => Array<number>(8).fill(reward)

describe('advice', () => {
  it('is none where rewards differ, calls are read and a step is short', () => {
    expect(adviceOn(report())).toEqual([])
  })

  it('on equal rewards names what makes them differ; on solved ones a harder task', () => {
    const none = report({ rewards: equal(0), useful: 0, solved: 0, grpo: { temperature: 0.4 } })
    expect(settings(none)).toEqual(['temperature', 'num_generations', null])
    expect(text(none)).toContain('temperature, now 0.4: all 8 rewards are 0')
    expect(text(report({ rewards: equal(1), useful: 0, solved: 8 }))).toBe('All 8 episodes solved it: there is nothing to learn from. Take a harder task.')
    // Where nobody can say what is solved, it is not said.
    expect(settings(report({ rewards: equal(0.5), useful: 0, solved: null }))).toEqual(['temperature', 'num_generations'])
  })

  it('on a spent budget names it, and not the temperature', () => {
    const cut = report({ rewards: equal(0), useful: 0, solved: 0, outOfTokens: 8, grpo: { max_completion_length: 32 } })
    expect(settings(cut)).toEqual(['max_completion_length'])
    expect(text(cut)).toContain('now 32: 8 of 8 episodes ran out of tokens')
    expect(settings(report({ outOfTurns: 5 }))).toEqual(['max_tool_calling_iterations'])
    expect(settings(report({ outOfTokens: 3 }))).toEqual([])
  })

  it('on calls that cannot be read, are missing or go wrong says model, prompt or tools', () => {
    expect(text(report({ calls: 4, unparsed: 4 }))).toMatch(/^4 of 8 tool calls could not be parsed\. Take a larger model/)
    expect(text(report({ calls: 2, noCall: 6 }))).toMatch(/^In 6 of 8 episodes no call reached/)
    expect(text(report({ toolErrors: 6 }))).toMatch(/^6 of 8 calls were answered with an error/)
    expect(settings(report({ unparsed: 1, toolErrors: 1 }))).toEqual([])
  })

  it('on a group without a signal names more groups, or sampling again', () => {
    expect(settings(report({ useful: 1 }))).toEqual(['prompts_per_step', 'dynamic_sampling'])
    expect(settings(report({ useful: 1, grpo: { dynamic_sampling: true } }))).toEqual(['prompts_per_step'])
  })

  it('on a step of nine minutes names the setting that can be lowered', () => {
    const step = { sampling: 400, training: 140 }
    expect(text(report({ step, grpo: { prompts_per_step: 8 } }))).toBe('prompts_per_step, now 8: a step would take about 9 min. Lower it, or take a smaller model.')
    expect(settings(report({ step }))).toEqual(['num_generations'])
    expect(settings(report({ step, grpo: { num_generations: 2 } }))).toEqual(['max_completion_length'])
  })

  it('on a broken environment gives its reason first', () => {
    expect(adviceOn(report({ error: 'The server is gone.', rewards: Array<null>(8).fill(null), useful: 0, solved: 0 }))[0]?.text).toMatch(/^8 of 8 episodes could not be scored: The server is gone\. Mend/)
  })
})

import { describe, expect, it } from 'vitest'
import { S } from '../ui/strings'
import type { Message } from '../worker/protocol'
import { reduce } from './reduce'
import { engineMessages, stepMessages } from './testing/script'
import { TokenLog } from './token-log'
import { EMPTY_RUN, KEPT_EPISODE_STEPS, KEPT_STEPS, latestStep, type RunView } from './view'

function play(messages: Message[], from: RunView = EMPTY_RUN, tokens = new TokenLog()) {
  return { view: messages.reduce((view, message) => reduce(view, message, tokens, 0), from), tokens }
}

/** The messages up to and including the n-th event of a type. */
function until(messages: Message[], type: string, n = 1): Message[] {
  let seen = 0
  const at = messages.findIndex((m) => m.type === 'event' && m.event.type === type && ++seen === n)
  return messages.slice(0, at + 1)
}

describe('a run as the worker tells it', () => {
  it('knows engine, environment and state', () => {
    const { view } = play(engineMessages())
    expect(view.run).toEqual({ state: 'ready' })
    expect(view.engine?.info.backend).toBe('wasm')
    expect(view.environment?.tools.map((t) => t.function.name)).toEqual(['observe', 'emergency_stop', 'lane_change'])
  })

  it('grows an episode by its tokens, which stay outside the view', () => {
    const { view, tokens } = play(until(stepMessages(1), 'tokens', 2))
    const [first] = latestStep(view)?.episodes ?? []
    expect(first?.length).toBe((first?.promptLength ?? 0) + 8)
    expect(tokens.read(1, 0)).toHaveLength(first?.length ?? -1)
    expect(JSON.stringify(view)).not.toContain('tool_call')
  })

  it('forgets what was sampled ahead of a step that begins again', () => {
    const { view } = play([...stepMessages(1), ...until(stepMessages(3), 'scored'), ...until(stepMessages(2), 'step-started')])
    expect(view.steps.map(({ step }) => step)).toEqual([1, 2])
  })

  it('times the wait for an environment and ends it with the answer', () => {
    const messages = stepMessages(1)
    const tokens = new TokenLog()
    const waiting = until(messages, 'environment-waiting').reduce((v, m) => reduce(v, m, tokens, 500), EMPTY_RUN)
    expect(latestStep(waiting)?.episodes.some((e) => e.waitingSince === 500)).toBe(true)
    const { view } = play(until(messages, 'environment-answered', 64))
    expect(latestStep(view)?.episodes.every((e) => e.waitingSince === null)).toBe(true)
  })

  it('keeps an unscorable episode apart from one with reward 0', () => {
    const { view } = play(stepMessages(1, { broken: 3, skill: () => 0 }))
    const episodes = latestStep(view)?.episodes ?? []
    expect(episodes[3]).toMatchObject({ reward: null, success: null, exit: 'env_error', advantage: 0 })
    expect(episodes[2]).toMatchObject({ reward: 0, success: false })
    expect(view.history[0]).toMatchObject({ unscorable: 1, rewardMin: 0, rewardMax: 0 })
  })

  it('shows advantages when they are scored, before the update', () => {
    const { view } = play(until(stepMessages(1), 'scored'))
    const step = latestStep(view)
    expect(step?.groups).toHaveLength(8)
    expect(step?.episodes.some((e) => (e.advantage ?? 0) > 0)).toBe(true)
    expect(view.history).toHaveLength(0)
  })

  it('adds trainer log-probs and entropies to the tokens after the update, for trained tokens only', () => {
    const { tokens } = play(stepMessages(1))
    const log = tokens.read(1, 0)
    expect(log.filter((t) => t.mask === 1).every((t) => t.trainLogprob !== null && t.entropy !== null)).toBe(true)
    expect(log.filter((t) => t.mask === 0).every((t) => t.trainLogprob === null)).toBe(true)
  })

  it('keeps the last steps only', () => {
    const small = { groups: 1, size: 2 }
    const [first] = play(stepMessages(1, small)).view.history
    if (!first) throw new Error('no step')
    // As many as are kept, then five more of them played.
    const before = { ...EMPTY_RUN, history: Array.from({ length: KEPT_STEPS }, (_, i) => ({ ...first, step: i + 1 })) }
    const { view, tokens } = play([1, 2, 3, 4, 5].flatMap((more) => stepMessages(KEPT_STEPS + more, small)), before)
    expect(view.history).toHaveLength(KEPT_STEPS)
    expect(view.history[0]?.step).toBe(6)
    expect(view.steps).toHaveLength(KEPT_EPISODE_STEPS)
    expect(tokens.read(KEPT_STEPS + 2, 0)).toHaveLength(0)
    expect(tokens.read(KEPT_STEPS + 5, 0).length).toBeGreaterThan(0)
  })

  it('replaces a step that is sampled again', () => {
    const { view } = play([...until(stepMessages(1), 'tokens', 9), ...stepMessages(1)])
    expect(view.steps).toHaveLength(1)
    expect(view.history).toHaveLength(1)
  })

  it('forgets the curve on reset but not the engine', () => {
    const { view, tokens } = play([...engineMessages(), ...stepMessages(1), { type: 'cleared' }])
    expect(view).toMatchObject({ steps: [], history: [], notices: [], run: { state: 'ready' } })
    expect(view.engine).not.toBeNull()
    expect(tokens.read(1, 0)).toHaveLength(0)
  })

  it('counts equal notices instead of repeating them', () => {
    const notice = (text: string): Message => ({ type: 'event', event: { type: 'notice', level: 'info', text } })
    const { view } = play([notice('a'), notice('b'), notice('a')])
    expect(view.notices.map((n) => [n.text, n.count])).toEqual([
      ['b', 1],
      ['a', 2],
    ])
  })

  it('puts notices that differ in the step alone into one, with the steps', () => {
    const notice = (step: number, what = 'has a signal'): Message => ({ type: 'event', event: { type: 'notice', level: 'info', text: `No group of step ${step} ${what}.` } })
    const { view } = play([notice(3), notice(48), notice(49), notice(7, 'ended'), notice(49)])
    expect(view.notices.map(({ text, count, steps }) => [text, count, steps])).toEqual([
      ['No group of step 7 ended.', 1, [7]],
      ['No group of step 49 has a signal.', 4, [3, 48, 49]],
    ])
    expect(S.notices.steps([3, 48, 49], 50)).toBe('3 of 50 steps, last 48–49')
    expect(S.notices.steps([3, 50], 50)).toBe('2 of 50 steps, last 50')
  })

  it('ignores events of episodes it does not know', () => {
    const stray: Message = { type: 'event', event: { type: 'tokens', step: 9, index: 0, tokens: [] } }
    expect(play([stray]).view).toEqual(EMPTY_RUN)
  })
})

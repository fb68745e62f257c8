import { describe, expect, it } from 'vitest'
import type { PlayAction, PlayResult } from '../worker/protocol'
import { createPlay, playedConfig, playsChanges } from './play-store'
import { defaultConfig } from './presets'
import { createSetupStore } from './setup-store'
import { engineMessages, scriptedPort } from './testing/script'

const observation = { text: 'seen', reward: null, done: false, toolError: false, ms: 3, metadata: {} }
const begun: PlayResult = { kind: 'begun', seed: 5, observation, prompt: '<|im_start|>', tools: [], hasState: true }
const call = { name: 'lane_change', arguments: { direction: 'left' } }

function open() {
  const port = scriptedPort()
  const setup = createSetupStore()
  const play = createPlay(port, setup, { now: () => 0, schedule: (callback) => callback() })
  port.say(...engineMessages())
  const asked = () => port.sent.flatMap((c) => (c.type === 'play' ? [c] : []))
  const actions = () => asked().map((c) => c.action.do)
  const answer = (result: PlayResult) => port.say({ type: 'play-result', requestId: asked().at(-1)?.requestId ?? -1, result })
  return { port, setup, play, asked, actions, answer, view: () => play.store.getState() }
}

describe('an episode by hand', () => {
  it('asks one thing at a time and shows what came back', () => {
    const { play, answer, actions, view, asked } = open()
    play.reset(5)
    expect([view().busy, view().playing]).toEqual(['reset', false])
    play.reset(6)
    play.call(call)
    expect(actions()).toEqual(['reset'])
    expect(asked()[0]?.action).toMatchObject({ seed: 5, setup: { environment: { kind: 'builtin', name: 'lane' }, tool_edits: [] } })
    answer(begun)
    expect(view()).toMatchObject({ busy: null, playing: true, latest: observation, begun: { seed: 5, hasState: true } })
    play.call(call)
    answer({ kind: 'answered', call, observation: { ...observation, reward: 1, done: true } })
    expect(view()).toMatchObject({ playing: false, latest: { reward: 1 } })
    play.askState()
    answer({ kind: 'state', state: { turn: 1 } })
    expect(view().state).toEqual({ turn: 1 })
    play.end()
    expect(actions()).toEqual(['reset', 'call', 'state'])
  })

  it('is kept as a trajectory of its own', () => {
    const { port, play } = open()
    port.say(
      { type: 'play-event', event: { type: 'step-started', step: 1, episodes: 1, groups: 1 } },
      {
        type: 'play-event',
        event: { type: 'episode-started', step: 1, index: 0, group: 0, seed: 5, prompt: [{ id: 1, text: 'a', author: 'model', logprob: null, top: null, mask: 0 }] },
      },
    )
    expect(play.run.getState().steps[0]?.episodes[0]).toMatchObject({ step: 1, seed: 5, length: 1 })
    // A person's token stands where the model's would, and does not train.
    expect(play.run.tokens.read(1, 0)[0]).toMatchObject({ author: 'model', mask: 0 })
  })

  it('End does not wait for an answer; the answer that comes too late is nobody’s', () => {
    const { play, answer, asked, view, port } = open()
    play.reset(5)
    const late = asked()[0]?.requestId ?? 0
    play.end()
    answer({ kind: 'ended' })
    port.say({ type: 'play-result', requestId: late, result: begun })
    expect(view()).toMatchObject({ busy: null, playing: false, begun: null })
  })

  it('is over when the run needs the session, when it fails, and when the worker dies', () => {
    const { play, answer, view, port } = open()
    play.reset(5)
    answer(begun)
    port.say({ type: 'play-ended', reason: 'The run needs it.' })
    expect(view()).toMatchObject({ playing: false, error: 'The run needs it.' })
    play.reset(5)
    expect(view().error).toBeNull()
    answer({ kind: 'failed', error: 'Full.', over: true })
    expect(view()).toMatchObject({ busy: null, playing: false, error: 'Full.' })
    play.reset(5)
    port.say({ type: 'state', state: { state: 'failed', error: 'Died.', advice: '', recoverable: false } })
    expect(view()).toMatchObject({ busy: null, error: 'Died.' })
  })

  it('a refused question leaves the episode going', () => {
    const { play, answer, view } = open()
    play.reset(5)
    answer(begun)
    play.askState()
    answer({ kind: 'failed', error: 'It tells none.', over: false })
    expect(view()).toMatchObject({ playing: true, error: 'It tells none.' })
  })

  it('is forgotten with its environment', () => {
    const { play, answer, actions, view, port } = open()
    play.reset(5)
    answer(begun)
    port.say(...engineMessages())
    expect(view().playing).toBe(true)
    port.say(...engineMessages({ kind: 'builtin', name: 'echo' }))
    expect(view()).toMatchObject({ playing: false, begun: null, latest: null })
    expect(actions().at(-1)).toBe('end')
  })

  it('keeps the last two hundred frames', () => {
    const { port, view } = open()
    for (let i = 0; i < 250; i++) port.say({ type: 'play-frames', frames: [{ direction: 'sent', text: String(i), bytes: 1, time: i }] })
    expect(view().frames).toHaveLength(200)
    expect(view().frames.at(-1)?.text).toBe('249')
  })
})

describe('a test of a tool', () => {
  it('is one reset and one call', () => {
    const { play, answer, actions, view } = open()
    play.test('lane_change', call, 7)
    expect(view().tests['lane_change']).toEqual({ call, outcome: null })
    answer(begun)
    expect(actions()).toEqual<PlayAction['do'][]>(['reset', 'call'])
    answer({ kind: 'answered', call, observation })
    expect(view().tests['lane_change']).toEqual({ call, outcome: { ok: true, observation } })
    play.test('lane_change', call, 7)
    answer({ kind: 'failed', error: 'Full.', over: true })
    expect(view().tests['lane_change']).toEqual({ call, outcome: { ok: false, error: 'Full.' } })
    expect(actions()).toEqual(['reset', 'call', 'reset'])
  })
})

it('is played with the controls’ settings, but on the environment that is connected', () => {
  const lane = defaultConfig()
  const echo = defaultConfig({ kind: 'builtin', name: 'echo' })
  const edited = { ...lane, system_prompt: 'Other.' }
  expect(playedConfig({ config: edited, applied: lane, problems: [], awaitsConsent: false, refused: [], refusedStages: [], pressed: false, turnedDown: null, resuming: null })).toBe(edited)
  expect(playedConfig({ config: echo, applied: lane, problems: [], awaitsConsent: false, refused: [], refusedStages: [], pressed: false, turnedDown: null, resuming: null })).toBe(lane)
  const changes = (config: typeof lane, applied: typeof lane | null) => playsChanges({ config, applied, problems: [], awaitsConsent: false, refused: [], refusedStages: [], pressed: false, turnedDown: null, resuming: null })
  expect([changes(edited, lane), changes({ ...lane, backend: 'wasm' }, lane), changes(echo, lane), changes(edited, null)]).toEqual([true, false, false, false])
})

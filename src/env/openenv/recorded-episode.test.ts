/** Every shipped recording is an episode with calls that the model could have made. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkToolCall } from '../../core/tool-schema'
import { CATALOGUE, entryOf, type Entry } from './catalogue'
import { callOf } from './recorded-call'
import { recordedEpisode } from './recorded-episode'
import { parseRecording, type Recording } from './recording'

const shipped = CATALOGUE.flatMap((entry) => (entry.recording === null ? [] : [{ entry, path: entry.recording }]))
const load = (path: string): Recording => parseRecording(readFileSync(new URL(`../../../public/${path}`, import.meta.url), 'utf8'))
const episodeOf = (id: string) => {
  const entry = entryOf(id) as Entry
  return recordedEpisode(load(entry.recording as string), entry)
}

/** Recordings of episodes that never end, or that were left before their end, as these take hundreds of steps. */
const UNENDED = ['echo', 'coding', 'atari', 'dm_control']

describe.each(shipped)('the recording of $entry.id', ({ entry, path }) => {
  it('is one episode that ends where it can: every step is of a turn, and every turn a call of the tools that the model gets', () => {
    const recording = load(path)
    const { first, turns, done } = recordedEpisode(recording, entry)
    const steps = recording.frames.filter(({ dir, text }) => dir === 'sent' && text.startsWith('{"type":"step"')).length
    expect(first.text).not.toBe('')
    // With two sides, one of which is ours, two steps are one turn; the last may be the game's end.
    expect(turns).toHaveLength(entry.id === 'connect4' ? Math.ceil(steps / 2) : steps)
    expect(turns.length).toBeGreaterThan(0)
    expect(done).toBe(!UNENDED.includes(entry.id))
    for (const { call, ms } of turns) {
      if (entry.family === 'typed') expect(checkToolCall(call, entry.tools.map(({ tool }) => tool))).toBeNull()
      expect(ms).toBeGreaterThanOrEqual(0)
    }
  })

  it('is small and tells nothing of the machine on which it was made', () => {
    const text = readFileSync(new URL(`../../../public/${path}`, import.meta.url), 'utf8')
    expect(text.length).toBeLessThan(60_000)
    expect(text).not.toMatch(/127\.0\.0\.1|\/(tmp|root|home|work|usr)\//)
  })
})

it('catch: the paddle walks under the ball, and every line has its board', () => {
  const { first, turns, reward } = episodeOf('catch')
  expect(first).toMatchObject({ text: 'height 7, ball c, paddle f', reward: null, scene: { kind: 'catch', rows: 7, ball: 2, paddle: 5 } })
  expect(turns[0]).toMatchObject({
    call: { name: 'move', arguments: { to: 'left' } },
    observation: { text: 'height 6, ball c, paddle e', reward: 0, scene: { kind: 'catch', rows: 7, paddle: 4 } },
  })
  expect(turns.at(-1)?.observation).toMatchObject({ reward: 1, done: true, scene: { caught: true } })
  expect(reward).toBe(1)
})

it('echo: MCP calls with their results as text, and no reward for any of them', () => {
  const { turns, reward } = episodeOf('echo')
  expect(turns.map(({ call, observation: { text } }) => [call, text])).toEqual([
    [{ name: 'echo_message', arguments: { message: 'lake' } }, 'lake'],
    [{ name: 'echo_with_length', arguments: { message: 'lake' } }, '{"message":"lake","length":4}'],
  ])
  expect(reward).toBeNull()
})

it('connect4: our answer to a move is of its turn, and what it wins is lost', () => {
  const entry = entryOf('connect4') as Entry
  const recording = load(entry.recording as string)
  const { turns, reward } = recordedEpisode(recording, entry)
  expect(turns.map(({ call }) => call)).toEqual(Array(4).fill({ name: 'drop', arguments: { column: 3 } }))
  expect(turns[0]?.observation.text).toMatch(/O/)
  expect(reward).toBe(1)
  // Cut after the first answer, which is made to win.
  const frames = recording.frames.slice(0, 8).map((frame, i) => (i === 7 ? { ...frame, text: frame.text.replace('"reward":0.0,"done":false', '"reward":1.0,"done":true') } : frame))
  expect(recordedEpisode({ ...recording, frames }, entry)).toMatchObject({ turns: [{ observation: { reward: -1, done: true } }], reward: -1, done: true })
})

it('the ticks that follow a call are of its turn, as many as the tool says', () => {
  const carla = entryOf('carla') as Entry
  const sent = (data: unknown) => ({ dir: 'sent' as const, ms: 1, text: JSON.stringify({ type: 'step', data }) })
  const got = (speed_kmh: number) => ({ dir: 'received' as const, ms: 2, text: JSON.stringify({ type: 'observation', data: { observation: { speed_kmh, rubric_reward: speed_kmh / 10 }, reward: 0, done: false } }) })
  const reset = [{ dir: 'sent' as const, ms: 0, text: '{"type":"reset","data":{}}' }, got(0)]
  const observe = { action_type: 'observe' }
  const stop = [sent({ action_type: 'emergency_stop' }), got(9), ...Array.from({ length: 10 }, (_, i) => [sent(observe), got(8 - i / 2)]).flat()]
  const frames = [...reset, ...stop, sent(observe), got(1)]
  const { turns } = recordedEpisode({ ...load('environments/catch.json'), frames }, carla)
  expect(turns.map(({ call: { name }, observation: { text, reward } }) => [name, text.split('\n')[0], reward])).toEqual([
    ['emergency_stop', 'Speed: 3.5 km/h.', 0.35],
    ['observe', 'Speed: 1.0 km/h.', 0.1],
  ])
})

it('an action is told as the call that makes it: constants fit, words come back, what no tool makes is a step', () => {
  const snake = entryOf('snake') as Entry
  expect(callOf(snake, { action: 1 })).toEqual({ name: 'turn', arguments: { direction: 'left' } })
  expect(callOf(snake, { action: 0 })).toEqual({ name: 'go_on', arguments: {} })
  expect(callOf(snake, { action: 9 })).toEqual({ name: 'step', arguments: { action: 9 } })
  const git = entryOf('git') as Entry
  expect(callOf(git, { action_type: 'execute_git_command', command: 'log' })).toEqual({ name: 'execute_git_command', arguments: { command: 'log' } })
  expect(callOf(entryOf('wordle') as Entry, { message: '[crane]' })).toEqual({ name: 'guess', arguments: { guess: 'crane' } })
  expect(callOf(entryOf('wordle') as Entry, { message: 'crane' })).toEqual({ name: 'step', arguments: { message: 'crane' } })
  expect(callOf(entryOf('sudoku') as Entry, { message: '[1 2 3]' })).toEqual({ name: 'place', arguments: { row: 1, col: 2, number: 3 } })
  const browser = entryOf('browsergym') as Entry
  expect(callOf(browser, { action_str: "fill('13', 'it\\'s (me)')" })).toEqual({ name: 'fill', arguments: { bid: '13', text: "it's (me)" } })
  expect(callOf(browser, { action_str: 'noop()' })).toEqual({ name: 'noop', arguments: {} })
})

it('a refused action is a tool error of the episode; a recording without an answered reset is none', () => {
  const entry = entryOf('catch') as Entry
  const { frames, ...about } = load('environments/catch.json')
  const refused = { type: 'error', data: { message: 'no', code: 'VALIDATION_ERROR', errors: [{ type: 'x', loc: ['to'], msg: 'Input should be left' }] } }
  const cut = frames.slice(0, 5).concat({ dir: 'received', ms: 20, text: JSON.stringify(refused) })
  expect(recordedEpisode({ ...about, frames: cut }, entry)).toMatchObject({
    turns: [{ observation: { text: 'Error: to: Input should be left', toolError: true, reward: null } }],
    reward: null,
    done: false,
  })
  expect(() => recordedEpisode({ ...about, frames: frames.slice(0, 2) }, entry)).toThrow('no reset was answered')
})

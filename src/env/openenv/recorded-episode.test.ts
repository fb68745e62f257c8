/** Every shipped recording is an episode with calls that the model could have made. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkToolCall } from '../../core/tool-schema'
import { CATALOGUE, entryOf, type Entry } from './catalogue'
import { callOf, recordedEpisode } from './recorded-episode'
import { parseRecording, type Recording } from './recording'

const shipped = CATALOGUE.flatMap((entry) => (entry.recording === null ? [] : [{ entry, path: entry.recording }]))
const load = (path: string): Recording => parseRecording(readFileSync(new URL(`../../../public/${path}`, import.meta.url), 'utf8'))
const episodeOf = (id: string) => {
  const entry = entryOf(id) as Entry
  return recordedEpisode(load(entry.recording as string), entry)
}

describe.each(shipped)('the recording of $entry.id', ({ entry, path }) => {
  it('is one episode that ends: as many turns as steps were sent, all calls of the tools that the model gets', () => {
    const recording = load(path)
    const { first, turns, done } = recordedEpisode(recording, entry)
    expect(first.text).not.toBe('')
    expect(turns).toHaveLength(recording.frames.filter(({ dir, text }) => dir === 'sent' && text.startsWith('{"type":"step"')).length)
    expect(turns.length).toBeGreaterThan(0)
    expect(done).toBe(true)
    for (const { call, ms } of turns) {
      if (entry.family === 'typed') expect(checkToolCall(call, entry.tools.map(({ tool }) => tool))).toBeNull()
      expect(ms).toBeGreaterThanOrEqual(0)
    }
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

it('echo: an MCP call with its result as text', () => {
  const { turns, reward } = episodeOf('echo')
  expect(turns.map(({ call, observation: { text } }) => [call, text])).toEqual([
    [{ name: 'echo_message', arguments: { message: 'lake' } }, 'lake'],
  ])
  // 4 characters of the 13 for which our echo pays in full: what the recorded server paid.
  expect(reward).toBeCloseTo(4 / 13)
})

it('an action is told as the call that makes it: constants fit, words come back, what no tool makes is a step', () => {
  const snake = entryOf('snake') as Entry
  expect(callOf(snake, { action: 1 })).toEqual({ name: 'turn', arguments: { direction: 'left' } })
  expect(callOf(snake, { action: 0 })).toEqual({ name: 'go_on', arguments: {} })
  expect(callOf(snake, { action: 9 })).toEqual({ name: 'step', arguments: { action: 9 } })
  const git = entryOf('git') as Entry
  expect(callOf(git, { action_type: 'execute_git_command', command: 'log' })).toEqual({ name: 'execute_git_command', arguments: { command: 'log' } })
  expect(callOf(entryOf('wordle') as Entry, { message: '[crane]' })).toEqual({ name: 'step', arguments: { message: '[crane]' } })
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

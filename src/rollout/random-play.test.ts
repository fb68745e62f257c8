/** Games of random calls: which calls there are, that games depend on their seeds alone, and what of them becomes a row. */
import { expect, it } from 'vitest'
import { possibleCalls } from '../core/possible-calls'
import { builtinEnvironment } from '../env/builtin'
import { withToolEdits } from '../env/tool-edits'
import { bandit } from '../train/testing/bandit'
import { randomGames } from './random-play'

const play = { system_prompt: 'You drive.', user_prompt: '', turns: 3, seed: 5, seeds: Array.from({ length: 60 }, (_, i) => i) }

it('knows every call of tools whose arguments are choices, and none of others', () => {
  const calls = possibleCalls(builtinEnvironment('lane').tools)
  expect(calls.map(({ name, arguments: args }) => [name, ...Object.values(args)])).toEqual([['observe'], ['emergency_stop'], ['lane_change', 'left'], ['lane_change', 'right']])
  expect(possibleCalls(builtinEnvironment('guess').tools)).toEqual([])
  const boolean = { type: 'function' as const, function: { name: 'say', description: '', parameters: { properties: { loud: { type: 'boolean' }, word: { enum: ['a', 'b', 'c'] } } } } }
  expect(possibleCalls([boolean])).toHaveLength(6)
})

it('plays to the end of each game with the tools as the model sees them, by its seeds alone', async () => {
  const environment = withToolEdits(builtinEnvironment('lane'), [{ kind: 'rename', tool: 'observe', name: 'look' }])
  await environment.connect()
  let done = 0
  const games = await randomGames({ ...play, environment, onGame: (n) => (done = n) })
  expect(done).toBe(60)
  const [first] = games
  expect(first?.messages[0]).toEqual({ role: 'system', content: 'You drive.' })
  expect(first?.messages[1]?.content).toMatch(/^\w+: distance \d+, speed \d+, free /)
  expect(first?.tools.map(({ function: { name } }) => name)).toContain('look')
  for (const { messages } of games) {
    const [, , ...turns] = messages
    expect(turns.map(({ role }) => role)).toEqual(turns.map((_, i) => (i % 2 === 0 ? 'assistant' : 'tool')))
    expect(turns.length % 2).toBe(1)
    // Only looking goes on with a game.
    const calls = turns.flatMap(({ tool_calls }) => tool_calls ?? [])
    expect(calls.slice(0, -1).map(({ function: { name } }) => name)).toEqual(calls.slice(1).map(() => 'look'))
    expect(turns.filter(({ role }) => role === 'tool').every(({ name, content }) => name === 'look' && content.includes('distance'))).toBe(true)
  }
  expect(await randomGames({ ...play, environment })).toEqual(games)
  expect(await randomGames({ ...play, environment, seed: 6 })).not.toEqual(games)
})

it('ends a game after so many calls, and closes its session where something fails', async () => {
  const long = await randomGames({ ...play, environment: bandit({ pulls: 9 }), seeds: [1], turns: 4 })
  expect(long[0]?.messages.filter(({ role }) => role === 'assistant')).toHaveLength(4)
  await expect(randomGames({ ...play, environment: bandit({ fails: () => true }) })).rejects.toThrow('out of order')
  await expect(randomGames({ ...play, environment: builtinEnvironment('guess') })).rejects.toThrow(/^Nobody can play guess at random/)
})

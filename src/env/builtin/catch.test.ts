import { describe, expect, it } from 'vitest'
import {
  CATCH_MOVES, CATCH_SCENARIOS, catchEnvironment, catchMove, catchRules, moveCall, walkTo, type CatchMove, type CatchState,
} from './catch'

const key = (s: CatchState) => `${s.height}/${s.ball}/${s.paddle}`

/** Every sequence of seven moves; shorter games use a prefix. */
function sequences(length: number): CatchMove[][] {
  return length === 0 ? [[]] : sequences(length - 1).flatMap((head) => CATCH_MOVES.map((move) => [...head, move]))
}

function play(start: CatchState, moves: readonly CatchMove[]): number {
  let state = start
  for (const move of moves.slice(0, start.height)) state = catchMove(state, move)
  return catchRules.outcome(state) ?? 0
}

describe('catch', () => {
  it('splits 108 starts into 84 and 24, disjoint', () => {
    const train = new Set(CATCH_SCENARIOS.train.map(key))
    const held = new Set(CATCH_SCENARIOS.heldout.map(key))
    expect([train.size, held.size, new Set([...train, ...held]).size]).toEqual([84, 24, 108])
  })

  it.each(['train', 'heldout'] as const)('beats every policy that does not look (%s)', (split) => {
    const starts = CATCH_SCENARIOS[split]
    const best = Math.max(...sequences(7).map((moves) => starts.reduce((won, s) => won + play(s, moves), 0) / starts.length))
    expect(best).toBeLessThanOrEqual(0.3)
  })

  it('can always be won by walking to the ball', () => {
    for (const start of [...CATCH_SCENARIOS.train, ...CATCH_SCENARIOS.heldout]) {
      let state = start
      while (catchRules.outcome(state) === null) state = catchRules.act(state, moveCall(walkTo(state, state.ball)))
      expect(catchRules.outcome(state)).toBe(1)
    }
  })

  it('lets one row fall a move and pays only at the end', async () => {
    const session = await catchEnvironment().open()
    const first = await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    const match = /^height (\d), ball [a-f], paddle [a-f]$/.exec(first.text)
    const height = Number(match?.[1])
    expect([5, 6, 7]).toContain(height)
    for (let left = height - 1; left >= 0; left--) {
      const seen = await session.step(moveCall('stay'))
      expect(seen.text).toContain(`height ${left},`)
      expect(seen.done).toBe(left === 0)
      expect(seen.reward === null).toBe(left > 0)
    }
  })

  it('answers a refused call with an error and lets the ball fall', async () => {
    const session = await catchEnvironment().open()
    await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    const refused = await session.step({ name: 'move', arguments: {} })
    expect(refused).toMatchObject({ toolError: true, done: false, text: 'Error: to is missing.' })
    expect(await session.step({ name: 'move', arguments: { to: 3 } })).toMatchObject({ toolError: true })
  })
})

import { describe, expect, it } from 'vitest'
import { builtinEnvironment } from '../../env/builtin/index'
import { describeScene, readScene } from './scene'

describe('scenes', () => {
  it.each(['lane', 'catch', 'echo'] as const)('what %s sends can be drawn and described', async (name) => {
    const session = await builtinEnvironment(name).open()
    const { scene } = await session.reset({ seed: 1, episode_id: 'e', split: 'train' })
    const known = readScene(scene)
    expect(known?.kind).toBe(name)
    expect(known && describeScene(known)).not.toBe('')
  })
  it('what is not ours is not drawn', () => {
    expect([undefined, null, 'x', { kind: 'chess' }, { kind: 'catch', columns: 1e9, rows: 5 }].map(readScene)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ])
  })
  it('says how it ended', () => {
    expect(
      describeScene({ kind: 'lane', what: 'dog', distance: 18, speed: 50, free: 'left', lane: 'middle', outcome: 'braked-too-late' }),
    ).toBe('A dog at distance 18, speed 50, free lane: left, braked too late')
  })
})

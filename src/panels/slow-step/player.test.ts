import { describe, expect, it } from 'vitest'
import { BEATS } from './beats'
import { createPlayer } from './player'

/** A clock that a test moves. */
function fakeClock() {
  let time = 0
  let due: { at: number; callback: () => void } | null = null
  return {
    now: () => time,
    after(ms: number, callback: () => void) {
      const own = { at: time + ms, callback }
      due = own
      return () => {
        if (due === own) due = null
      }
    },
    pass(ms: number) {
      const end = time + ms
      while (due && due.at <= end) {
        const { at, callback } = due
        due = null
        time = at
        callback()
      }
      time = end
    },
  }
}

describe('the slow step', () => {
  it('takes at most 20 seconds', () => {
    expect(BEATS.reduce((sum, { ms }) => sum + ms, 0)).toBeLessThanOrEqual(20_000)
  })
  it('plays its parts one after the other, and ends', () => {
    const clock = fakeClock()
    const player = createPlayer([100, 200], clock)
    expect(player.getView()).toEqual({ beat: 0, playing: false, ended: false })
    player.play()
    clock.pass(100)
    expect(player.getView()).toEqual({ beat: 1, playing: true, ended: false })
    clock.pass(200)
    expect(player.getView()).toEqual({ beat: 1, playing: false, ended: true })
  })
  it('keeps what has passed of a part while it is held', () => {
    const clock = fakeClock()
    const player = createPlayer([100, 200], clock)
    player.play()
    clock.pass(60)
    player.hold()
    clock.pass(1000)
    expect(player.getView()).toMatchObject({ beat: 0, playing: false })
    player.play()
    clock.pass(39)
    expect(player.getView().beat).toBe(0)
    clock.pass(1)
    expect(player.getView().beat).toBe(1)
  })
  it('moves by a part, held or playing, and begins that part anew', () => {
    const clock = fakeClock()
    const player = createPlayer([100, 200, 300], clock)
    player.move(1)
    player.move(-1)
    player.move(-1)
    expect(player.getView()).toMatchObject({ beat: 0, playing: false })
    player.play()
    clock.pass(90)
    player.move(1)
    clock.pass(199)
    expect(player.getView().beat).toBe(1)
    clock.pass(1)
    player.move(1)
    expect(player.getView().ended).toBe(true)
  })
  it('says nothing more once it was ended', () => {
    const clock = fakeClock()
    const player = createPlayer([100], clock)
    let heard = 0
    player.subscribe(() => heard++)
    player.play()
    player.end()
    const before = heard
    player.end()
    player.play()
    player.move(1)
    clock.pass(500)
    expect([heard, player.getView().ended]).toEqual([before, true])
  })
})

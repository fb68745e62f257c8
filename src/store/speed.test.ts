import { describe, expect, it } from 'vitest'
import type { Command } from '../worker/protocol'
import { createDisplayStore } from './display'
import { followSpeed, levelOf, LIVE_SPEEDS, livePace, replayPace, SPEEDS } from './speed'

describe('the speed', () => {
  it('below 1 is the same number of tokens a second for a recorded and a live run; from 1 on a live run is not held back', () => {
    for (const speed of SPEEDS) expect(livePace(speed)).toBe(speed < 1 ? replayPace(speed) : null)
    expect(replayPace(1)).toBeCloseTo(16.7, 1)
    expect(LIVE_SPEEDS).toEqual([0.125, 0.25, 0.5, 1])
  })

  it('of a link stands at the nearest level', () => {
    expect([levelOf(0.1, SPEEDS), levelOf(3.5, SPEEDS), levelOf(16, SPEEDS), levelOf(4, LIVE_SPEEDS), levelOf(0.5, LIVE_SPEEDS)]).toEqual([0.125, 4, 4, 1, 0.5])
  })

  it('is told to the worker when it changes what a live run does, and at the beginning if a link slows it down', () => {
    const sent: Command[] = []
    const port = { send: (command: Command) => void sent.push(command) }
    const display = createDisplayStore()
    followSpeed(display, port)
    display.setState({ grain: 'token' })
    display.setState({ speed: 2 })
    expect(sent).toEqual([])
    display.setState({ speed: 0.25 })
    display.setState({ speed: 4 })
    expect(sent).toEqual([{ type: 'pace', tokensPerSecond: livePace(0.25) }, { type: 'pace', tokensPerSecond: null }])
    sent.length = 0
    followSpeed(createDisplayStore({ speed: 0.5 }), port)
    expect(sent).toEqual([{ type: 'pace', tokensPerSecond: livePace(0.5) }])
  })
})

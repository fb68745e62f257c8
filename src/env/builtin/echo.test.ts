import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../../core/errors'
import { ECHO_SCENARIOS, echoReward } from './echo'
import { BUILTIN_NAMES, builtinEnvironment } from './index'

const say = (message: string) => ({ name: 'echo_message', arguments: { message } })

describe('echo', () => {
  it('splits its messages into disjoint parts', () => {
    const train = new Set(ECHO_SCENARIOS.train)
    expect(train.size + new Set(ECHO_SCENARIOS.heldout).size).toBe(1296)
    expect(ECHO_SCENARIOS.heldout.some((m) => train.has(m))).toBe(false)
  })

  it('rewards length, as TRL’s example does, and nothing else', () => {
    expect(echoReward('')).toBe(0)
    expect(echoReward('sun')).toBeCloseTo(3 / 13)
    expect(echoReward('flower garden')).toBe(1)
    expect(echoReward('river snow river snow')).toBe(1)
  })

  it('is over after one call', async () => {
    const session = await builtinEnvironment('echo').open()
    const { text } = await session.reset({ seed: 5, episode_id: 'e', split: 'heldout' })
    const wanted = /^message "(.+)"$/.exec(text)?.[1] ?? ''
    expect(ECHO_SCENARIOS.heldout).toContain(wanted)
    expect(await session.step(say(wanted))).toMatchObject({ reward: echoReward(wanted), done: true })
    await expect(session.step(say(wanted))).rejects.toBeInstanceOf(PlaygroundError)
  })
})

describe('built-in environments', () => {
  it.each(BUILTIN_NAMES)('%s is ready at once, refuses steps out of turn and scores an unfinished episode 0', async (name) => {
    const env = builtinEnvironment(name)
    await env.connect()
    expect(env.maxSessions).toBe(Infinity)
    const session = await env.open()
    await expect(session.step(say('x'))).rejects.toThrow(/before the first reset/)
    expect(env.episodeReward([])).toBe(0)
    expect(env.episodeReward([null, null])).toBe(0)
    expect(env.episodeReward([null, 1])).toBe(1)
    expect([env.isSuccess(1), env.isSuccess(0.9)]).toEqual([true, false])
    await session.close()
    await expect(session.step(say('x'))).rejects.toBeInstanceOf(PlaygroundError)
  })
})

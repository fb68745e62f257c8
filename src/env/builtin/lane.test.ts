import { describe, expect, it } from 'vitest'
import type { ToolCall } from '../../core/tools'
import { LANE_FAR, LANE_NEAR, LANE_SCENARIOS, isFar, laneEnvironment, laneExpert, laneRules, laneScenario, laneStart } from './lane'

const LOOK: ToolCall = { name: 'observe', arguments: {} }
const STOP: ToolCall = { name: 'emergency_stop', arguments: {} }
const change = (direction: string): ToolCall => ({ name: 'lane_change', arguments: { direction } })
const ACTIONS = [LOOK, STOP, change('left'), change('right')]

/** Success over one split, far scenarios weighing a third, of a policy from scenario to a list of calls. */
function success(split: 'train' | 'heldout', policy: (s: (typeof LANE_SCENARIOS.train)[number]) => ToolCall[]): number {
  const mean = (list: typeof LANE_SCENARIOS) => {
    let won = 0
    for (const scenario of list[split]) {
      let state = laneStart(scenario)
      for (const call of policy(scenario)) {
        if (laneRules.outcome(state) === null) state = laneRules.act(state, call)
      }
      won += laneRules.outcome(state) ?? 0
    }
    return won / list[split].length
  }
  return mean(LANE_FAR) / 3 + (mean(LANE_NEAR) * 2) / 3
}

describe('lane', () => {
  it('splits 4,064 scenarios into disjoint parts', () => {
    const key = (s: unknown) => JSON.stringify(s)
    const train = new Set(LANE_SCENARIOS.train.map(key))
    const held = LANE_SCENARIOS.heldout.map(key)
    expect(train.size).toBe(LANE_SCENARIOS.train.length)
    expect(train.size + new Set(held).size).toBe(4064)
    expect(held.some((k) => train.has(k))).toBe(false)
    expect(held.length).toBeGreaterThan(780)
    expect(held.length).toBeLessThan(840)
  })

  it('gives a third of the seeds a far scenario, from the asked split', () => {
    const seeds = Array.from({ length: 3000 }, (_, i) => i)
    const drawn = seeds.map((seed) => laneScenario(seed, 'heldout'))
    expect(drawn.filter(isFar).length / 3000).toBeCloseTo(1 / 3, 1)
    expect(drawn.every((s) => LANE_SCENARIOS.heldout.includes(s))).toBe(true)
  })

  it.each(['train', 'heldout'] as const)('beats every policy that does not look (%s)', (split) => {
    const first = ACTIONS.flatMap((a) => ACTIONS.flatMap((b) => ACTIONS.map((c) => [a, b, c])))
    const best = Math.max(...first.map((calls) => success(split, () => calls)))
    expect(best).toBeLessThan(0.4)
    expect(success(split, (s) => [laneExpert(laneStart(s))])).toBe(1)
  }, 60_000)

  it('needs both numbers and the side', () => {
    expect(success('train', (s) => [s.free === 'none' ? STOP : change(s.free)])).toBeCloseTo(0.78, 1)
    expect(success('train', (s) => [isFar(s) ? STOP : change('left')])).toBeCloseTo(0.66, 1)
  })

  it('speaks as the model was taught', async () => {
    const session = await laneEnvironment().open()
    const { text, scene } = await session.reset({ seed: 3, episode_id: 'e', split: 'train' })
    expect(text).toMatch(/^[a-z]+: distance \d\d, speed \d0, free (left|right|none)$/)
    expect(scene).toMatchObject({ kind: 'lane', turn: 0, outcome: null })
    expect((await session.step(LOOK)).text).toBe(text)
  })

  it('ends in a hit after three turns, refused calls included', async () => {
    const session = await laneEnvironment().open()
    await session.reset({ seed: 3, episode_id: 'e', split: 'train' })
    const wrongSide = await session.step(change('up'))
    expect(wrongSide).toMatchObject({ toolError: true, done: false, reward: null, text: 'Error: direction must be left or right.' })
    expect(await session.step({ name: 'fly', arguments: {} })).toMatchObject({ toolError: true, done: false })
    expect(await session.step(LOOK)).toMatchObject({ done: true, reward: 0, toolError: false })
  })

  it('gives the same scenario to every member of a group and can be reset', async () => {
    const texts = new Set<string>()
    const session = await laneEnvironment().open()
    for (let i = 0; i < 3; i++) texts.add((await session.reset({ seed: 99, episode_id: `${i}`, split: 'train' })).text)
    expect(texts.size).toBe(1)
  })
})

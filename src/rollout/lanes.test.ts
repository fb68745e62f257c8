import { describe, expect, it } from 'vitest'
import { addSpans, type TimelineSpan } from '../core/timeline'
import { Lanes } from './lanes'
import { rollout } from './rollout'
import { deferred } from './testing/fake-environment'
import { prepare, say, type SetUp } from './testing/setup'

function start() {
  const reports: TimelineSpan[][] = []
  let time = 0
  const lanes = new Lanes(() => time, (spans) => reports.push(spans))
  const pass = (ms: number): void => void (time += ms)
  return { lanes, reports, pass, now: () => time }
}

describe('Lanes', () => {
  it('ends what a lane did when it begins something else', () => {
    const { lanes, pass } = start()
    lanes.begin(0, 'prefill', 3, 0)
    pass(10)
    lanes.begin(0, 'sampling', 3, 0)
    pass(20)
    lanes.begin(0, 'sampling', 3, 0)
    pass(5)
    expect(lanes.finish()).toEqual([
      { kind: 'prefill', lane: 0, episode: 3, turn: 0, start: 0, end: 10 },
      { kind: 'sampling', lane: 0, episode: 3, turn: 0, start: 10, end: 35 },
    ])
  })

  it('reports a long span while it goes on, a few times a second, and as one span in the end', () => {
    const { lanes, reports, pass } = start()
    lanes.begin(-1, 'training', -1, 0, 0, 'gradient')
    for (let i = 0; i < 100; i++) {
      pass(10)
      lanes.report()
    }
    expect(reports.map((spans) => spans.map(({ start, end }) => [start, end]))).toEqual([[[0, 250]], [[250, 500]], [[500, 750]], [[750, 1000]]])
    const told: TimelineSpan[] = []
    for (const spans of reports) addSpans(told, spans)
    expect(lanes.finish()).toEqual(told)
    expect(told).toEqual([{ kind: 'training', lane: -1, episode: -1, turn: 0, start: 0, end: 1000, part: 'gradient' }])
  })

  it('says nothing where no time passed', () => {
    const { lanes, reports } = start()
    lanes.begin(0, 'waiting', 0, 0)
    lanes.report(true)
    expect(lanes.finish()).toEqual([])
    expect(reports).toEqual([])
  })

  it('lets only those rest that do what is named', () => {
    const { lanes, pass } = start()
    lanes.begin(0, 'sampling', 0, 0)
    lanes.begin(1, 'waiting', 1, 0)
    pass(5)
    lanes.endAll('sampling')
    expect([lanes.doing(0), lanes.doing(1)?.kind]).toEqual([null, 'waiting'])
  })
})

const CALL_MS = 5

/** A rollout whose clock is moved by the sampler's calls, and by whatever else `pass` is called from. */
async function played(setUp: SetUp, clock = start()) {
  const { request } = prepare({
    samplerDelay: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      clock.pass(CALL_MS)
    },
    ...setUp,
  })
  const episodes = await rollout({ ...request, lanes: clock.lanes })
  return { episodes, spans: clock.lanes.finish(), total: clock.now() }
}

function expectConsistent(spans: readonly TimelineSpan[], total: number) {
  for (const lane of new Set(spans.map((span) => span.lane))) {
    let at = 0
    for (const { start, end } of spans.filter((span) => span.lane === lane)) {
      expect(start).toBeGreaterThanOrEqual(at)
      expect(end).toBeGreaterThan(start)
      at = end
    }
    expect(at).toBeLessThanOrEqual(total)
  }
}

const spent = (spans: readonly TimelineSpan[], kind: TimelineSpan['kind']) => spans.filter((span) => span.kind === kind).reduce((sum, { start, end }) => sum + end - start, 0)

describe('the lanes of a rollout', () => {
  it('account for every millisecond of a slot that plays one episode', async () => {
    const clock = start()
    const { spans, total, episodes } = await played({
      slots: 1,
      reply: (turn) => (turn < 2 ? say('hi') : 'Done.'),
      request: { num_generations: 1 },
      environment: {
        delay: (asked) => {
          if (asked === 'reset') clock.pass(100)
          if (asked === 'step') clock.pass(40)
          return Promise.resolve()
        },
      },
    }, clock)
    expectConsistent(spans, total)
    expect(spans.map(({ kind, turn }) => `${kind} ${turn}`)).toEqual([
      'waiting -1',
      'prefill 0',
      'sampling 0',
      'waiting 0',
      'prefill 1',
      'sampling 1',
      'waiting 1',
      'prefill 2',
      'sampling 2',
    ])
    expect(spent(spans, 'waiting')).toBe(100 + 2 * 40)
    expect(spent(spans, 'prefill')).toBe(3 * CALL_MS)
    // Sampled, then appended; the end of each turn is only sampled.
    const written = (episodes[0]?.mask ?? []).filter((mask) => mask === 1).length
    expect(spent(spans, 'sampling')).toBe((2 * written - 3) * CALL_MS)
    expect(spent(spans, 'waiting') + spent(spans, 'prefill') + spent(spans, 'sampling')).toBe(total)
  })

  it('show the slots that wait for a reset, and those that rest while another one reads', async () => {
    const clock = start()
    const gates = [deferred(), deferred()]
    let asked = 0
    const playing = played({
      slots: 2,
      reply: () => 'Done and done and done.',
      environment: { delay: (what) => (what === 'reset' ? (gates[asked++]?.promise ?? Promise.resolve()) : Promise.resolve()) },
      request: { num_generations: 2 },
    }, clock)
    await new Promise((resolve) => setTimeout(resolve, 5))
    clock.pass(200)
    gates[0]?.resolve()
    await new Promise((resolve) => setTimeout(resolve, 5))
    gates[1]?.resolve()
    const { spans, total } = await playing
    expectConsistent(spans, total)
    const resets = spans.filter(({ kind, turn }) => kind === 'waiting' && turn === -1)
    expect(resets.map(({ episode, start }) => [episode, start])).toEqual([[0, 0], [1, 0]])
    expect(Math.min(...resets.map(({ end }) => end))).toBe(200)
  })

  it('never overlap with many episodes over few slots, an environment that is slow by turns, and one session too few', async () => {
    const clock = start()
    const { spans, total, episodes } = await played({
      slots: 3,
      reply: (turn) => (turn < 2 ? say('go on') : 'Enough.'),
      environment: {
        capacity: 2,
        delay: async (asked) => {
          for (let i = 0; i < (asked === 'step' ? 7 : 2); i++) await new Promise((resolve) => setImmediate(resolve))
          clock.pass(1)
        },
      },
      request: { groupSeeds: [1, 2], num_generations: 4 },
    }, clock)
    expectConsistent(spans, total)
    expect(new Set(spans.map(({ lane }) => lane))).toEqual(new Set([0, 1, 2]))
    for (const { index, turns } of episodes) {
      const own = spans.filter(({ episode, kind }) => episode === index && kind === 'sampling')
      expect(new Set(own.map(({ turn }) => turn))).toEqual(new Set(turns.map((_, i) => i)))
    }
    // Two sessions for three slots: one always waits for a session.
    expect(spent(spans, 'waiting')).toBeGreaterThan(total / 2)
  })
})

import { describe, expect, it } from 'vitest'
import type { SpanKind, TimelineSpan } from '../../core/timeline'
import { inWords, sentenceOf } from './sentence'
import { type Shares, sharesOf } from './shares'

const span = (lane: number, kind: SpanKind, start: number, end: number, change: Partial<TimelineSpan> = {}): TimelineSpan => ({
  lane,
  kind,
  start,
  end,
  episode: lane,
  turn: 0,
  ...change,
})

/** Two slots: both write, both wait, one ends early, one reads; then the update. */
const STEP = [
  span(0, 'prefill', 0, 100),
  span(0, 'sampling', 100, 300),
  span(1, 'sampling', 100, 200),
  span(1, 'waiting', 200, 400),
  span(0, 'waiting', 300, 400),
  span(0, 'sampling', 400, 600),
  span(-1, 'training', 600, 900, { episode: -1, part: 'gradient' }),
  span(-1, 'training', 900, 1000, { episode: -1, part: 'optimizer' }),
]

const shares = (change: Partial<Shares> = {}): Shares => ({
  sampling: 0.6,
  prefill: 0.1,
  waiting: 0.1,
  training: 0.2,
  hidden: 0,
  idle: 0,
  ended: 0,
  stalled: 0,
  opening: 0,
  slots: 8,
  iterations: 1, updates: 1,
  ...change,
})

describe('sharesOf', () => {
  it('takes a step apart: what the slots did on average, the update, and the rest', () => {
    const { sampling, prefill, waiting, training, idle, ended, stalled, slots, iterations } = sharesOf(STEP, 1000) as Shares
    expect({ sampling, prefill, waiting, training }).toEqual({ sampling: 0.25, prefill: 0.05, waiting: 0.15, training: 0.4 })
    expect(sampling + prefill + waiting + training + idle).toBeCloseTo(1, 12)
    // Slot 1 had no episode from 400 to 600; from 300 to 400 nothing was computed.
    expect([ended, stalled]).toEqual([0.1, 0.1])
    expect([slots, iterations]).toEqual([2, 1])
  })

  it('of a step that goes on are shares of what has passed', () => {
    expect(sharesOf(STEP.slice(0, 3), 300)).toMatchObject({ sampling: 0.5, training: 0, iterations: 0 })
  })

  it('count what goes on beside an update as the update, and say how much of it the environment was waited for', () => {
    const update = span(-1, 'training', 250, 400, { episode: -1, part: 'gradient', step: 1 })
    const found = sharesOf([...STEP.filter(({ lane }) => lane !== -1), update], 600) as Shares
    const { sampling, prefill, waiting, training, hidden, idle, stalled } = found
    expect(sampling + prefill + waiting + training + idle).toBeCloseTo(1, 12)
    // Both slots waited from 300 to 400, one of them from 200 on.
    expect([training, hidden, stalled]).toEqual([0.25, 250 / 1200, 0])
    expect(sentenceOf({ ...found, training: 0.6 }, { episodes: 2, sessions: null, mostSlots: 16, ahead: true })).toContain('60 % of the step, 21 % of it while slots wait')
  })

  it('are none where nothing was measured', () => {
    expect(sharesOf([], 100)).toBeNull()
    expect(sharesOf(STEP, 0)).toBeNull()
  })

  it('are read out without what there was none of', () => {
    expect(inWords(sharesOf(STEP, 1000) as Shares)).toBe('sampling 25 %, prefill 5 %, waiting 15 %, training 40 %, idle 15 %')
    expect(inWords(shares({ waiting: 0.001 }))).toBe('sampling 60 %, prefill 10 %, training 20 %')
  })
})

const say = (change: Partial<Shares>, { episodes = 8, sessions = null as number | null, ahead = false } = {}) => sentenceOf(shares(change), { episodes, sessions, mostSlots: 16, ahead })

describe('the sentence on what a step spends its time on', () => {
  it('asks for more episodes only where they would find a slot', () => {
    expect(say({ stalled: 0.43 })).toBe(
      'Nothing is computed 43 % of the time, because every slot waits for the environment. A faster environment would shorten the step; more prompts_per_step would let other episodes write meanwhile. max_staleness 1 would train meanwhile.',
    )
    expect(say({ stalled: 0.43, training: 0.01 })).not.toContain('max_staleness')
    expect(say({ stalled: 0.43 }, { ahead: true })).not.toContain('max_staleness')
    expect(say({ stalled: 0.43, slots: 16 }, { episodes: 64 })).toContain('There are no more than 16 slots, so more prompts_per_step would not fill the time')
  })

  it('blames the server that has fewer sessions than there are episodes to play', () => {
    expect(say({ stalled: 0.3 }, { sessions: 1 })).toContain('The server allows one session at once')
    expect(say({ stalled: 0.3 }, { sessions: 8 })).not.toContain('allows')
  })

  it('names slow resets, which more episodes would only make more of', () => {
    const waits = [span(0, 'waiting', 0, 400, { turn: -1 }), span(1, 'waiting', 100, 500, { turn: -1 }), span(0, 'sampling', 400, 700), span(0, 'waiting', 700, 800)]
    const slow = sharesOf(waits, 800) as Shares
    expect([slow.stalled, slow.opening]).toEqual([0.625, 0.5])
    expect(sentenceOf(slow, { episodes: 2, sessions: null, mostSlots: 16 })).toBe(
      'Nothing is computed 63 % of the time, because every slot waits for the environment. Most of it comes before the first token: the environment takes long to begin episodes.',
    )
  })

  it('names the update, and iterations only where there are several', () => {
    expect(say({ training: 0.7, sampling: 0.2 })).toBe('The update takes 70 % of the step. Shorter episodes would shorten it.')
    expect(say({ training: 0.7, iterations: 4 })).toContain('or fewer num_iterations')
  })

  it('names slots whose episodes have ended, waits that others fill, long prompts, and else the sampling', () => {
    expect(say({ ended: 0.3 })).toContain('Slots rest 30 % of the time')
    expect(say({ waiting: 0.4 })).toContain('others write meanwhile')
    expect(say({ prefill: 0.65, sampling: 0.1 })).toContain('Reading prompts and answers takes 65 %')
    expect(say({})).toBe('Slots write 60 % of the time: sampling is what the step takes longest for.')
  })
})

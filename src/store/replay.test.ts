import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { type RecordedRun, readRecordedRun } from './recorded-run'
import { createReplay, type Replay } from './replay'
import { RECORDED_RUN_PATH } from './replay-start'
import { restore } from './restore'
import { TokenLog } from './token-log'
import { EMPTY_RUN, type RunView } from './view'

const whole = readRecordedRun(JSON.parse(gunzipSync(readFileSync(`public/${RECORDED_RUN_PATH}`)).toString()))
const COUNT = 5
/** Its first steps: playing all of them would take the test long. */
const recording: RecordedRun = { ...whole, history: whole.history.slice(0, COUNT), steps: whole.steps.slice(0, COUNT) }

let now: number
let due: (() => void)[]
let replay: Replay
let speed: number
beforeEach(() => {
  now = 1000
  due = []
  speed = 1
  replay = createReplay({ now: () => now, frame: (callback) => due.push(callback) }, () => speed)
  replay.expect()
})

/** Draws frames until this much time has passed. */
function pass(ms: number, frame = 50) {
  for (const end = now + ms; now < end; ) {
    now += frame
    for (const callback of due.splice(0)) callback()
  }
}

const tokensOf = (log: TokenLog, view: RunView) => view.steps.flatMap(({ step, episodes }) => episodes.map(({ index }) => structuredClone(log.read(step, index))))
/** All that is drawn, but for when an environment was asked. */
const shown = () => {
  const { view } = replay.store.getState()
  const steps = view.steps.map((step) => ({ ...step, episodes: step.episodes.map((e) => ({ ...e, waitingSince: e.waitingSince !== null })) }))
  return { ...view, steps, tokens: tokensOf(replay.tokens, view) }
}

describe('the replay', () => {
  it('played to its end leaves the view that the same run would have if it were restored', () => {
    replay.open(recording, false)
    speed = 4
    pass(60_000, 100)
    const { view, playing, position } = replay.store.getState()
    expect([playing, position]).toEqual([false, COUNT])
    const log = new TokenLog()
    const { run, history, steps } = recording
    const restored = restore(EMPTY_RUN, { type: 'restored', run, history, episodes: steps.slice(-3).map(({ episodes }) => [...episodes]) }, log)
    expect([view.steps, view.history]).toEqual([restored.steps, restored.history])
    expect(view.recorded).toEqual(run.config)
    expect(tokensOf(replay.tokens, view)).toEqual(tokensOf(log, restored))
  })

  it('begins within a frame or two: tokens come, then answers, scores, the update and the next step', () => {
    replay.open(recording, false)
    const written = () => replay.store.getState().view.steps.at(-1)?.episodes.map(({ length, promptLength }) => length - promptLength) ?? []
    expect(replay.store.getState()).toMatchObject({ playing: true, view: { history: { length: 3 } } })
    pass(400)
    expect(written()).toHaveLength(64)
    expect(written().every((n) => n >= 2)).toBe(true)
    const seen = new Set<string>()
    for (let i = 0; i < 200 && replay.store.getState().view.history.length === 3; i++) {
      const step = replay.store.getState().view.steps.at(-1)
      if (step?.episodes.some((e) => e.waitingSince !== null)) seen.add('asked')
      if (step?.episodes.some((e) => e.finished && e.answers.length > 0)) seen.add('answered')
      if (step?.groups) seen.add('scored')
      if (step?.training) seen.add('training')
      pass(50)
    }
    expect(seen).toEqual(new Set(['asked', 'answered', 'scored', 'training']))
    expect(replay.store.getState().view.steps.at(-1)).toMatchObject({ step: 4, finished: true, training: null })
  })

  it('shows the same at a place, however it came there', () => {
    replay.open(recording, false)
    pass(3000)
    replay.pause()
    const { position } = replay.store.getState()
    const played = shown()
    expect(played.steps.at(-1)).toMatchObject({ step: 4, finished: false })
    for (const away of [0, 5, 1.5, 3.99, position]) {
      replay.seek(away)
      replay.seek(position)
      expect(shown()).toEqual(played)
    }
    replay.seek(0)
    expect(shown()).toMatchObject({ steps: [], history: [], tokens: [] })
    replay.seek(2)
    expect(shown()).toMatchObject({ steps: [{ step: 1 }, { step: 2, finished: true }], history: { length: 2 } })
  })

  it('rests when it is held, goes on from there, and is twice as fast at twice the speed', () => {
    replay.open(recording, false)
    pass(500)
    replay.pause()
    const { position } = replay.store.getState()
    pass(5000)
    expect(replay.store.getState().position).toBe(position)
    replay.play()
    pass(1000)
    const once = replay.store.getState().position - position
    replay.seek(position)
    speed = 2
    pass(1000)
    expect((replay.store.getState().position - position) / once).toBeCloseTo(2, 0)
  })

  it('does not run away while the tab is hidden and no frame comes', () => {
    replay.open(recording, false)
    pass(500)
    const { position } = replay.store.getState()
    now += 3_600_000
    pass(50)
    expect(replay.store.getState().position - position).toBeLessThan(0.1)
  })

  it('stands at its end where nothing is to move by itself, and plays from its beginning on request', () => {
    replay.open(recording, true)
    pass(1000)
    expect(replay.store.getState()).toMatchObject({ playing: false, position: COUNT, view: { history: { length: COUNT } } })
    replay.play()
    pass(200)
    expect(replay.store.getState().view.steps.map(({ step }) => step)).toEqual([1])
  })

  it('is not shown to a person who began something before it came, and is gone for good once ended', () => {
    replay.end()
    replay.open(recording, false)
    expect(replay.store.getState().state).toBe('off')
    replay.play()
    pass(200)
    expect(replay.store.getState()).toMatchObject({ state: 'off', playing: false, view: EMPTY_RUN })
  })

  describe('stepped', () => {
    const latest = () => replay.store.getState().view.steps.at(-1)
    const written = () => latest()?.episodes.map(({ length, promptLength }) => length - promptLength) ?? []
    const run = () => replay.store.getState().view.run

    it('by token writes one token in every episode that is being written, and is held there', () => {
      replay.open(recording, false)
      for (const tokens of [1, 2, 3]) {
        replay.step('token')
        expect(new Set(written())).toEqual(new Set([tokens]))
        expect([replay.store.getState().playing, replay.store.getState().held, run()]).toEqual([false, true, { state: 'paused', step: 3, at: 'token' }])
      }
      pass(2000)
      expect(new Set(written())).toEqual(new Set([3]))
    })

    it('by token comes through every token of the step to its rewards, to its end, and into the next', () => {
      replay.open(recording, true)
      replay.step('token')
      expect(latest()).toMatchObject({ step: 1, finished: false })
      let before = written()
      let presses = 1
      for (; !latest()?.groups; presses++) {
        replay.step('token')
        const now = written()
        // What a tool answered comes with the token after it; of the model's own there is at most one.
        if (!latest()?.groups) expect(now.some((n, i) => n > (before[i] ?? 0))).toBe(true)
        before = now
      }
      expect(presses).toBeGreaterThan(5)
      expect(latest()).toMatchObject({ finished: false, training: null })
      replay.step('token')
      expect([latest()?.finished, run(), replay.store.getState().position]).toEqual([true, { state: 'paused', step: 1 }, 1])
      replay.step('token')
      expect([latest()?.step, new Set(written())]).toEqual([2, new Set([1])])
    })

    it('by episode comes to the next end of an episode', () => {
      replay.open(recording, true)
      const ended = () => latest()?.episodes.filter((e) => e.finished).length ?? 0
      let before = 0
      let presses = 0
      for (replay.step('episode'); !latest()?.groups; replay.step('episode'), presses++) {
        expect(ended()).toBeGreaterThan(before)
        expect(run()).toEqual({ state: 'paused', step: 0, at: 'episode' })
        before = ended()
      }
      expect([presses >= 2, before]).toEqual([true, 64])
    })

    it('by GRPO step comes to its end, from wherever it stands, and at the end begins anew', () => {
      replay.open(recording, false)
      const places = []
      for (let i = 0; i < 4; i++) {
        replay.step('step')
        places.push(replay.store.getState().position)
      }
      expect(places).toEqual([4, 5, 1, 2])
      replay.seek(3.999)
      replay.step('step')
      expect(replay.store.getState().position).toBe(5)
      expect(run()).toMatchObject({ state: 'finished' })
    })

    it('shows what playing shows, and plays on from there', () => {
      replay.open(recording, true)
      for (let i = 0; i < 3; i++) replay.step('token')
      const stepped = shown()
      const { position } = replay.store.getState()
      replay.seek(0)
      replay.seek(position)
      expect({ ...shown(), run: null }).toEqual({ ...stepped, run: null })
      replay.play()
      pass(500)
      expect(replay.store.getState().position).toBeGreaterThan(position)
    })
  })
})

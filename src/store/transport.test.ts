/** The controls in every state of the run and of the recorded run, and what each press does. */
import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { S } from '../ui/strings'
import type { Message, RunState } from '../worker/protocol'
import { createStores } from './create'
import { type RecordedRun, readRecordedRun } from './recorded-run'
import { RECORDED_RUN_PATH } from './replay-start'
import { setSetting } from './settings'
import { restoredMessage, runRecord, runsMessage } from './testing/kept'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'
import { laterEnd, pressPause, pressPlayPause, pressReset, pressStep, pressTrain, transportOf } from './transport'

beforeEach(() => vi.stubGlobal('requestAnimationFrame', () => 0))

let recording: RecordedRun | null = null
const recorded = (): RecordedRun => (recording ??= readRecordedRun(JSON.parse(gunzipSync(readFileSync(`public/${RECORDED_RUN_PATH}`)).toString())))
const state = (run: RunState): Message => ({ type: 'state', state: run })

function open() {
  const port = scriptedPort()
  const stores = createStores(port, '', { now: () => 0, schedule: (callback) => callback() })
  stores.controller.start()
  port.say(...engineMessages())
  port.sent.length = 0
  const can = () => {
    const { train, pause, step, reset } = transportOf(stores)
    return [train, pause, step, reset].map((control) => (control.can ? 1 : 0)).join('')
  }
  const show = (still = false) => {
    stores.replay.expect()
    stores.replay.open(recorded(), still)
  }
  return { stores, port, can, show, sent: () => port.sent.splice(0).map((command) => (command.type === 'step' ? `step ${command.grain}` : command.type)) }
}

describe('the controls of a run', () => {
  it.each<[string, RunState, string]>([
    ['loading', { state: 'loading', what: 'engine', done: 0, total: null }, '1010'],
    ['connecting', { state: 'loading', what: 'environment', done: 0, total: null }, '1110'],
    ['ready', { state: 'ready' }, '1011'],
    ['running', { state: 'running', until: 'one-token' }, '0101'],
    ['pausing', { state: 'pausing' }, '0001'],
    ['paused at a token', { state: 'paused', step: 0, at: 'token' }, '1011'],
    ['finished', { state: 'finished', step: 50, reason: 'step-limit' }, '0001'],
    ['failed, with a run to go on with', { state: 'failed', error: '', advice: '', recoverable: true }, '1011'],
    ['failed', { state: 'failed', error: '', advice: '', recoverable: false }, '0001'],
  ])('%s', (_, run, expected) => {
    const page = open()
    page.port.say(state(run))
    expect(page.can()).toBe(expected)
  })

  it('while a person has the run evaluated: Train waits for its end, and Pause takes that back and then ends the evaluation', async () => {
    const { stores, port, can, sent } = open()
    const progress: Message = { type: 'event', event: { type: 'evaluation', split: 'train', done: 3, total: 256 } }
    const given = stores.controller.evaluate(256).catch((error: Error) => error.message)
    port.say(state({ state: 'ready' }), progress)
    expect([sent(), can()]).toEqual([['evaluate'], '1111'])
    pressTrain(stores)
    expect([sent(), can(), stores.setup.getState().pressed]).toEqual([[], '0101', true])
    const { train, pause } = transportOf(stores)
    expect([train.hint, pause.hint]).toEqual([S.controls.evaluating.pressed, S.controls.evaluating.takeBack])
    pressPause(stores)
    expect([sent(), can(), stores.setup.getState().pressed]).toEqual([[], '1111', false])
    expect(transportOf(stores).pause.hint).toBe(S.controls.evaluating.end)
    pressStep(stores, 'token')
    port.say(progress)
    pressPause(stores)
    pressPause(stores)
    expect(sent()).toEqual(['evaluate-stop'])
    pressTrain(stores)
    port.say({ type: 'evaluation-failed', requestId: 1, error: 'The evaluation was stopped.' })
    expect([await given, sent(), stores.setup.getState().pressed]).toEqual(['The evaluation was stopped.', ['train'], false])
  })

  it('what is pressed behind an evaluation goes with the run when that is given up', () => {
    const { stores, port, sent } = open()
    stores.controller.evaluate(256).catch(() => undefined)
    port.say(state({ state: 'ready' }))
    // Also before the evaluation has told anything.
    pressTrain(stores)
    expect(stores.setup.getState().pressed).toBe(true)
    pressReset(stores)
    port.say({ type: 'evaluation-failed', requestId: 1, error: '' })
    expect(sent()).toEqual(['evaluate', 'reset'])
  })

  it('say why Train waits at the end of a run: raise its end, or Reset where more was changed', () => {
    const { stores, port } = open()
    port.say(...stepMessages(1, { groups: 1, size: 2 }), state({ state: 'finished', step: 1, reason: 'step-limit' }))
    const { controller, setup, run } = stores
    const end = (max_steps: number) => controller.edit((c) => ({ ...c, grpo: { ...c.grpo, max_steps } }))
    const said = () => [transportOf(stores).train.hint, laterEnd(setup.getState(), run.getState().run)]
    controller.revert()
    expect(said()).toEqual([S.controls.finishedHint, null])
    end(20)
    expect(laterEnd(setup.getState(), run.getState().run)).toBe(20)
    expect(transportOf(stores).train).toMatchObject({ can: true, name: S.controls.resume })
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.5 } }))
    expect(said()).toEqual([S.controls.finishedChanged, null])
    controller.edit((c) => ({ ...c, model: 'acme/large' }))
    expect(said()).toEqual([S.model.loadFirst, null])
  })

  it('send what they say, Step by the chosen grain, and nothing while they can do nothing', () => {
    const { stores, port, sent } = open()
    pressTrain(stores)
    port.say(state({ state: 'running', until: 'limit' }))
    pressTrain(stores)
    pressStep(stores)
    pressPause(stores)
    port.say(state({ state: 'paused', step: 0 }), ...stepMessages(1))
    pressPause(stores)
    stores.display.setState({ grain: 'token' })
    pressStep(stores)
    pressStep(stores, 'episode')
    pressReset(stores)
    expect(sent()).toEqual(['train', 'pause', 'step token', 'step episode', 'reset'])
  })

  it('one key holds what runs and goes on with what rests', () => {
    const { stores, port, sent } = open()
    pressPlayPause(stores)
    port.say(state({ state: 'running', until: 'limit' }))
    pressPlayPause(stores)
    port.say(state({ state: 'paused', step: 0 }))
    pressPlayPause(stores)
    expect(sent()).toEqual(['train', 'pause', 'train'])
  })

  it('let a kept run that loads go on as soon as it is there, and Pause takes that back', () => {
    const { stores, port, can, sent } = open()
    const controls = () => [can(), transportOf(stores).train.hint]
    // The run before it has steps.
    port.say(...stepMessages(1), state({ state: 'paused', step: 1 }))
    stores.runs.resume('run-a')
    port.say(state({ state: 'loading', what: 'engine', done: 0, total: null }))
    expect(controls()).toEqual(['1010', S.controls.trainHint])
    pressTrain(stores)
    expect(controls()).toEqual(['0100', S.controls.pressedHint])
    pressPause(stores)
    expect(controls()).toEqual(['1010', S.controls.trainHint])
    port.say(restoredMessage(2, {}, { groups: 1, size: 2 }), state({ state: 'paused', step: 2 }))
    expect([can(), sent()]).toEqual(['1011', ['resume', 'pause']])
  })

  it('promise nothing of a kept run that comes to be measured only', () => {
    const { stores, port, can } = open()
    const record = runRecord()
    port.say(runsMessage([record]))
    stores.runs.resume(record.id, record.config.precision === 'int4' ? 'float32' : 'int4')
    expect([can(), transportOf(stores).train.hint]).toEqual(['0000', S.runs.measuring])
    stores.runs.resume(record.id, record.config.precision)
    expect([can(), transportOf(stores).train.hint]).toEqual(['1010', S.controls.trainHint])
  })

  it('urge to Reset where only that takes changed settings over', () => {
    const { stores, port } = open()
    port.say(...stepMessages(1), state({ state: 'paused', step: 1 }))
    expect(transportOf(stores).reset.urged).toBe(false)
    stores.controller.edit((config) => setSetting(config, 'learning_rate', 0.3))
    expect(transportOf(stores).reset).toMatchObject({ urged: true, hint: S.controls.resetChanged })
  })
})

describe('over the recorded run', () => {
  it('pause, play, step and reset move it and send nothing; Train begins a run', () => {
    const page = open()
    const { stores } = page
    page.show()
    const { store } = stores.replay
    expect([page.can(), transportOf(stores).pause.name]).toEqual(['1111', 'Pause'])
    pressPause(stores)
    expect([store.getState().playing, transportOf(stores).pause]).toEqual([false, { can: true, plays: true, name: 'Play', hint: S.controls.replay.play }])
    pressPlayPause(stores)
    expect(store.getState().playing).toBe(true)
    pressStep(stores)
    expect([store.getState().playing, store.getState().position]).toEqual([false, 4])
    pressStep(stores, 'token')
    expect(store.getState().view.run).toEqual({ state: 'paused', step: 4, at: 'token' })
    pressReset(stores)
    expect([store.getState().position, page.can()]).toEqual([0, '1110'])
    expect(page.sent()).toEqual([])
    pressTrain(stores)
    expect(page.sent()).toEqual(['train'])
  })

  it('Train pressed before the model is there lets it rest, and Pause takes that back', () => {
    const page = open()
    const { stores, port } = page
    page.show()
    port.say(state({ state: 'loading', what: 'engine', done: 0, total: null }))
    pressTrain(stores)
    const { store } = stores.replay
    expect([page.can(), transportOf(stores).pause.name, store.getState().playing, stores.setup.getState().pressed]).toEqual(['0111', 'Pause', false, true])
    pressPause(stores)
    expect([page.can(), transportOf(stores).pause.name, stores.setup.getState().pressed]).toEqual(['1111', 'Play', false])
    port.say(state({ state: 'ready' }))
    expect(page.sent()).toEqual(['pause'])
  })

  it('Reset stays with a run that only Reset can mend', () => {
    const page = open()
    page.show(true)
    page.port.say(state({ state: 'failed', error: 'No model.', advice: '', recoverable: false }))
    pressReset(page.stores)
    expect(page.sent()).toEqual(['configure'])
    expect(page.stores.replay.store.getState().position).toBe(20)
  })
})

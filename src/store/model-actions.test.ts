import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Command } from '../worker/protocol'
import { TINY_MODEL } from '../env/presets'
import { createStores } from './create'
import { inspectionOf, isDistrusted } from './model-store'
import { downloading, FAILED_TEST, INSPECTION, inspected, loaded, refused, STORED } from './testing/models'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'

const clock = { now: () => 0, schedule: (callback: () => void) => callback() }
const QWEN = { model: 'Qwen/Qwen3-0.6B', model_revision: 'main' }

function page(hash = '') {
  const port = scriptedPort()
  const stores = createStores(port, hash, clock)
  const sent = <T extends Command['type']>(type: T) => port.sent.filter((c): c is Extract<Command, { type: T }> => c.type === type)
  return { port, ...stores, sent, model: stores.controller.model, config: () => stores.setup.getState().config }
}

/** The shipped model is ready. */
function ready(hash = '') {
  const p = page(hash)
  p.controller.start()
  p.port.say(...engineMessages())
  return p
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('choosing a model', () => {
  it('looks a Hub model up with the settings that suit it, and downloads only on Load', () => {
    const { model, sent, config, controller, models, port } = ready()
    model.choose(QWEN)
    expect(sent('configure')).toHaveLength(1)
    expect(sent('inspect')[0]?.config).toEqual(config())
    expect(config()).toMatchObject({ ...QWEN, precision: 'int4', grpo: { learning_rate: 2e-5 } })
    // Neither Train nor Reset nor another environment may start a download.
    controller.train()
    controller.reset()
    controller.chooseEnvironment({ kind: 'builtin', name: 'catch' })
    expect([sent('configure').length, sent('train').length, sent('reset').length]).toEqual([1, 0, 0])
    port.say(inspected(1))
    expect(inspectionOf(models.getState(), config())).toMatchObject({ pending: false, result: { ok: true } })
    model.load()
    expect(sent('configure')[1]?.config).toEqual(config())
    port.say(...loaded(QWEN.model))
    controller.train()
    expect(sent('train')).toHaveLength(1)
  })

  it('takes the shipped model back at once', () => {
    const { model, sent } = ready()
    model.choose(QWEN)
    model.choose({ model: TINY_MODEL, model_revision: 'main' })
    expect(sent('configure')[1]?.config).toMatchObject({ model: TINY_MODEL, precision: 'float32' })
  })

  it('leaves a run that has begun alone: Train goes on with it', () => {
    const { model, sent, controller, port } = ready()
    port.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    model.choose(QWEN)
    controller.train()
    expect([sent('configure').length, sent('train').length]).toEqual([1, 1])
  })

  it('asks again when a setting changes that the memory depends on, once it rests, and shows the old answer meanwhile', () => {
    const { model, sent, controller, models, port, config } = ready()
    model.choose(QWEN)
    port.say(inspected(1))
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 1 } }))
    vi.runAllTimers()
    expect(sent('inspect')).toHaveLength(1)
    for (const num_generations of [4, 6]) controller.edit((c) => ({ ...c, grpo: { ...c.grpo, num_generations } }))
    vi.runAllTimers()
    expect(sent('inspect').map((c) => c.config.grpo.num_generations)).toEqual([8, 6])
    expect(inspectionOf(models.getState(), config())).toMatchObject({ pending: true, result: { ok: true } })
    // The answer to a question that is no longer asked is dropped.
    port.say(refused(1, 'Old.', ''))
    expect(inspectionOf(models.getState(), config())?.pending).toBe(true)
    port.say(inspected(2, { verdict: { kind: 'too-slow', secondsPerToken: 9 } }))
    expect(inspectionOf(models.getState(), config())).toMatchObject({ pending: false, result: { inspection: { verdict: { kind: 'too-slow' } } } })
  })
})

describe('a link that names a model of the Hub', () => {
  it('asks the Hub nothing and loads nothing until a person looks it up and presses Load', () => {
    const { controller, port, model, sent } = page('#v=1&env=lane&seed=7&model=Qwen/Qwen3-0.6B')
    controller.start()
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, num_generations: 4 } }))
    vi.runAllTimers()
    controller.train()
    expect(port.sent).toEqual([])
    model.inspect()
    port.say(inspected(1))
    expect(sent('configure')).toEqual([])
    model.load()
    expect(sent('configure')[0]?.config.model).toBe('Qwen/Qwen3-0.6B')
  })

  it('does the same for a LoRA of the Hub over the shipped model', () => {
    const { controller, port } = page('#v=1&env=lane&seed=7&adapter=me/lora')
    controller.start()
    expect(port.sent).toEqual([])
  })

  it('and for a server besides: Connect does not load, Load does not connect', () => {
    const { controller, model, port, sent } = page('#v=1&env=ws://localhost:8000&seed=7&model=Qwen/Qwen3-0.6B')
    controller.start()
    model.inspect()
    port.say(inspected(1))
    model.load()
    expect(sent('configure')).toEqual([])
    controller.consent()
    expect(sent('configure')).toEqual([])
    model.load()
    expect(sent('configure')).toHaveLength(1)
  })
})

describe('a download', () => {
  function halfway() {
    const p = ready()
    p.model.choose(QWEN)
    p.port.say(inspected(1))
    p.model.load()
    p.port.say(downloading(412e6))
    return p
  }

  it('pauses, and goes on by configuring again', () => {
    const { model, sent, port, controller, config } = halfway()
    model.pauseLoad()
    expect(port.sent.at(-1)).toEqual({ type: 'pause-load' })
    port.say({ type: 'state', state: { state: 'load-paused', done: 412e6, total: 1.2e9 } })
    controller.chooseEnvironment({ kind: 'builtin', name: 'echo' })
    expect(sent('configure')).toHaveLength(2)
    model.resumeLoad()
    expect(sent('configure')[2]?.config).toEqual(config())
  })

  it('is given up for the model that was loaded before', () => {
    const { model, port, config } = halfway()
    model.cancelLoad()
    expect(port.sent.at(-1)).toMatchObject({ type: 'cancel-load', back: { model: TINY_MODEL } })
    expect(config().model).toBe(TINY_MODEL)
  })

  it('is given up for the shipped model where nothing was loaded before', () => {
    const { model, port } = page('#v=1&env=catch&seed=7&model=Qwen/Qwen3-0.6B')
    model.load()
    port.say(downloading(1e6))
    model.cancelLoad()
    expect(port.sent.at(-1)).toMatchObject({ type: 'cancel-load', back: { model: TINY_MODEL, environment: { name: 'catch' } } })
  })
})

describe('tokens, stored models, adapters', () => {
  it('hands the token over, keeps only that there is one, and looks a refused model up again', () => {
    const stores = ready()
    const { model, port, sent, models } = stores
    model.choose({ model: 'meta/gated', model_revision: 'main' })
    port.say(refused(1, 'The Hub answered 401.', 'Paste a token.'))
    model.setToken('hf_secret')
    expect(sent('token')).toEqual([{ type: 'token', token: 'hf_secret' }])
    expect(sent('inspect')).toHaveLength(2)
    expect(models.getState().hasToken).toBe(true)
    const everything = JSON.stringify([stores.run.getState(), stores.setup.getState(), models.getState(), stores.selection.getState()])
    expect(everything).not.toContain('hf_secret')
    model.setToken(null)
    expect(models.getState().hasToken).toBe(false)
    expect(port.sent.at(-1)).toEqual({ type: 'token', token: null })
  })

  it('lists what is stored, again after a loading, and deletes by key', () => {
    const { model, port, sent, models } = ready()
    model.listStored()
    port.say(STORED)
    expect(models.getState().stored?.models).toHaveLength(2)
    port.say(...loaded(QWEN.model))
    expect(sent('list-stored')).toHaveLength(2)
    model.deleteStored('b')
    expect(port.sent.at(-1)).toEqual({ type: 'delete-stored', key: 'b' })
  })

  it('asks anew how much there is to download once a stored model is deleted', () => {
    const { model, port, sent } = ready()
    model.choose(QWEN)
    port.say(inspected(1, { downloadBytes: 0, storedBytes: 1.2e9 }), STORED)
    expect(sent('inspect')).toHaveLength(1)
    model.deleteStored('a')
    port.say(STORED)
    expect(sent('inspect')).toHaveLength(2)
  })

  it('gives files before it names them, and loads them at once over the shipped model', () => {
    const { model, port, config } = ready()
    const files = { name: 'mine', config: '{}', weights: new ArrayBuffer(8) }
    model.giveAdapter({ ...files, facts: { lora: config().lora, base: null } })
    expect(port.sent.slice(1).map((c) => c.type)).toEqual(['give-adapter', 'inspect', 'configure'])
    expect(port.sent.at(-1)).toMatchObject({ config: { adapter: { kind: 'file', name: 'mine' } } })
    expect(port.sent[1]).toEqual({ type: 'give-adapter', ...files })
  })
})

describe('a failed self-test', () => {
  it('keeps Train off until a person trusts the GPU, who is remembered for this GPU and model', () => {
    const { controller, model, port, sent, run, models } = ready()
    model.choose(QWEN)
    model.load()
    port.say(...loaded(QWEN.model, FAILED_TEST))
    controller.train()
    expect(sent('train')).toEqual([])
    model.trustDevice()
    expect(sent('trust-device')).toHaveLength(1)
    controller.train()
    expect(sent('train')).toHaveLength(1)
    port.say(...loaded(QWEN.model, FAILED_TEST))
    expect(sent('trust-device')).toHaveLength(2)
    port.say(...loaded('Qwen/Qwen3-1.7B', FAILED_TEST))
    expect(sent('trust-device')).toHaveLength(2)
    expect(isDistrusted(run.getState().engine, models.getState())).toBe(true)
  })

  it('offers WASM, which loads anew without a download', () => {
    const { model, port, sent } = ready()
    model.choose(QWEN)
    model.load()
    port.say(...loaded(QWEN.model, FAILED_TEST))
    model.useWasm()
    expect(sent('configure').at(-1)?.config).toMatchObject({ ...QWEN, backend: 'wasm' })
    expect(INSPECTION.model).toBe(QWEN.model)
  })
})

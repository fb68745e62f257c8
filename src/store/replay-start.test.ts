import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../worker/protocol'
import { createStores } from './create'
import { RECORDED_RUN_PATH, startReplay } from './replay-start'
import { createHandle } from './scripting'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'

const bytes = readFileSync(`public/${RECORDED_RUN_PATH}`)
const bufferOf = (data: Uint8Array) => new Uint8Array(data).buffer

beforeEach(() => {
  vi.stubGlobal('requestAnimationFrame', () => 0)
  vi.spyOn(console, 'info').mockImplementation(() => {})
})

async function open({ hash = '', file = bufferOf(bytes) }: { hash?: string; file?: ArrayBuffer | null } = {}) {
  const port = scriptedPort()
  const stores = createStores(port, hash, { now: () => 0, schedule: (callback) => callback() })
  const fetch = vi.fn(async () => {
    if (!file) throw new Error('404')
    return file
  })
  await startReplay(stores, port, { fetch, still: false })
  return { port, stores, fetch, state: () => stores.replay.store.getState().state }
}

const loaded: Message[] = [{ type: 'state', state: { state: 'loading', what: '', done: 0, total: null } }, { type: 'cleared' }, ...engineMessages()]

describe('the recorded run at first paint', () => {
  it('is shown while the model loads and after, and the scripting handle does not speak of it', async () => {
    const { port, stores, state } = await open()
    port.say(...loaded)
    expect(state()).toBe('on')
    expect(stores.shown.getState().history).toHaveLength(3)
    expect(createHandle(stores).getState()).toMatchObject({ run: { state: 'ready' }, steps: [], history: [] })
  })

  it.each<[string, Message[]]>([
    ['Train', [{ type: 'state', state: { state: 'running', until: 'limit' } }]],
    ['Reset', [{ type: 'cleared' }]],
    ['a step', stepMessages(1).slice(0, 1)],
  ])('gives way to the run at %s', async (_, begun) => {
    const { port, stores, state } = await open()
    port.say(...loaded, ...begun)
    expect(state()).toBe('off')
    expect(stores.shown.getState()).toBe(stores.run.getState())
    expect(stores.shown.tokens).toBe(stores.run.tokens)
  })

  it('gives way when a setting is changed', async () => {
    const { stores, state } = await open()
    stores.controller.edit((config) => ({ ...config, grpo: { ...config.grpo, learning_rate: 1e-4 } }))
    expect(state()).toBe('off')
  })

  it('goes to a step that is picked on a curve, and stays there', async () => {
    const { stores } = await open()
    stores.selection.setState({ step: 12, token: null })
    expect(stores.replay.store.getState()).toMatchObject({ playing: false, position: 12 })
    expect(stores.shown.getState().steps.at(-1)).toMatchObject({ step: 12, finished: true })
    expect(stores.selection.getState().step).toBeNull()
    stores.replay.end()
    stores.selection.setState({ step: 12 })
    expect(stores.selection.getState().step).toBe(12)
  })

  it('is shown over a link to the settings that it was made with, whatever the backend', async () => {
    expect((await open({ hash: '#v=1&env=lane&seed=42&backend=wasm&episode=3' })).state()).toBe('on')
  })

  it.each(['#v=1&env=catch', '#v=1&env=lane&model=Qwen%2FQwen3-0.6B', '#v=1&env=wss%3A%2F%2Fa.b', '#v=1&env=lane&seed=7', '#v=1&env=lane&learning_rate=0.1'])(
    'is not even fetched for %s',
    async (hash) => {
      const { fetch, state } = await open({ hash })
      expect([fetch.mock.calls.length, state()]).toEqual([0, 'off'])
    },
  )

  it('is read also where a host took the compression off', async () => {
    expect((await open({ file: bufferOf(gunzipSync(bytes)) })).state()).toBe('on')
  })

  it.each<[string, ArrayBuffer | null]>([
    ['is not there', null],
    ['was cut off', bufferOf(bytes.subarray(0, 50_000))],
    ['is a page', bufferOf(new TextEncoder().encode('<!doctype html>'))],
    ['is other JSON', bufferOf(new TextEncoder().encode('{}'))],
  ])('is left out where its file %s', async (_, file) => {
    const { stores, state } = await open({ file })
    expect(state()).toBe('off')
    expect(stores.shown.getState()).toBe(stores.run.getState())
  })

  it('is left out where the person was faster', async () => {
    const port = scriptedPort()
    const stores = createStores(port, '', { now: () => 0, schedule: (callback) => callback() })
    const fetch = async () => {
      port.say(...loaded, ...stepMessages(1))
      return bufferOf(bytes)
    }
    await startReplay(stores, port, { fetch, still: false })
    expect(stores.replay.store.getState().state).toBe('off')
    expect(stores.shown.getState().history).toHaveLength(1)
  })
})

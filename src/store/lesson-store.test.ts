import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../worker/protocol'
import { createStores } from './create'
import { LESSON_STARTS } from './lessons'
import { RECORDED_RUN_PATH, startReplay } from './replay-start'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'

beforeEach(() => {
  vi.stubGlobal('requestAnimationFrame', () => 0)
})

const bytes = readFileSync(`public/${RECORDED_RUN_PATH}`)

async function open(hash: string) {
  const port = scriptedPort()
  const stores = createStores(port, hash, { now: () => 0, schedule: (callback) => callback() })
  const show = () => startReplay(stores, port, { fetch: async () => new Uint8Array(bytes).buffer, still: false, place: {} })
  stores.lessons.recordingBy(show)
  await show()
  port.say(...engineMessages())
  const replay = () => stores.replay.store.getState()
  return { ...stores, port, say: (...messages: Message[]) => port.say(...messages), state: replay }
}

describe('a lesson', () => {
  it('opens in its state and gives back what was there: selection, display, the recording at its place', async () => {
    const page = await open('#v=1&env=lane&episode=9&position=265&heat=kl&hide=curves')
    page.replay.pause()
    page.replay.seek(5)
    const before = [page.selection.getState(), page.display.getState(), page.setup.getState().config]
    page.lessons.open('zero-variance')
    expect(page.display.getState()).toMatchObject({ lesson: 'zero-variance', card: 1, heat: 'advantage', hide: ['chat', 'play', 'curves'] })
    expect(page.state()).toMatchObject({ playing: false, position: LESSON_STARTS['zero-variance'].at })
    page.lessons.goTo(3)
    page.lessons.open('one-step')
    page.lessons.close()
    expect([page.selection.getState(), page.display.getState(), page.setup.getState().config]).toEqual(before)
    expect(page.state()).toMatchObject({ state: 'on', playing: false, position: 5 })
  })

  it('lets the recording play on that played before', async () => {
    const page = await open('')
    page.lessons.open('masking')
    expect(page.state().playing).toBe(false)
    page.lessons.close()
    expect(page.state()).toMatchObject({ state: 'on', playing: true })
  })

  it('that came by a link leaves the page as the link has it without the lesson', async () => {
    const page = await open('#v=1&lesson=reward-hacking')
    expect(page.setup.getState().config).toMatchObject({ environment: { name: 'echo' }, grpo: { seed: 1 } })
    page.lessons.close()
    expect(page.setup.getState().config).toMatchObject({ environment: { name: 'lane' }, grpo: { seed: 42 } })
    expect(page.display.getState()).toMatchObject({ lesson: null, hide: [], heat: 'author' })
  })

  it('takes the environment that it needs, and brings back settings and recording after its own run', async () => {
    const page = await open('')
    page.port.sent.length = 0
    page.lessons.open('reward-hacking')
    expect(page.port.sent.map(({ type }) => type)).toEqual(['configure'])
    expect(page.state().state).toBe('off')
    page.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    page.port.sent.length = 0
    page.lessons.close()
    expect(page.port.sent).toMatchObject([{ type: 'configure', config: { environment: { name: 'lane' } } }])
    page.say({ type: 'state', state: { state: 'loading', what: '', done: 0, total: null } }, { type: 'cleared' }, { type: 'state', state: { state: 'ready' } })
    await vi.waitFor(() => expect(page.state().state).toBe('on'), { timeout: 50_000 })
  })

  it('leaves a run of one’s own alone', async () => {
    const page = await open('')
    page.controller.step()
    page.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    page.port.sent.length = 0
    page.lessons.open('one-step')
    page.lessons.close()
    expect(page.port.sent).toEqual([])
    expect(page.run.getState().history).toHaveLength(1)
  })
})

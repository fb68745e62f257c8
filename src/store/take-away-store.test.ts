import { describe, expect, it } from 'vitest'
import type { EvaluationResult, Message, PublishTarget } from '../worker/protocol'
import { createTakeAway, exportKey } from './take-away-store'
import { scriptedPort } from './testing/script'

const TARGET: PublishTarget = { what: 'adapter', repo: 'me/lane', into: 'new', private: true, asPullRequest: false }
const DEAD: Message = { type: 'state', state: { state: 'failed', error: 'The worker stopped.', advice: 'Reload.', recoverable: false } }

function page(measure: (episodes: number) => Promise<EvaluationResult> = () => Promise.reject(new Error('busy'))) {
  const port = scriptedPort()
  const takeAway = createTakeAway(port, measure)
  return { port, takeAway, view: takeAway.store.getState }
}

describe('files that are taken away', () => {
  it('are made once, wait to be saved, and tell their size', () => {
    const { port, takeAway, view } = page()
    takeAway.make('run-a', 'adapter')
    takeAway.make('run-a', 'adapter')
    takeAway.make('run-a', 'trl')
    expect(port.sent).toEqual([
      { type: 'export', requestId: 1, id: 'run-a', kind: 'adapter' },
      { type: 'export', requestId: 2, id: 'run-a', kind: 'trl' },
    ])
    const file = new Blob(['zip'])
    port.say({ type: 'exported', requestId: 1, result: { ok: true, name: 'lane-adapter.zip', file } })
    expect(view().exports[exportKey('run-a', 'adapter')]).toEqual({ state: 'made', name: 'lane-adapter.zip', bytes: 3 })
    expect(view().exports[exportKey('run-a', 'trl')]?.state).toBe('making')
    expect(view().ready).toEqual([{ requestId: 1, name: 'lane-adapter.zip', file }])
    takeAway.saved(1)
    expect(view().ready).toEqual([])
  })

  it('say what went wrong, and can be made again', () => {
    const { port, takeAway, view } = page()
    takeAway.make('run-a', 'merged')
    port.say({ type: 'exported', requestId: 1, result: { ok: false, error: 'The base is int4.', advice: 'Take the adapter.' } })
    expect(view().exports['run-a merged']).toEqual({ state: 'failed', error: 'The base is int4.', advice: 'Take the adapter.' })
    takeAway.make('run-a', 'merged')
    expect(port.sent).toHaveLength(2)
    port.say(DEAD)
    expect(view().exports['run-a merged']).toEqual({ state: 'failed', error: 'The worker stopped.', advice: 'Reload.' })
  })
})

describe('an upload', () => {
  it('goes one at a time, by stages, to its end', () => {
    const { port, takeAway, view } = page()
    takeAway.publish('run-a', TARGET)
    takeAway.publish('run-a', { ...TARGET, repo: 'me/other' })
    expect(port.sent).toEqual([{ type: 'publish', requestId: 1, id: 'run-a', target: TARGET }])
    port.say({ type: 'publish-progress', requestId: 1, progress: { stage: 'uploading', done: 5, total: 10 } })
    expect(view().publish).toMatchObject({ progress: { stage: 'uploading', done: 5 }, result: null })
    const result = { ok: true, url: 'https://huggingface.co/me/lane', commit: 'c0ffee', verified: true } as const
    port.say({ type: 'published', requestId: 1, result })
    port.say({ type: 'publish-progress', requestId: 1, progress: { stage: 'verifying' } })
    expect(view().publish).toMatchObject({ result, progress: { stage: 'uploading' } })
    takeAway.forgetPublish()
    expect(view().publish).toBeNull()
  })

  it('is stopped once, and tried again with the same target', () => {
    const { port, takeAway, view } = page()
    takeAway.publish('run-a', TARGET)
    takeAway.stopPublish()
    takeAway.stopPublish()
    takeAway.forgetPublish()
    expect(port.sent.slice(1)).toEqual([{ type: 'publish-stop', requestId: 1 }])
    expect(view().publish?.stopping).toBe(true)
    port.say({ type: 'published', requestId: 1, result: { ok: false, error: 'Stopped.', advice: '', canRetry: true } })
    takeAway.retryPublish()
    expect(port.sent.at(-1)).toEqual({ type: 'publish', requestId: 2, id: 'run-a', target: TARGET })
    // The first one's late word changes nothing.
    port.say({ type: 'published', requestId: 1, result: { ok: false, error: 'Late.', advice: '', canRetry: true } })
    expect(view().publish).toMatchObject({ result: null, stopping: false })
  })

  it('goes into the repository that exists only after it was refused for that', () => {
    const { port, takeAway } = page()
    takeAway.publish('run-a', TARGET)
    takeAway.updateExisting()
    port.say({ type: 'published', requestId: 1, result: { ok: false, error: 'No.', advice: '', canRetry: false } })
    takeAway.updateExisting()
    expect(port.sent).toHaveLength(1)
    takeAway.publish('run-a', TARGET)
    port.say({ type: 'published', requestId: 2, result: { ok: false, error: 'It exists.', advice: '', canRetry: false, exists: true } })
    takeAway.updateExisting()
    expect(port.sent.at(-1)).toEqual({ type: 'publish', requestId: 3, id: 'run-a', target: { ...TARGET, into: 'existing' } })
  })

  it('ends with the worker', () => {
    const { port, takeAway, view } = page()
    takeAway.publish('run-a', TARGET)
    port.say(DEAD)
    expect(view().publish?.result).toEqual({ ok: false, error: 'The worker stopped.', advice: 'Reload.', canRetry: false })
  })
})

describe('an evaluation', () => {
  it('is kept until the adapter changes, and tells why there is none', async () => {
    const result = { train: 0.5, heldOut: null, episodes: 8 }
    let fails = false
    const { port, takeAway, view } = page(() => (fails ? Promise.reject(new Error('Press Pause first.')) : Promise.resolve(result)))
    takeAway.evaluate(8)
    expect(view().evaluation.busy).toBe(true)
    await Promise.resolve()
    expect(view().evaluation).toEqual({ busy: false, error: null, result })
    port.say({ type: 'cleared' })
    expect(view().evaluation.result).toBeNull()
    fails = true
    takeAway.evaluate(8)
    await Promise.resolve()
    await Promise.resolve()
    expect(view().evaluation).toEqual({ busy: false, error: 'Press Pause first.', result: null })
  })
})

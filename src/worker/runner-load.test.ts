/** Loading as the page drives it: a load that fails, is paused or is replaced, and an engine that nobody trusts. */
import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { banditConfig } from '../train/testing/bandit'
import type { Message } from './protocol'
import { open } from './testing/open-runner'

const isDownloading = (m: Message) => m.type === 'state' && m.state.state === 'loading' && m.state.what === 'model.safetensors'
const other = { ...banditConfig({ max_steps: 2 }), model: 'acme/other' }

describe('a load that fails', () => {
  it('leaves the run before it as it was, and tells the page whose settings hold', async () => {
    const page = open()
    await page.configure()
    await page.untilState('paused', { type: 'step' })
    page.refuseWith(new PlaygroundError('model', 'acme/other was not found.', 'Check its id.'))
    const failed = await page.untilState('failed', { type: 'configure', config: other })
    expect(failed).toEqual({ state: 'failed', error: 'acme/other was not found.', advice: 'Check its id.', recoverable: true, kind: 'model' })
    expect(page.messages.at(-2)).toEqual({ type: 'configured', config: page.prepared[0] })
    expect(page.environments[0]?.closed).toBe(0)
    // Step 1 is still there: the run goes on with step 2.
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
    expect(page.records().map(({ step }) => step)).toEqual([1, 2])
  })

  it('also when its settings do not go together: nothing is loaded for them', async () => {
    const page = open()
    await page.configure()
    const failed = await page.untilState('failed', { type: 'configure', config: banditConfig({ loss_type: 'vespo' }) })
    expect(failed).toMatchObject({ kind: 'config', recoverable: true, error: expect.stringContaining('sequence_mask') as string })
    expect(page.prepared).toHaveLength(1)
    await page.untilState('finished', { type: 'train' })
  })

  it('after the old engine made room for the new one leaves nothing to train', async () => {
    const page = open()
    await page.configure()
    page.refuseWith(new PlaygroundError('memory', 'The GPU refused an allocation.', 'Choose a smaller model.'))
    const { holds } = page.keeper
    page.keeper.holds = () => false
    const failed = await page.untilState('failed', { type: 'configure', config: other })
    expect(failed).toMatchObject({ recoverable: false })
    expect(page.messages.filter(({ type }) => type === 'configured')).toEqual([])
    expect(page.environments[0]?.closed).toBe(1)
    page.keeper.holds = holds
    page.refuseWith(null)
    await page.configure()
  })
})

describe('a load that fails after the old engine made room', () => {
  it('loads the run before it again, with the adapter of its last step', async () => {
    const page = open()
    await page.configure({ max_steps: 3 })
    await page.untilState('paused', { type: 'step' })
    const trained = [...(page.engines[0]?.theta ?? [])]
    expect(trained.some((x) => x !== 0)).toBe(true)
    page.refuseWith(new PlaygroundError('model', 'The download was tampered with.', 'Load it again.'), true)
    const { prepare } = page.keeper
    page.keeper.prepare = async (config, callbacks) => {
      if (config.model === other.model) await page.keeper.discardEngine()
      return prepare(config, callbacks)
    }
    expect(await page.untilState('failed', { type: 'configure', config: other })).toMatchObject({ error: 'The download was tampered with.', recoverable: true })
    expect(page.engines).toHaveLength(2)
    expect([...(page.engines[1]?.theta ?? [])]).toEqual(trained.map(Math.fround))
    expect(page.messages.findLast((m) => m.type === 'configured')).toEqual({ type: 'configured', config: page.prepared[0] })
    expect(page.messages.findLast((m) => m.type === 'event' && m.event.type === 'notice')).toMatchObject({ event: { text: expect.stringContaining('as it was after step 1') as string } })
    await page.untilState('finished', { type: 'train' })
    expect(page.records().map(({ step }) => step)).toEqual([1, 2, 3])
  })
})

describe('a download', () => {
  it('that is paused says how far it came, and goes on when it is configured again', async () => {
    const page = open()
    page.waitForever(true)
    await page.until(isDownloading, { type: 'configure', config: other })
    expect(await page.untilState('load-paused', { type: 'pause-load' })).toEqual({ state: 'load-paused', done: 7, total: 20 })
    page.waitForever(false)
    expect(await page.untilState('ready', { type: 'configure', config: other })).toEqual({ state: 'ready' })
    expect(page.prepared.map(({ model }) => model)).toEqual(['acme/other', 'acme/other'])
  })

  it('that is given up for another choice says nothing of its own', async () => {
    const page = open()
    page.waitForever(true)
    await page.until(isDownloading, { type: 'configure', config: other })
    page.runner.handle({ type: 'pause-load' })
    page.waitForever(false)
    await page.configure()
    expect(page.states().map(({ state }) => state)).not.toContain('load-paused')
    expect(page.states().map(({ state }) => state)).not.toContain('failed')
  })

  it('that is cancelled leaves the run where it stood; without one the given settings are configured', async () => {
    const page = open()
    await page.configure()
    await page.untilState('paused', { type: 'step' })
    page.waitForever(true)
    await page.until(isDownloading, { type: 'configure', config: other })
    expect(await page.untilState('paused', { type: 'cancel-load', back: other })).toEqual({ state: 'paused', step: 1 })
    expect(page.messages.findLast(({ type }) => type === 'configured')).toEqual({ type: 'configured', config: page.prepared[0] })
    expect(page.states().map(({ state }) => state)).not.toContain('failed')
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })

    const empty = open()
    empty.waitForever(true)
    await empty.until(isDownloading, { type: 'configure', config: other })
    empty.waitForever(false)
    const back = { ...other, model: 'models/replies' }
    await empty.untilState('ready', { type: 'cancel-load', back })
    expect(empty.prepared.map(({ model }) => model)).toEqual(['acme/other', 'models/replies'])
  })

  it('that brings a run back after a failure is not given up by Pause', async () => {
    const page = open()
    await page.configure()
    await page.untilState('paused', { type: 'step' })
    page.keeper.holds = () => false
    page.refuseWith(new PlaygroundError('model', 'The file was tampered with.', 'Choose another.'))
    const { prepare } = page.keeper
    // The second load, of the run before, succeeds although Pause is pressed in it.
    page.keeper.prepare = async (config, callbacks) => {
      if (page.prepared.length < 2) return prepare(config, callbacks)
      page.refuseWith(null)
      page.runner.handle({ type: 'pause-load' })
      return prepare(config, callbacks)
    }
    const failed = await page.untilState('failed', { type: 'configure', config: other })
    expect(failed).toMatchObject({ error: 'The file was tampered with.', recoverable: true })
    const order = page.messages.map(({ type }) => type)
    expect(order.lastIndexOf('configured')).toBeLessThan(order.lastIndexOf('engine'))
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })

  it('that is not going on cannot be paused', async () => {
    const page = open()
    await page.configure()
    page.runner.handle({ type: 'pause-load' })
    page.refuseWith(new PlaygroundError('model', 'No.'))
    expect(await page.untilState('failed', { type: 'configure', config: other })).toMatchObject({ error: 'No.' })
  })
})

describe('an environment that is waited for', () => {
  const served = other
  const isWaiting = (m: Message) => m.type === 'state' && m.state.state === 'loading' && m.state.detail !== undefined
  /** Waits for its environment until it is given up. */
  const waiting = () => {
    const page = open()
    const { prepare } = page.keeper
    page.keeper.prepare = async (config, callbacks) => {
      if (config.model !== served.model) return prepare(config, callbacks)
      callbacks.onProgress({ what: 'environment', done: 0, total: null, detail: 'Space a/b is asleep · 3 s' })
      await new Promise<void>((resolve) => (page.keeper.abandon = resolve))
      throw new PlaygroundError('stopped', 'The waiting for the Space a/b was stopped.')
    }
    return page
  }

  it('is waited for no more after a pause; without a run before it nothing is there', async () => {
    const page = waiting()
    await page.until(isWaiting, { type: 'configure', config: served })
    expect(await page.untilState('load-paused', { type: 'pause-load' })).toEqual({ state: 'load-paused', done: 0, total: null, what: 'environment' })
    await page.configure()
  })

  it('gives the run before it back, with what it has learned', async () => {
    const page = waiting()
    await page.configure()
    await page.untilState('paused', { type: 'step' })
    await page.until(isWaiting, { type: 'configure', config: served })
    expect(await page.untilState('paused', { type: 'pause-load' })).toEqual({ state: 'paused', step: 1 })
    expect(page.messages.findLast(({ type }) => type === 'configured')).toEqual({ type: 'configured', config: page.prepared[0] })
    await page.untilState('finished', { type: 'train' })
    expect(page.records().map(({ step }) => step)).toEqual([1, 2])
    expect(page.messages.findLast((m) => m.type === 'event' && m.event.type === 'notice')).toMatchObject({ event: { text: expect.stringContaining('was stopped; the run before it stands') as string } })
    expect(page.states().map(({ state }) => state)).not.toContain('failed')
  })

  it('during a run is told as an event, and its end', async () => {
    const page = open()
    const { prepare } = page.keeper
    page.keeper.prepare = async (config, callbacks) => {
      callbacks.onAway?.('Space a/b is asleep')
      callbacks.onAway?.(null)
      return prepare(config, callbacks)
    }
    await page.configure()
    const told = page.messages.flatMap((m) => (m.type === 'event' && m.event.type === 'environment-away' ? [m.event.text] : []))
    expect(told).toEqual(['Space a/b is asleep', null])
  })
})

describe('an engine whose self-test failed', () => {
  const report = { ok: false, adapter: 'A GPU', logprobError: 3, gradientError: 1, problem: 'A GPU computes other log-probs than WASM.' }

  it('does not train until it is trusted, and is reported', async () => {
    const page = open()
    page.report(report)
    await page.configure()
    expect(page.messages.find((m) => m.type === 'engine')).toMatchObject({ report: { selfTest: report } })
    expect(await page.untilState('failed', { type: 'train' })).toMatchObject({ error: report.problem, recoverable: true })
    expect(page.records()).toEqual([])
    page.runner.handle({ type: 'trust-device' })
    expect(await page.untilState('finished', { type: 'train' })).toMatchObject({ step: 2 })
  })
})

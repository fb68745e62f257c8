/** A file that is read beside a run never ends up as a recording of which steps are trained. */

import { describe, expect, it } from 'vitest'
import { createStores } from './create'
import { restoredMessage } from './testing/kept'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'
import type { Message } from '../worker/protocol'

const clock = { now: () => 0, schedule: (callback: () => void) => callback() }
const FILE = new Blob(['{}'])
const IMPORTED = restoredMessage(2, { id: 'other', name: 'theirs.jsonl', checkpoint: null })
const RUNNING: Message = { type: 'state', state: { state: 'running', until: 'limit' } }

function page() {
  const port = scriptedPort()
  const stores = createStores(port, '', clock)
  stores.controller.start()
  port.say(...engineMessages(), { type: 'state', state: { state: 'ready' } })
  const view = () => stores.run.getState()
  return { port, ...stores, view, types: () => port.sent.map((c) => c.type), notices: () => view().notices.map(({ text }) => text) }
}

const LATE = expect.stringMatching(/^theirs\.jsonl is not shown: a run was begun/)

describe('trajectories that arrive', () => {
  it('while nothing goes on are shown, and again after a run was paused', () => {
    const { port, runs, controller, view, notices } = page()
    runs.importFile('theirs.jsonl', FILE)
    port.say(IMPORTED)
    expect([view().recording, notices()]).toEqual(['theirs.jsonl', []])
    controller.reset()
    port.say({ type: 'cleared' })
    controller.train()
    port.say(RUNNING, ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    runs.importFile('theirs.jsonl', FILE)
    port.say(IMPORTED)
    expect(view().recording).toBe('theirs.jsonl')
  })

  it.each<[string, Message[]]>([
    ['was pressed and not yet answered', []],
    ['runs', [RUNNING, ...stepMessages(1)]],
    ['was paused again', [RUNNING, ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } }]],
  ])('after Train %s are dropped with a notice, and the run stays', (_, messages) => {
    const { port, runs, controller, view, notices } = page()
    runs.importFile('theirs.jsonl', FILE)
    controller.train()
    port.say(...messages)
    const { steps } = view()
    port.say(IMPORTED)
    expect([view().recording, view().steps, notices()]).toEqual([null, steps, [LATE]])
    expect(runs.store.getState()).toMatchObject({ importing: null, importProblem: LATE })
  })

  it('while settings are taken over for Train are dropped, and it trains', () => {
    const { port, runs, controller, view, types } = page()
    runs.importFile('theirs.jsonl', FILE)
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, seed: 9 } }))
    controller.train()
    port.say(IMPORTED, { type: 'state', state: { state: 'ready' } })
    expect([types().at(-1), view().recording]).toEqual(['train', null])
  })

  it('after Train was pressed and before it began are shown, and it does not begin any more', () => {
    const { port, runs, controller, view, types } = page()
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, seed: 9 } }))
    controller.train()
    runs.importFile('theirs.jsonl', FILE)
    port.say(IMPORTED, { type: 'state', state: { state: 'ready' } })
    expect([types().includes('train'), view().recording]).toEqual([false, 'theirs.jsonl'])
  })
})

it('a file is not read while steps are trained, and it is said why', () => {
  const { port, runs, controller, types, notices } = page()
  controller.train()
  port.say(RUNNING)
  runs.importFile('theirs.jsonl', FILE)
  expect(types()).not.toContain('import-trajectories')
  expect(runs.store.getState()).toMatchObject({ importing: null, importProblem: 'A step is being trained: press Pause first.' })
  expect(notices()).toEqual(['A step is being trained: press Pause first.'])
})

it('a kept run that is gone on with is shown also while a file is read', () => {
  const { port, runs, view } = page()
  runs.importFile('theirs.jsonl', FILE)
  runs.resume('run-a')
  port.say(restoredMessage(3), IMPORTED)
  expect([view().history.length, view().recording]).toEqual([3, null])
})

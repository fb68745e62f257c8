import { describe, expect, it } from 'vitest'
import { createStores } from '../../store/create'
import { engineMessages, scriptedPort, stepMessages } from '../../store/testing/script'
import type { RunState } from '../../worker/protocol'
import { endWords } from './run-end'

const running: RunState = { state: 'running', until: 'limit' }

/** A page on which so many steps are done and the run stands so; `begun`: the next step has begun. */
function page(done: number, run: RunState, begun = false) {
  const port = scriptedPort()
  const { controller, setup, run: store } = createStores(port, '#v=1&env=lane&max_steps=10', { now: () => 0, schedule: (callback) => callback() })
  controller.start()
  port.say(...engineMessages())
  const say = (state: RunState) => port.say({ type: 'state', state })
  if (done > 0 || begun) say(running)
  for (let step = 1; step <= done; step++) port.say(...stepMessages(step, { groups: 1, size: 2 }))
  if (begun) port.say(...stepMessages(done + 1, { groups: 1, size: 2 }).slice(0, 2))
  say(run)
  const words = () => endWords(setup.getState(), store.getState())
  const wants = (max_steps: number) => {
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, max_steps } }))
    return words()
  }
  return { controller, words, wants }
}

describe('another end of a run that has begun', () => {
  it('is said where it goes on, until it is taken over', () => {
    const { controller, words, wants } = page(4, running, true)
    expect(words()).toBeNull()
    expect(wants(7)).toBe('The run goes on to step 10; leave this field, or press Enter, and it ends at 7.')
    controller.takeEnd()
    expect(words()).toBeNull()
    expect(wants(2)).toContain('it ends at 2')
    controller.takeEnd()
    expect(words()).toBe('So many steps are done: the run ends after the step it is in.')
  })

  it('is said where it rests, if it is below what is done', () => {
    expect(page(4, { state: 'paused', step: 4 }).wants(7)).toBeNull()
    expect(page(4, { state: 'paused', step: 4 }).wants(2)).toBe('Step 4 is done: Resume ends the run there.')
    expect(page(4, { state: 'paused', step: 4 }, true).wants(2)).toBe('Step 4 is done: after Resume the run ends with the step it is in.')
    const over = page(5, { state: 'finished', step: 5, reason: 'step-limit' })
    expect([over.words(), over.wants(20), over.wants(3)]).toEqual([null, null, 'Step 5 is done: raise it above that to go on.'])
  })

  it('needs no words before the first step, and none beside what Reset must take over', () => {
    expect(page(0, { state: 'ready' }).wants(3)).toBeNull()
    const { controller, wants } = page(4, running, true)
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.5 } }))
    expect(wants(2)).toBeNull()
  })
})

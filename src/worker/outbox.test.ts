import { describe, expect, it } from 'vitest'
import { Outbox } from './outbox'
import type { Message } from './protocol'

const state = (step: number): Message => ({ type: 'state', state: { state: 'paused', step } })

describe('an outbox', () => {
  it('sends what is posted in one go together and in order, before anything that comes after a wait', async () => {
    const sent: (readonly Message[])[] = []
    const outbox = new Outbox((messages) => sent.push(messages))
    const steps = () => sent.map((messages) => messages.map((message) => message.type === 'state' && message.state.state === 'paused' && message.state.step))
    outbox.post(state(1))
    outbox.post(state(2))
    expect(sent).toEqual([])
    await Promise.resolve()
    expect(steps()).toEqual([[1, 2]])
    outbox.post(state(3))
    await Promise.resolve()
    expect(steps()).toEqual([[1, 2], [3]])
  })
})

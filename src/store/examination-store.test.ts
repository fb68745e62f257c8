import { beforeEach, describe, expect, it } from 'vitest'
import type { Examination } from '../core/examination'
import type { Message } from '../worker/protocol'
import { createExaminations, type Examinations } from './examination-store'
import { createRunStore, type RunStore } from './run-store'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'

let port: ReturnType<typeof scriptedPort>
let run: RunStore
let examinations: Examinations
beforeEach(() => {
  port = scriptedPort()
  run = createRunStore({ now: () => 0, schedule: (callback) => callback() })
  port.onMessage(run.receive)
  examinations = createExaminations(port, run)
  port.say(...engineMessages(), ...stepMessages(1, { groups: 1, size: 2 }))
})

const asked = () => port.sent.flatMap((command) => (command.type === 'examine' ? [command] : []))
const answer = (change: Partial<Examination> = {}): Message => {
  const { requestId, sequences } = asked().at(-1) ?? { requestId: 0, sequences: [] }
  const zeros = (sequences[0]?.ids ?? []).map(() => 0)
  const examination = { logprobs: zeros.map(() => -0.5), entropies: zeros, baseLogprobs: zeros.map(() => -2), baseEntropies: zeros, version: 1, ...change }
  return { type: 'examined', requestId, result: { ok: true, examinations: [examination] } }
}
const state = () => examinations.store.getState()['1/0']

describe('examinations', () => {
  it('ask once for an episode and put what comes into its trained tokens', () => {
    examinations.ask(1, 0)
    examinations.ask(1, 0)
    expect(asked()).toHaveLength(1)
    const tokens = run.tokens.read(1, 0)
    expect(asked()[0]?.sequences[0]?.mask).toEqual(tokens.map(({ mask }) => mask))
    expect(state()).toMatchObject({ state: 'computing', version: 1 })
    const { revision } = run.tokens
    port.say(answer())
    expect(state()?.state).toBe('done')
    expect(run.tokens.revision).toBeGreaterThan(revision)
    expect(tokens.every(({ mask, baseLogprob, afterLogprob }) => (mask === 1 ? baseLogprob === -2 && afterLogprob === -0.5 : baseLogprob === undefined))).toBe(true)
    examinations.ask(1, 0)
    expect(asked()).toHaveLength(1)
  })

  it('ask anew once the adapter has been trained on', () => {
    examinations.ask(1, 0)
    port.say(answer(), ...stepMessages(2, { groups: 1, size: 2 }))
    examinations.ask(1, 0)
    expect(asked()).toHaveLength(2)
  })

  it('keep the sentence of a refusal until the run stands otherwise', () => {
    examinations.ask(1, 0)
    port.say({ type: 'examined', requestId: 1, result: { ok: false, error: 'The model is busy with a step. Press Pause first.' } })
    expect(state()).toMatchObject({ state: 'failed', error: 'The model is busy with a step. Press Pause first.' })
    port.say({ type: 'state', state: { state: 'paused', step: 1 } })
    expect(state()).toBeUndefined()
    examinations.ask(1, 0)
    expect(asked()).toHaveLength(2)
  })

  it('do not wait for a worker that died, and forget a run that is gone', () => {
    examinations.ask(1, 0)
    port.say({ type: 'state', state: { state: 'failed', error: 'The worker stopped.', advice: '', recoverable: false } })
    expect(state()).toMatchObject({ state: 'failed', error: 'The worker stopped.' })
    examinations.ask(1, 1)
    const late = answer()
    port.say({ type: 'cleared' })
    expect(examinations.store.getState()).toEqual({})
    port.say(late)
    expect(examinations.store.getState()).toEqual({})
  })
})

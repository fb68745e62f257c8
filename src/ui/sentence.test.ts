import { describe, expect, it } from 'vitest'
import type { ErrorKind } from '../core/errors'
import { DEFAULT_STAGE } from '../core/stage'
import { reduce } from '../store/reduce'
import { engineMessages, stepMessages } from '../store/testing/script'
import { TokenLog } from '../store/token-log'
import { EMPTY_RUN, isMidStep, type RunView, trainedBeside } from '../store/view'
import type { Message, RunState } from '../worker/protocol'
import { describeAbsence, describeCompared, describeEngine, describePlace, describeRun, phaseOf } from './sentence'

const small = { groups: 1, size: 8, skill: () => 1 }
const state = (s: RunState): Message => ({ type: 'state', state: s })
const running = state({ state: 'running', until: 'limit' })
function after(messages: Message[], now = 0): RunView {
  const tokens = new TokenLog()
  return messages.reduce((v, m) => reduce(v, m, tokens, now), EMPTY_RUN)
}
function until(type: string, n: number): Message[] {
  let seen = 0
  const messages = stepMessages(12, small)
  return messages.slice(0, messages.findIndex((m) => m.type === 'event' && m.event.type === type && ++seen === n) + 1)
}

describe('the sentence of state', () => {
  it('names what is loading, in bytes where they are known', () => {
    expect(describeRun(after(engineMessages().slice(0, 1)), 0)).toBe('Loading model.safetensors · 1.20 MB of 1.97 MB')
    expect(describeRun(after([state({ state: 'loading', what: 'tokenizer', done: 0, total: null })]), 0)).toBe('Loading tokenizer')
    expect(describeRun(EMPTY_RUN, 0)).toBe('Starting the engine')
    const environment = { state: 'loading', what: 'environment', done: 0, total: null } as const
    expect(describeRun(after([state(environment)]), 0)).toBe('Connecting to the environment')
    expect(describeRun(after([state({ ...environment, detail: 'Space a/b is starting · 3 s' })]), 0)).toBe('Space a/b is starting · 3 s')
  })

  it('names the stage of the run’s plan that is being made, and after which it rests', () => {
    const plan: Message = { type: 'plan', kind: 'sft', at: 0, stages: 2, doing: 'training', done: 3, of: 9, metrics: {} }
    expect(describeRun(after([running, plan]), 0)).toBe('Stage 1 of 3 · SFT · training 3/9')
    expect(describeRun(after([running, plan, state({ state: 'paused', step: 0 })]), 0)).toBe('Paused · stage 1 of 3 · SFT · training 3/9')
    const record = { kind: 'sft' as const, dataset: '', rows: 1, steps: 9, settings: DEFAULT_STAGE.sft, afterStep: 0, first: {}, last: {} }
    expect(describeRun(after([running, plan, { type: 'stages', stages: [record] }, state({ state: 'paused', step: 0 })]), 0)).toBe('Paused after SFT 9 steps')
    expect(phaseOf(after([running, plan]))).toBe('running stage-0')
  })

  it('says of a download how fast it is and how long it takes, in total over all files', () => {
    const overall = { done: 412e6, total: 1.19e9, bytesPerSecond: 9.8e6, secondsLeft: 79.6, fromDisk: false }
    const said = (o: Partial<typeof overall> | { bytesPerSecond: null; secondsLeft: null }) =>
      describeRun(after([state({ state: 'loading', what: 'model.safetensors', done: 1, total: 2, overall: { ...overall, ...o } })]), 0)
    expect(said({})).toBe('Downloading model.safetensors · 412 MB of 1.19 GB · 9.8 MB/s · 80 s left')
    expect(said({ bytesPerSecond: null, secondsLeft: null })).toBe('Downloading model.safetensors · 412 MB of 1.19 GB')
    expect(said({ fromDisk: true, secondsLeft: 600 })).toBe('Reading model.safetensors · 412 MB of 1.19 GB · 9.8 MB/s · 10 min left')
    expect(said({ bytesPerSecond: 123.4e6, secondsLeft: 12_000 })).toContain('· 123 MB/s · 3 h 20 min left')
    expect(describeRun(after([state({ state: 'load-paused', done: 412e6, total: 1.19e9 })]), 0)).toBe('Download paused · 412 MB of 1.19 GB here')
    expect(describeRun(after([state({ state: 'load-paused', done: 0, total: null, what: 'environment' })]), 0)).toBe('Stopped waiting for the environment · press Reset to connect again')
    expect(describeRun(after([state({ state: 'loading', what: 'self-test', done: 0, total: null })]), 0)).toMatch(/^Self-test/)
  })

  it('names the step that is sampled and the one before it that is trained on meanwhile', () => {
    const event = (e: Extract<Message, { type: 'event' }>['event']): Message => ({ type: 'event', event: e })
    const first = stepMessages(11, small)
    const training = [...first.slice(0, first.findIndex((m) => m.type === 'event' && m.event.type === 'step-finished')), event({ type: 'training', step: 11, done: 3, total: 8 })]
    const sampling = [running, ...training, ...until('tokens', 1)]
    expect(describeRun(after(sampling), 0)).toBe('Step 12 · sampling 0/8 · turn 1 · training step 11 3/8')
    const scored = until('scored', 1).map((m) => (m.type === 'event' && m.event.type === 'scored' ? event({ ...m.event, ahead: true }) : m))
    const both = after([running, ...training, ...scored])
    expect(describeRun(both, 0)).toBe('Step 12 · sampled · training step 11 3/8')
    expect([isMidStep(both), trainedBeside(both)?.step]).toEqual([true, 11])
    // Step 11 ended: what was sampled for step 12 waits, and nothing is under way.
    const rests = after([running, ...training, ...scored, ...first.slice(-1), state({ state: 'paused', step: 11 })])
    expect([isMidStep(rests), trainedBeside(rests)]).toEqual([false, null])
    expect(describeRun(rests, 0)).toBe('Paused before the update of step 12 · the rewards are in')
    expect(isMidStep(after([running, ...until('scored', 1)]))).toBe(true)
    // Nothing of step 12 came of it.
    const dropped = [running, ...training, ...until('tokens', 1), event({ type: 'environment-away', text: 'the environment failed', seconds: 1 }), event({ type: 'step-dropped', step: 12 })]
    expect(describeRun(after(dropped), 0)).toBe('Step 11 · training 3/8')
    expect(after(dropped).waits).toEqual(EMPTY_RUN.waits)
    const over = after([...dropped, ...first.slice(-1), state({ state: 'paused', step: 11 })])
    expect([describeRun(over, 0), isMidStep(over)]).toEqual([expect.stringMatching(/^Paused after step 11/), false])
    // A step that failed is begun again; one that rests by a token or an episode is not over, though its batch was sampled ahead.
    expect(isMidStep(after([...dropped, state({ state: 'failed', error: '', advice: '', recoverable: true })]))).toBe(false)
    const waiting = [running, ...scored]
    const held = (at?: 'episode') => isMidStep(after([...waiting, state({ state: 'paused', step: 11, ...(at && { at }) })]))
    expect([held(), held('episode')]).toEqual([false, true])
  })

  it('counts finished episodes, the turn and the wait', () => {
    const view = after([running, ...until('environment-waiting', 8)], 1000)
    expect(describeRun(view, 1120)).toBe('Step 12 · sampling 0/8 · turn 1 · waiting for the environment 120 ms')
    expect(describeRun(after([running, ...until('tokens', 1)]), 0)).toBe('Step 12 · sampling 0/8 · turn 1')
  })

  it('says of a run that evaluates itself what is played, when, and how far it is', () => {
    const evaluating = (step: number, split: 'train' | 'heldout' = 'heldout'): Message => ({ type: 'event', event: { type: 'evaluation', split, done: 5, total: 32, step } })
    const said = (...messages: Message[]) => describeRun(after([...stepMessages(12, small), running, ...messages]), 0)
    expect(said(evaluating(12))).toBe('Evaluating 32 held-out episodes after step 12 · 5/32')
    expect(said(evaluating(0, 'train'))).toBe('Evaluating 32 episodes before the first step · 5/32')
    expect(said(evaluating(12), state({ state: 'pausing' }))).toMatch(/^Evaluating 32 .* · pausing$/)
    expect(said(evaluating(12), state({ state: 'paused', step: 12 }))).toBe('Paused · evaluating 32 held-out episodes after step 12 · 5/32')
    expect(phaseOf(after([...stepMessages(12, small), running, evaluating(12)]))).toBe('running evaluating')
    expect(said(evaluating(12), { type: 'event', event: { type: 'evaluated', records: [] } })).toMatch(/^Step 12 · done/)
    const failed = state({ state: 'failed', error: 'x', advice: '', recoverable: true })
    expect(after([evaluating(12), failed]).evaluation).toBeNull()
  })

  it('says how many episodes queue for a session, and about how long', () => {
    const queue = (waiting: number, seconds: number | null): Message => ({ type: 'event', event: { type: 'environment-queue', step: 12, waiting, sessions: 2, seconds } })
    const said = (...messages: Message[]) => describeRun(after([running, ...until('tokens', 1), ...messages], 1000), 3000)
    expect(said(queue(3, 22))).toBe('Step 12 · sampling 0/8 · turn 1 · 3 episodes wait for a free session of the server, about 20 s')
    expect(said(queue(1, null))).toMatch(/· 1 episode waits for a free session of the server$/)
    expect(said(queue(3, 22), queue(0, null))).toBe('Step 12 · sampling 0/8 · turn 1')
    expect(describeRun(after([...until('tokens', 1), queue(3, 22), state({ state: 'paused', step: 12 })]), 0)).toMatch(/3 episodes wait for a free session of the server$/)
  })

  it('says that an environment is waited for, and calls episodes that are played again not scored', () => {
    const away = (text: string | null, seconds: number | null): Message => ({ type: 'event', event: { type: 'environment-away', text, seconds } })
    const said = (...messages: Message[]) => describeRun(after([running, ...until('episode-finished', 8), ...messages], 1000), 3000)
    expect(said(away('the environment failed', 14))).toBe('Step 12 · the environment failed · tried again in 12 s')
    expect(said(away('Space a/b is asleep · 3 s', null))).toBe('Step 12 · Space a/b is asleep · 3 s')
    expect(said(away('the environment failed', 14), away(null, null))).toBe('Step 12 · scoring')
    expect(said(away('the environment failed', 14), ...until('step-started', 1))).toBe('Step 12 · sampling 0/8')
  })

  it('goes from scoring to training to done', () => {
    expect(describeRun(after([running, ...until('episode-finished', 8)]), 0)).toBe('Step 12 · scoring')
    expect(describeRun(after([running, ...until('training', 3)]), 0)).toBe('Step 12 · training 6/8')
    expect(describeRun(after([running, ...stepMessages(12, small)]), 0)).toBe('Step 12 · done · no signal')
  })

  it('says when it is pausing and paused, without a running clock', () => {
    const waiting = until('environment-waiting', 8)
    expect(describeRun(after([state({ state: 'pausing' }), ...until('tokens', 1)]), 0)).toBe('Step 12 · sampling 0/8 · turn 1 · pausing')
    expect(describeRun(after([...waiting, state({ state: 'paused', step: 12 })]), 9999)).toBe('Paused · Step 12 · sampling 0/8 · turn 1')
  })

  it('says by which grain it was paused, and what comes next where no token does', () => {
    const paused = (at: 'token' | 'episode', ...messages: Message[]) => describeRun(after([...messages, state({ state: 'paused', step: 11, at })]), 0)
    expect(paused('token', ...until('tokens', 1))).toBe('Paused at a token · Step 12 · sampling 0/8 · turn 1')
    expect(paused('episode', ...until('episode-finished', 3))).toMatch(/^Paused at the end of an episode · Step 12 · sampling 3\/8/)
    expect(paused('token', ...until('scored', 1))).toBe('Paused before the update of step 12 · the rewards are in')
  })

  it('says of a finished step which groups taught nothing and which episodes did not count', () => {
    const said = (options: Parameters<typeof stepMessages>[1]) => describeRun(after([...stepMessages(12, options), state({ state: 'paused', step: 12 })]), 0)
    expect(said(small)).toBe('Paused after step 12 · no signal')
    expect(said({ ...small, groups: 3 })).toBe('Paused after step 12 · no signal in any group')
    expect(said({ groups: 8, skill: () => 0.5, broken: 2 })).toMatch(/^Paused after step 12( · no signal in \d of 8 groups)? · 1 episode unscorable$/)
  })

  it('names the kind of a failure and what is kept', () => {
    const failed = (kind: ErrorKind | null, recoverable: boolean, ...before: Message[]) =>
      describeRun(after([...before, state({ state: 'failed', error: '', advice: '', recoverable, ...(kind && { kind }) })]), 0)
    expect(failed('device-lost', true, ...stepMessages(12, small))).toBe('Stopped · the GPU was lost · the adapter is kept as it was after step 12')
    expect(failed('device-lost', false)).toBe('Stopped · the GPU was lost')
    expect(failed('memory', true)).toBe('Stopped · not enough memory · nothing was trained yet')
    expect(failed('environment', true, ...stepMessages(1, small))).toMatch(/^Stopped · the environment cannot be used · .* step 1$/)
    const down = after([...stepMessages(1, small), state({ state: 'failed', error: '', advice: '', recoverable: true, kind: 'environment' })])
    expect(describeRun(down, 0, { turnedDown: 'localhost:5307' })).toMatch(/^Stopped · localhost:5307 cannot be used · .* step 1$/)
    expect(failed('non-finite', true)).toMatch(/^Stopped · a number was not finite/)
    expect([failed('model', false), failed(null, false)]).toEqual(['Stopped by an error', 'Stopped by an error'])
  })

  it('says what went on while nobody looked, and that other runs are drawn beside this one', () => {
    expect([describeAbsence(1), describeAbsence(7)]).toEqual(['1 step while the tab was hidden', '7 steps while the tab was hidden'])
    expect([describeCompared([]), describeCompared(['lane 2']), describeCompared(['a', 'b'])]).toEqual([null, 'compared with lane 2', 'compared with 2 other runs'])
    // The bar has no room for a name that tells all.
    expect(describeCompared(['lane · tiny-qwen3 · seed 42 · 30 Nov 2026, 19:20'])).toBe('compared with another run')
  })

  it('says of what is played again where it stands, by no clock', () => {
    expect(describePlace(after([...until('environment-waiting', 8), state({ state: 'paused', step: 11 })], 1000))).toBe('Step 12 · sampling 0/8 · turn 1 · environment answers')
    expect(describePlace(after([...until('tokens', 1), running]))).toBe('Step 12 · sampling 0/8 · turn 1')
  })

  it('says why it finished, or how far Resume goes on', () => {
    expect(describeRun(after([state({ state: 'finished', step: 6, reason: 'step-limit' })]), 0, { later: 20 })).toBe('Step 6 is done · Resume goes on to step 20')
    expect(describeRun(after([state({ state: 'finished', step: 50, reason: 'step-limit' })]), 0)).toContain('max_steps')
    expect(describeRun(after([state({ state: 'finished', step: 31, reason: 'target-reward' })]), 0)).toContain(
      'target_reward reached at step 31',
    )
  })

  it('changes phase with the phase, not with every token', () => {
    expect(phaseOf(after([running, ...until('tokens', 1)]))).toBe(phaseOf(after([running, ...until('tokens', 9)])))
    expect(phaseOf(after([running, ...until('training', 1)]))).not.toBe(phaseOf(after([running, ...until('tokens', 9)])))
  })

  it('names backend and threads', () => {
    expect(describeEngine(after(engineMessages()))).toBe('WASM × 2')
    expect(describeEngine(EMPTY_RUN)).toBeNull()
  })
})

import { describe, expect, it } from 'vitest'
import { DEFAULT_STAGE } from '../core/stage'
import { createRuns, currentRun, MOST_COMPARED } from './runs-store'
import { restoredMessage, runRecord, runsMessage } from './testing/kept'
import { scriptedPort } from './testing/script'

function page() {
  const port = scriptedPort()
  const runs = createRuns(port)
  const read = () => port.sent.flatMap((c) => (c.type === 'read-history' ? [c] : []))
  return { port, runs, view: runs.store.getState, read }
}

const A = runRecord()
const B = runRecord({ id: 'run-b', name: 'catch', updatedAt: A.updatedAt - 1000, step: 12, checkpoint: 10 })
const { history } = restoredMessage(3)

describe('the runs that are kept', () => {
  it('are told newest first, with the one that is loaded', () => {
    const { port, view } = page()
    port.say(runsMessage([A, B], { current: 'run-b', problem: '' }))
    expect(view()).toMatchObject({ runs: [A, B], current: 'run-b', storage: { usage: 8_400_000 } })
    expect(currentRun(view())).toEqual(B)
  })

  it('offer the newest one at the start of the page, where it has steps to come', () => {
    const offered = (...args: Parameters<typeof runsMessage>) => {
      const { port, view } = page()
      port.say(runsMessage(...args))
      return view().offered
    }
    expect(offered([A, B])).toBe('run-a')
    expect(offered([{ ...A, finished: true }, B])).toBeNull()
    expect(offered([{ ...A, checkpoint: null }, B])).toBeNull()
    expect(offered([{ ...A, step: 0, checkpoint: 0 }, B])).toBeNull()
    // Left before its first GRPO step, after a stage.
    const stage = { kind: 'sft' as const, dataset: '', rows: 1, steps: 9, settings: DEFAULT_STAGE.sft, afterStep: 0, first: {}, last: {} }
    expect(offered([{ ...A, step: 0, checkpoint: 0, stages: [stage] }, B])).toBe('run-a')
    expect(offered([A, B], { current: 'run-a' })).toBeNull()
    expect(offered([])).toBeNull()
  })

  it('offer nothing that was begun on this page, and no more than once', () => {
    const { port, runs, view } = page()
    port.say(runsMessage([B], { current: null }))
    runs.discardOffer()
    port.say(runsMessage([A, B]))
    expect(view().offered).toBeNull()
  })

  it('offer nothing that is being trained in another tab, but what that tab left when it was closed', () => {
    const { port, runs, view } = page()
    port.say(runsMessage([A, B], { held: ['run-a'] }))
    expect([view().offered, view().held]).toEqual([null, ['run-a']])
    port.say(runsMessage([{ ...A, step: 38 }, B]))
    expect(view().offered).toBe('run-a')
    port.say(runsMessage([A, B], { held: ['run-a'] }))
    expect(view().offered).toBeNull()
    port.say(runsMessage([{ ...A, finished: true }, B]))
    expect(view().offered).toBeNull()
    runs.discardOffer()
    port.say(runsMessage([A, B]))
    expect(view().offered).toBeNull()
  })

  it('say why a run is not gone on with, until it is read or another is asked for', () => {
    const { port, runs, view } = page()
    port.say(runsMessage([A, B]))
    runs.resume('run-a')
    port.say({ type: 'resume-refused', id: 'run-a', why: 'It is open in another tab.' })
    expect([view().resuming, view().refused]).toEqual([null, 'It is open in another tab.'])
    runs.resume('run-b')
    expect(view().refused).toBeNull()
    port.say({ type: 'resume-refused', id: 'run-b', why: 'No.' })
    runs.forgetRefusal()
    expect(view().refused).toBeNull()
  })

  it('take the offer back when the run is deleted or goes on', () => {
    const { port, runs, view } = page()
    port.say(runsMessage([A, B]))
    runs.resume('run-a')
    expect([port.sent.at(-1), view().resuming]).toEqual([{ type: 'resume', id: 'run-a' }, 'run-a'])
    port.say(restoredMessage(37))
    expect([view().offered, view().resuming]).toEqual([null, null])
  })

  it('say that a run cannot go on', () => {
    const { port, runs, view } = page()
    runs.resume('run-a')
    port.say({ type: 'state', state: { state: 'failed', error: 'It is open in another tab.', advice: '', recoverable: true } })
    expect(view().resuming).toBeNull()
  })

  it('are compared by their steps, read once for each length', () => {
    const { port, runs, view, read } = page()
    port.say(runsMessage([A, B]))
    runs.compare('run-b', true)
    expect(read()).toEqual([{ type: 'read-history', requestId: 1, id: 'run-b' }])
    expect(view().histories['run-b']).toEqual({ step: 12, steps: null })
    port.say({ type: 'run-history', requestId: 1, id: 'run-b', history })
    runs.compare('run-b', false)
    runs.compare('run-b', true)
    expect(read()).toHaveLength(1)
    expect(view()).toMatchObject({ compared: ['run-b'], histories: { 'run-b': { steps: history } } })
    // It went on in another tab: what is drawn stays until the new steps are there.
    port.say(runsMessage([A, { ...B, step: 13 }]))
    expect(read()).toHaveLength(2)
    expect(view().histories['run-b']).toEqual({ step: 13, steps: history })
  })

  it('are compared no more than can be told apart, and no longer once deleted', () => {
    const { port, runs, view } = page()
    const many = Array.from({ length: MOST_COMPARED + 1 }, (_, i) => runRecord({ id: `r${i}` }))
    port.say(runsMessage(many))
    for (const { id } of many) runs.compare(id, true)
    expect(view().compared).toEqual(['r1', 'r2', 'r3', 'r4', 'r5'])
    port.say(runsMessage(many.slice(3)))
    expect(view().compared).toEqual(['r3', 'r4', 'r5'])
    expect(view().histories['r1']).toBeUndefined()
  })

  it('ignore an answer that nobody waits for', () => {
    const { port, view } = page()
    port.say(runsMessage([A]), { type: 'run-history', requestId: 9, id: 'run-a', history })
    expect(view().histories).toEqual({})
  })

  it('are renamed, noted and deleted by the worker', () => {
    const { port, runs } = page()
    runs.edit('run-a', { name: 'mine' })
    runs.edit('run-a', { notes: 'with a higher rate' })
    runs.remove('run-a')
    expect(port.sent).toEqual([
      { type: 'edit-run', id: 'run-a', name: 'mine' },
      { type: 'edit-run', id: 'run-a', notes: 'with a higher rate' },
      { type: 'delete-run', id: 'run-a' },
    ])
  })

  it('stand on another base to be measured only, until they are gone on with', () => {
    const { port, runs, view } = page()
    const restored = restoredMessage(3, { config: { ...A.config, precision: 'int4' } })
    runs.resume('run-a', 'float32')
    expect(port.sent).toEqual([{ type: 'resume', id: 'run-a', precision: 'float32' }])
    port.say({ type: 'cleared' }, restored)
    expect(view().measuring).toBe('float32')
    runs.resume('run-a')
    expect(port.sent.at(-1)).toEqual({ type: 'resume', id: 'run-a' })
    port.say({ type: 'cleared' }, restored)
    expect(view().measuring).toBeNull()
  })

  it('say why one could not be deleted', () => {
    const { port, runs, view } = page()
    const notice = (text: string) => ({ type: 'event', event: { type: 'notice', level: 'warning', text } }) as const
    port.say(notice('Something else.'))
    expect(view().removeProblem).toBeNull()
    runs.remove('run-a')
    port.say(notice('This run is open in another tab.'), runsMessage([A]), notice('Something else.'))
    expect(view().removeProblem).toBe('This run is open in another tab.')
    runs.remove('run-a')
    expect(view().removeProblem).toBeNull()
  })

  it('give a file of trajectories to the worker and keep what was wrong with it', () => {
    const { port, runs, view } = page()
    const file = new Blob(['{}'])
    runs.importFile('a.jsonl', file)
    expect([port.sent.at(-1), view().importing]).toEqual([{ type: 'import-trajectories', name: 'a.jsonl', file }, 'a.jsonl'])
    port.say({ type: 'event', event: { type: 'notice', level: 'warning', text: 'Line 1 of a.jsonl has no prompt.' } })
    expect(view()).toMatchObject({ importing: null, importProblem: 'Line 1 of a.jsonl has no prompt.' })
    runs.importFile('b.jsonl', file)
    port.say(restoredMessage(2, { checkpoint: null }))
    expect(view()).toMatchObject({ importing: null, importProblem: null })
  })
})

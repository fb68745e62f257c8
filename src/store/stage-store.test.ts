/** The page's side of the stages, over a scripted worker. */
import { describe, expect, it } from 'vitest'
import { TINY_MODEL } from '../env/presets'
import type { StageLook } from '../worker/protocol'
import { SHOWN_ROWS, createStage, playedRows, stageOf } from './stage-store'
import { runRecord } from './testing/kept'
import { engineMessages, scriptedPort } from './testing/script'

const LOOK: StageLook = { rows: 2, tokens: 9, targets: 4, steps: 3, maxLength: 64, shortened: 0, mismatched: 0, problems: { count: 0, first: [] }, dropped: { count: 0, first: [] }, hub: null, from: 0, examples: [] }
const open = (model = TINY_MODEL) => {
  const port = scriptedPort()
  return { port, stage: createStage(port, model) }
}

describe('the stage store', () => {
  it('shows data before it trains them, and forgets what was seen with every change', () => {
    const { port, stage } = open()
    stage.train()
    stage.give({ name: 'pasted', text: '{}' })
    stage.train()
    expect(port.sent).toEqual([])
    stage.look(0)
    expect(port.sent.at(-1)).toMatchObject({ type: 'stage-look', requestId: 1, kind: 'sft', from: 0, count: SHOWN_ROWS, settings: { learning_rate: 1e-3 } })
    port.say({ type: 'stage-looked', requestId: 1, result: { ok: true, look: LOOK } })
    stage.train()
    expect(port.sent.at(-1)).toMatchObject({ type: 'stage', kind: 'sft', dataset: { name: 'pasted' } })
    stage.set({ max_length: 8 })
    expect(stage.store.getState()).toMatchObject({ look: null, settings: { sft: { max_length: 8 }, dpo: { max_length: 1024 } } })
    const before = port.sent.length
    stage.train()
    expect(port.sent).toHaveLength(before)
  })

  it('drops an answer to what is not asked any more, and all that was seen when another model is loaded', () => {
    const { port, stage } = open('Qwen/Qwen3-0.6B')
    expect(stage.store.getState().settings.sft.learning_rate).toBe(2e-4)
    stage.give({ name: 'pasted', text: '{}' })
    stage.look(0)
    stage.choose('dpo')
    port.say({ type: 'stage-looked', requestId: 1, result: { ok: true, look: LOOK } })
    expect(stage.store.getState()).toMatchObject({ look: null, looking: false, kind: 'dpo' })
    stage.look(0)
    port.say({ type: 'stage-looked', requestId: 2, result: { ok: true, look: LOOK } })
    expect(stage.store.getState().look).toEqual(LOOK)
    port.say(...engineMessages())
    expect(stage.store.getState().look).toBeNull()
  })

  it('makes data of play and looks at them at once', () => {
    const { port, stage } = open()
    stage.fromPlay(0.5)
    expect(port.sent.at(-1)).toEqual({ type: 'stage-rows', requestId: 1, kind: 'sft', least: 0.5 })
    port.say({ type: 'stage-rows', requestId: 1, result: { ok: true, name: 'step 1, episodes', text: '{}', rows: 1 } })
    expect(port.sent.at(-1)).toMatchObject({ type: 'stage-look', dataset: { name: 'step 1, episodes', text: '{}' } })
    stage.fromPlay(2)
    port.say({ type: 'stage-rows', requestId: 3, result: { ok: false, error: 'No episode.' } })
    expect(stage.store.getState()).toMatchObject({ error: 'No episode.', looking: false })
  })

  it('adds a person’s own episodes to a text, one press each; other data make room and come back', () => {
    const { port, stage } = open()
    const give = (row: string) => {
      stage.fromMyPlay()
      const asked = port.sent.at(-1)
      expect(asked).toMatchObject({ type: 'stage-play' })
      port.say({ type: 'stage-rows', requestId: (asked as { requestId: number }).requestId, result: { ok: true, name: 'my play', text: row, rows: 1 } })
    }
    give('{"a":1}')
    give('{"a":2}')
    expect(stage.store.getState().dataset).toEqual({ name: 'my play', text: '{"a":1}\n{"a":2}' })
    expect(port.sent.at(-1)).toMatchObject({ type: 'stage-look', dataset: { name: 'my play' } })
    expect(playedRows(stage.store.getState())).toBe(2)
    stage.give({ name: 'pasted', text: '{"a":2}\n' })
    expect(playedRows(stage.store.getState())).toBe(1)
    give('{"a":3}')
    expect(stage.store.getState().dataset).toEqual({ name: 'pasted', text: '{"a":2}\n{"a":3}' })
    const hub = { name: 'me/data', hub: { repo: 'me/data', revision: 'main', config: null, split: null, file: null } }
    stage.give(hub)
    stage.choose('dpo')
    give('{"a":4}')
    expect(stage.store.getState()).toMatchObject({ kind: 'sft', dataset: { name: 'my play', text: '{"a":4}' }, aside: hub })
    stage.takeBack()
    expect(stage.store.getState()).toMatchObject({ dataset: hub, aside: { name: 'my play' } })
  })

  it('says how much of a dataset has come, and keeps its choices while another part is read', () => {
    const { port, stage } = open()
    const reference = { repo: 'me/data', revision: 'main', config: null, split: null, file: null }
    const hub = { repo: 'me/data', revision: 'main', sha: 'a'.repeat(40), config: 'default', split: 'train', choices: [], more: false }
    stage.give({ name: 'me/data', hub: reference })
    stage.look(0)
    port.say({ type: 'stage-reading', bytes: 7 })
    expect(stage.store.getState().reading).toBe(7)
    port.say({ type: 'stage-looked', requestId: 1, result: { ok: true, look: { ...LOOK, hub } } })
    expect(stage.store.getState()).toMatchObject({ reading: 0, hub })
    stage.give({ name: 'me/data', hub: { ...reference, split: 'test' } })
    expect(stage.store.getState()).toMatchObject({ look: null, hub })
    stage.give({ name: 'pasted', text: '{}' })
    expect(stage.store.getState().hub).toBeNull()
  })

  it('follows a stage to its end, and knows what a kept run has been through', () => {
    const { port, stage } = open()
    port.say({ type: 'stage-state', kind: 'sft', state: { state: 'preparing' } }, { type: 'stage-state', kind: 'sft', state: { state: 'training' } })
    port.say({ type: 'stage-progress', kind: 'sft', step: 1, steps: 2, metrics: { loss: 2 } }, { type: 'stage-progress', kind: 'sft', step: 2, steps: 2, metrics: { loss: 1 } })
    expect(stage.store.getState()).toMatchObject({ state: 'training', progress: { steps: 2, metrics: [{ loss: 2 }, { loss: 1 }] } })
    const record = { kind: 'sft' as const, dataset: 'a', rows: 2, steps: 2, settings: stage.store.getState().settings.sft, afterStep: 0, first: {}, last: {} }
    port.say({ type: 'stages', stages: [record] }, { type: 'stage-state', kind: 'sft', state: { state: 'ended', steps: 2, error: '' } })
    expect(stage.store.getState()).toMatchObject({ state: null, error: '', done: [{ steps: 2 }] })
    port.say({ type: 'stages', stages: [record, { ...record, kind: 'dpo' }] })
    expect(stage.store.getState().progress).toMatchObject({ steps: 2 })
    port.say({ type: 'restored', run: runRecord(), history: [], episodes: [] })
    expect(stage.store.getState()).toMatchObject({ done: [], progress: null })
    port.say({ type: 'restored', run: { ...runRecord(), stages: [record, record] }, history: [], episodes: [] })
    expect(stage.store.getState().done).toHaveLength(2)
  })

  it('draws no stage of a run that was reset away', () => {
    const { port, stage } = open()
    const record = { kind: 'sft' as const, dataset: 'a', rows: 2, steps: 1, settings: stage.store.getState().settings.sft, afterStep: 0, first: {}, last: {} }
    port.say({ type: 'stage-state', kind: 'sft', state: { state: 'preparing' } }, { type: 'stage-progress', kind: 'sft', step: 1, steps: 1, metrics: { loss: 2 } }, { type: 'stages', stages: [record] })
    expect(stage.store.getState().progress).toMatchObject({ metrics: [{ loss: 2 }] })
    port.say({ type: 'stages', stages: [] })
    expect(stage.store.getState().progress).toBeNull()
  })

  it('is one for a worker', () => {
    const port = scriptedPort()
    expect(stageOf(port, TINY_MODEL)).toBe(stageOf(port, 'other'))
  })
})

/** Composing a plan: what a stage begins with, where stages go, what is put back, and that the plan is a setting like others. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_STAGE, type PlannedStage } from '../core/stage'
import { stageRefusal } from '../core/stage-limits'
import { createStores } from './create'
import { createPlanDesk } from './plan-desk'
import { firstStage, movedStage, withoutStage, withStage, withStages } from './planned'
import { defaultConfig, presetByName } from './presets'
import { hasChanges } from './setup-store'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'
import { pressTrain, transportOf } from './transport'

const [A, B, C] = ['sft', 'dpo', 'sft'].map((kind, seed): PlannedStage => {
  const shown = firstStage(kind as 'sft', defaultConfig(), true)
  return { ...shown, settings: { ...shown.settings, seed } }
}) as [PlannedStage, PlannedStage, PlannedStage]
const seeds = (plan: readonly PlannedStage[]) => plan.map(({ settings }) => settings.seed)

describe('a plan', () => {
  it('is moved in, out and about', () => {
    expect(seeds(withStage([A, B], 1, C))).toEqual([0, 2, 1])
    expect(seeds(withoutStage([A, B, C], 1))).toEqual([0, 2])
    expect(seeds(movedStage([A, B, C], 0, 1))).toEqual([1, 0, 2])
    expect(seeds(movedStage([A, B, C], 2, 0))).toEqual([2, 0, 1])
    expect([movedStage([A, B], 1, 2), movedStage([A, B], 0, -1), movedStage([A, B], 5, 0)].map(seeds)).toEqual([[0, 1], [0, 1], [0, 1]])
  })

  it('is no setting where it is empty', () => {
    const staged = presetByName('staged')
    const config = { ...defaultConfig(), tool_edits: [...(staged.tool_edits ?? [])] }
    expect(withStages(config, [A])).toEqual({ ...config, stages: [A] })
    expect(withStages(withStages(config, [A]), [])).toEqual(config)
    expect(Object.keys(withStages(config, []))).not.toContain('stages')
  })

  it('begins with what suits the model and the game', () => {
    const [sft, dpo] = presetByName('staged').stages ?? []
    expect(firstStage('sft', defaultConfig(), true)).toEqual(sft)
    expect(firstStage('dpo', defaultConfig(), true)).toEqual(dpo)
    expect(firstStage('sft', defaultConfig(), false)).toEqual({ ...sft, rows: { from: 'episodes', groups: 64, least: 1 } })
    const large = { model: 'Qwen/Qwen3-0.6B' }
    expect(firstStage('sft', large, true).settings).toEqual(DEFAULT_STAGE.sft)
    expect(firstStage('dpo', large, true)).toEqual({ ...dpo, settings: DEFAULT_STAGE.dpo })
    for (const kind of ['sft', 'dpo'] as const) for (const randomly of [true, false]) expect(stageRefusal(firstStage(kind, large, randomly))).toBeNull()
  })
})

function open(hash = '#v=1&env=lane&seed=7') {
  const port = scriptedPort()
  const stores = createStores(port, hash, { now: () => 0, schedule: (callback) => callback() })
  stores.controller.start()
  port.say(...engineMessages(), { type: 'state', state: { state: 'ready' } })
  port.sent.length = 0
  const desk = createPlanDesk(stores.setup, stores.controller)
  const plan = () => stores.setup.getState().config.stages ?? []
  const kinds = () => plan().map(({ kind }) => kind).join(' ')
  return { port, stores, desk, plan, kinds, view: () => desk.store.getState() }
}

describe('at the desk', () => {
  it('stages come last, move, go, come back, and keep who they are', () => {
    const { desk, plan, kinds, view } = open()
    desk.add('sft', true)
    desk.add('dpo', true)
    expect(kinds()).toBe('sft dpo')
    const dpo = desk.keyOf(plan()[1]!)
    expect(view()).toMatchObject({ open: dpo, wanted: ['plan-edit-1'] })
    desk.change(1, { ...plan()[1]!, rows: { from: 'pairs', groups: 3 } })
    desk.move(1, -1)
    expect([kinds(), desk.keyOf(plan()[0]!), view().open]).toEqual(['dpo sft', dpo, dpo])
    expect(view().wanted).toEqual(['plan-earlier-0', 'plan-later-0'])
    desk.remove(0)
    expect([kinds(), view().wanted]).toEqual(['sft', ['plan-put-back']])
    // What is changed beside it takes nothing away.
    desk.change(0, { ...plan()[0]!, rows: { from: 'random', games: 5 } })
    desk.putBack()
    expect(plan()).toMatchObject([{ kind: 'dpo', rows: { groups: 3 } }, { kind: 'sft', rows: { games: 5 } }])
    expect([desk.keyOf(plan()[0]!), view().removed]).toEqual([dpo, null])
  })

  it('the last stage comes back too; into another plan nothing does', () => {
    const { desk, stores, kinds, view } = open()
    desk.add('dpo', true)
    desk.remove(0)
    expect(stores.setup.getState().config).not.toHaveProperty('stages')
    desk.putBack()
    expect(kinds()).toBe('dpo')
    desk.remove(0)
    stores.controller.choosePlan('staged')
    expect(view().removed).toBeNull()
    desk.putBack()
    expect(kinds()).toBe('sft dpo')
  })

  it('there is room for eight', () => {
    const { desk, plan } = open()
    for (let i = 0; i < 9; i++) desk.add('sft', true)
    expect(plan()).toHaveLength(8)
  })

  it('a plan is a setting: Train takes it before the first step, only Reset after it', () => {
    const { desk, port, stores, plan } = open()
    desk.add('sft', true)
    expect(hasChanges(stores.setup.getState())).toBe(true)
    expect(port.sent).toEqual([])
    pressTrain(stores)
    expect(port.sent).toMatchObject([{ type: 'configure', config: { stages: plan() } }])
    port.say(...engineMessages(), { type: 'state', state: { state: 'ready' } }, { type: 'state', state: { state: 'running', until: 'limit' } }, ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    port.sent.length = 0
    desk.remove(0)
    expect(transportOf(stores).reset.urged).toBe(true)
    pressTrain(stores)
    expect(port.sent).toEqual([{ type: 'train' }])
  })
})

describe('Train', () => {
  const bad = encodeURIComponent(JSON.stringify([{ kind: 'sft', rows: { from: 'random', games: 9 }, settings: {} }, { kind: 'dpo', rows: { from: 'pairs', groups: 9 }, settings: { beta: -1 } }]))
  const WHY = 'Plan, stage 2 (DPO): beta must be above 0; it is -1. Correct it in the Plan panel: Train waits for that'

  it('waits for what a link brought out of bounds, and says where', () => {
    const { stores, port, desk, plan } = open(`#v=1&env=lane&stages=${bad}`)
    expect(transportOf(stores)).toMatchObject({ train: { can: false, hint: WHY }, step: { can: false, hint: WHY } })
    pressTrain(stores)
    expect(port.sent).toEqual([])
    desk.change(1, { ...plan()[1]!, settings: { ...plan()[1]!.settings, beta: 0.1 } })
    expect(transportOf(stores).train.can).toBe(true)
  })

  it('waits for what stands in a field and was not taken, unless the run is past its plan', () => {
    const { stores, port, desk } = open()
    desk.add('sft', true)
    stores.setup.setState({ refusedStages: [{ place: 'stage 1 (SFT)', why: 'games must be a number' }] })
    expect(transportOf(stores).train).toMatchObject({ can: false, hint: 'Plan, stage 1 (SFT): games must be a number. Correct it in the Plan panel: Train waits for that' })
    port.say({ type: 'state', state: { state: 'running', until: 'limit' } }, ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    expect(transportOf(stores).train.can).toBe(true)
  })
})

/** The bounds of a stage: each is told with the setting and what it must be, and every plan that the page lets through comes back from a link. */
import { describe, expect, it } from 'vitest'
import { checkStage } from '../worker/stage-training'
import { DEFAULT_STAGE, type PlannedStage, type StageSettings } from './stage'
import { MOST_STAGES, playedMust, settingMust, settingsRefusal, stageRefusal } from './stage-limits'
import { readStages, writeStages } from './stage-schema'

const SFT: PlannedStage = { kind: 'sft', rows: { from: 'random', games: 3 }, settings: DEFAULT_STAGE.sft }
const with_ = (settings: Partial<StageSettings>): StageSettings => ({ ...DEFAULT_STAGE.dpo, ...settings })

describe('bounds of a stage', () => {
  it.each([
    ['learning_rate', [1e-9, 0.99], [0, 1, -1, NaN], 'above 0 and below 1'],
    ['weight_decay', [0, 0.5], [-0.1, 1], 'from 0 to below 1'],
    ['max_grad_norm', [0.1, 100], [0, -1], 'above 0'],
    ['warmup_steps', [0, 5], [-1, 0.5], 'a whole number from 0'],
    ['seed', [0, 42], [-1, 1.5], 'a whole number from 0'],
    ['num_train_epochs', [0.1, 3], [0, Infinity], 'above 0'],
    ['max_steps', [-1, 1, 30], [0, -2, 1.5], 'a whole number from 1, or −1 for as many as the epochs make'],
    ['per_device_train_batch_size', [1, 32], [0, 1.5], 'a whole number from 1'],
    ['max_length', [2, 1024], [1, 2.5], 'a whole number from 2'],
    ['beta', [0.1, 5], [0, -1, Infinity], 'above 0'],
    ['label_smoothing', [0, 0.4], [0.5, -0.1], 'from 0 to below 0.5'],
  ] as const)('%s', (name, taken, refused, must) => {
    for (const value of taken) {
      expect(settingMust('dpo', name, value)).toBeNull()
      expect(() => checkStage('dpo', with_({ [name]: value }))).not.toThrow()
    }
    for (const value of refused) {
      expect(settingMust('dpo', name, value)).toBe(must)
      expect(settingsRefusal('dpo', with_({ [name]: value }))).toBe(`${name} must be ${must}; it is ${value}`)
      expect(() => checkStage('dpo', with_({ [name]: value }))).toThrow(`${name} must be ${must}; it is ${value}.`)
    }
  })

  it('of what only DPO reads are none of SFT’s', () => {
    expect(settingsRefusal('sft', with_({ beta: -1, label_smoothing: 2 }))).toBeNull()
    expect(settingsRefusal('dpo', with_({ loss_type: 'x' as never }))).toContain('loss_type must be one of sigmoid, ipo')
  })

  it('are also of games, groups and what kind of rows there are', () => {
    expect([1, 4096].map(playedMust)).toEqual([null, null])
    expect([0, 4097, 1.5, NaN].map(playedMust)).toEqual(Array(4).fill('a whole number from 1 to 4096'))
    expect(stageRefusal(SFT)).toBeNull()
    expect(stageRefusal({ ...SFT, rows: { from: 'episodes', groups: 0, least: 1 } })).toBe('groups must be a whole number from 1 to 4096; it is 0')
    expect(stageRefusal({ ...SFT, rows: { from: 'pairs', groups: 1 } })).toBe('SFT cannot be trained on such rows (pairs)')
    expect(stageRefusal({ ...SFT, settings: with_({ max_steps: 0 }) })).toContain('max_steps must be')
  })

  it('are those of a link', () => {
    const plan = Array.from({ length: MOST_STAGES }, () => SFT)
    expect(readStages(JSON.parse(writeStages(plan)))).toEqual(plan)
    expect(readStages(JSON.parse(writeStages([...plan, SFT])))).toBeNull()
    expect(readStages([{ ...SFT, rows: { from: 'random', games: 4097 } }])).toBeNull()
  })
})

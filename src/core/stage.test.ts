/** How many steps a stage has, and the run as one line. */
import { expect, it } from 'vitest'
import { DPO_LOSS_TYPES } from '../rl'
import { DEFAULT_STAGE, nextPlanned, STAGE_LOSSES, stageLine, stageSteps } from './stage'

it('counts steps as TRL does', () => {
  const settings = { ...DEFAULT_STAGE.sft, per_device_train_batch_size: 8, num_train_epochs: 3 }
  expect(stageSteps(settings, 17)).toBe(9)
  expect(stageSteps({ ...settings, num_train_epochs: 0.1 }, 8)).toBe(1)
  expect(stageSteps({ ...settings, max_steps: 5 }, 17)).toBe(5)
})

it('writes the run as one line', () => {
  expect(stageLine([], 0)).toBe('')
  expect(stageLine([{ kind: 'sft', steps: 20, afterStep: 0 }, { kind: 'dpo', steps: 1, afterStep: 0 }], 5)).toBe('SFT 20 steps → DPO 1 step → GRPO 5 steps')
  expect(stageLine([{ kind: 'sft', steps: 2, afterStep: 3 }], 3)).toBe('GRPO 3 steps → SFT 2 steps')
})

it('leaves out of the line what could not be trained, and knows what of a plan is still to be made', () => {
  const record = { kind: 'sft' as const, dataset: '', rows: 0, steps: 0, settings: DEFAULT_STAGE.sft, afterStep: 0, first: {}, last: {} }
  expect(stageLine([{ ...record, skipped: 'No rows.' }, { ...record, steps: 3 }], 2)).toBe('SFT 3 steps → GRPO 2 steps')
  const plan = [0, 1].map(() => ({ kind: 'sft' as const, rows: { from: 'random' as const, games: 1 }, settings: DEFAULT_STAGE.sft }))
  expect(nextPlanned(plan, [record])).toBe(0)
  expect(nextPlanned(plan, [{ ...record, planned: 0, skipped: 'No rows.' }])).toBe(1)
  expect(nextPlanned(plan, [1, 0].map((planned) => ({ ...record, planned })))).toBeNull()
})

it('offers the losses that there are', () => expect([...STAGE_LOSSES].sort()).toEqual([...DPO_LOSS_TYPES].sort()))

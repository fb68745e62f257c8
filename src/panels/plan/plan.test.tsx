// @vitest-environment happy-dom
/** The plan of stages, as a person sees it. */
import { beforeAll, expect, it } from 'vitest'
import { DEFAULT_STAGE, type StageRecord } from '../../core/stage'
import { StoresProvider } from '../../store/hooks'
import { engineMessages } from '../../store/testing/script'
import { fetchLater } from '../../ui/later'
import { mount } from '../testing/mount'
import { PlanPanel } from './PlanPanel'

beforeAll(fetchLater)

const open = (hash: string) => mount((stores) => <StoresProvider stores={stores}>{<PlanPanel />}</StoresProvider>, hash)

const RECORD: StageRecord = {
  kind: 'sft', dataset: 'x', rows: 9, steps: 4, settings: DEFAULT_STAGE.sft, afterStep: 0, first: {}, last: {}, planned: 0, lead: [0.5, 0.9],
  before: { episodes: 64, success: 0.04, valid: 0.12, reward: 0.04 },
  after: { episodes: 64, success: 0.37, valid: 0.98, reward: 0.37 },
}

it('is there where the run has one, goes when it is left out, and says how each stage went', async () => {
  expect((await open('#v=1&env=lane')).find('panel-plan')).toBeNull()
  const page = await open('#v=1&env=staged')
  const text = (id: string) => page.find(id)?.textContent
  await page.say(...engineMessages(), { type: 'state', state: { state: 'ready' } })
  expect(text('plan-sft')).toContain('Waits')
  await page.say(
    { type: 'state', state: { state: 'running', until: 'limit' } },
    { type: 'plan', kind: 'sft', at: 0, stages: 2, doing: 'training', done: 3, of: 150, metrics: { mean_token_accuracy: 0.7 } },
  )
  expect(text('plan-sft')).toContain('Training 3/150')
  expect(text('plan-sft')).toContain('mean_token_accuracy 0.700')
  expect(page.find('plan-sft')?.getAttribute('aria-current')).toBe('step')
  await page.say({ type: 'stages', stages: [RECORD] })
  expect(text('plan-sft')).toContain('valid calls0.12 → 0.98success0.04 → 0.37')
  expect(text('plan-dpo')).toContain('success0.37')
  await page.say({ type: 'stages', stages: [RECORD, { ...RECORD, kind: 'dpo', planned: 1, steps: 0, skipped: 'There is no pair.' }] })
  expect(text('plan-dpo')).toContain('Left out')
  expect(text('plan-dpo')).toContain('There is no pair.')
  expect(text('plan-grpo')).toContain('Now')
})

it('is left out by one press, with a word on when', async () => {
  const page = await open('#v=1&env=staged')
  await page.press('plan-remove')
  expect(page.stores.setup.getState().config.stages).toBeUndefined()
  expect(page.stores.setup.getState().config.tool_edits).toHaveLength(1)
  expect(page.find('panel-plan')).toBeNull()
})

// @vitest-environment happy-dom
/** The plan of stages, as a person sees it. */
import { act } from 'react'
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_STAGE, type StageRecord } from '../../core/stage'
import { StoresProvider } from '../../store/hooks'
import { planDeskOf } from '../../store/plan-desk'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { transportOf } from '../../store/transport'
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

describe('a plan is composed', () => {
  const stages = encodeURIComponent(JSON.stringify([{ kind: 'sft', rows: { from: 'random', games: 9 }, settings: {} }, { kind: 'dpo', rows: { from: 'pairs', groups: 4 }, settings: {} }]))
  const ready = [...engineMessages(), { type: 'state', state: { state: 'ready' } }] as const

  async function compose(hash = `#v=1&env=lane&stages=${stages}`) {
    const page = await open(hash)
    await act(async () => page.stores.controller.start())
    await page.say(...ready)
    const plan = () => page.stores.setup.getState().config.stages ?? []
    const parts = () => [...page.host.querySelectorAll('.plan-part')].map((each) => each.querySelector('strong')?.textContent)
    const focused = () => (document.activeElement as HTMLElement | null)?.dataset['testid']
    const text = (id: string) => page.find(id)?.textContent
    const train = () => transportOf(page.stores).train
    return { ...page, plan, parts, focused, text, train }
  }

  it('by stages that are moved, removed and put back; the keyboard goes with them', async () => {
    const page = await compose()
    expect(page.parts()).toEqual(['SFT: imitate', 'DPO: prefer', 'GRPO: try and compare'])
    expect([page.find('plan-earlier-0')?.disabled, page.find('plan-later-1')?.disabled, page.find('plan-edit-2')]).toEqual([true, true, null])
    expect(page.text('plan-grpo')).toContain('Always last, with the settings of the run')
    await page.press('plan-later-0')
    expect([page.parts().slice(0, 2), page.focused()]).toEqual([['DPO: prefer', 'SFT: imitate'], 'plan-earlier-1'])
    expect(page.text('plan-changed')).toContain('Settings changed: Train and Step will use them.')
    await page.press('plan-remove-1')
    expect([page.parts().length, page.focused(), page.text('plan-put-back')]).toEqual([2, 'plan-put-back', 'Put back stage 2 (SFT)'])
    await page.press('plan-put-back')
    expect([page.parts().length, page.focused(), page.find('plan-put-back')]).toEqual([3, 'plan-edit-1', null])
    await page.press('plan-undo')
    expect([page.parts().slice(0, 2), page.find('plan-changed')]).toEqual([['SFT: imitate', 'DPO: prefer'], null])
    await page.press('plan-add-dpo')
    expect([page.plan().length, page.focused(), page.find('plan-editor-2') !== null]).toEqual([3, 'plan-edit-2', true])
  })

  it('to the last stage, which can be put back as well', async () => {
    const page = await compose()
    await page.press('plan-remove-0')
    await page.press('plan-remove-0')
    expect([page.plan(), page.parts()]).toEqual([[], ['GRPO: try and compare']])
    await page.press('plan-put-back')
    expect(page.plan()).toMatchObject([{ kind: 'dpo' }])
  })

  it('with rows from where they are wanted, and TRL’s settings', async () => {
    const page = await compose()
    await page.press('plan-edit-0')
    await page.type('plan-stage-games', '12')
    await page.press(page.host.querySelector<HTMLElement>('[data-testid="plan-rows-0"] input[value="episodes"]'))
    await page.type('plan-stage-least', '0.5')
    expect(page.text('plan-source-says-0')).toBe('The model plays 12 groups of 8 episodes, and those with a reward of 0.5 or more are imitated.')
    await page.type('plan-stage-max_steps', '3')
    expect(page.plan()[0]).toEqual({ kind: 'sft', rows: { from: 'episodes', groups: 12, least: 0.5 }, settings: { ...DEFAULT_STAGE.sft, max_steps: 3 } })
    // What the other source had comes back.
    await page.press(page.host.querySelector<HTMLElement>('[data-testid="plan-rows-0"] input[value="random"]'))
    await page.press(page.host.querySelector<HTMLElement>('[data-testid="plan-rows-0"] input[value="episodes"]'))
    expect(page.plan()[0]?.rows).toEqual({ from: 'episodes', groups: 12, least: 0.5 })
    await page.press('plan-edit-1')
    expect([page.find('plan-editor-0'), page.find('plan-rows-1')]).toEqual([null, null])
    await page.type('plan-stage-loss_type', 'ipo')
    expect(page.plan()[1]?.settings.loss_type).toBe('ipo')
  })

  it('and what would be refused is said at its field, and Train waits', async () => {
    const page = await compose()
    await page.press('plan-edit-1')
    expect(page.train().can).toBe(true)
    await page.type('plan-stage-beta', '0')
    expect(page.text('plan-editor-1')).toContain('beta must be above 0. Correct it: training waits for that.')
    expect(page.train()).toMatchObject({ can: false, hint: 'Plan, stage 2 (DPO): beta must be above 0. Correct it in the Plan panel: Train waits for that' })
    expect(page.plan()[1]?.settings.beta).toBe(DEFAULT_STAGE.dpo.beta)
    await page.type('plan-stage-groups', '4097')
    await page.type('plan-stage-beta', '0.3')
    expect(page.train().hint).toContain('stage 2 (DPO): groups must be a whole number from 1 to 4096')
    // What was not taken goes with its field.
    await page.press('plan-edit-1')
    expect(page.train().can).toBe(true)
    expect(page.plan()[1]).toMatchObject({ rows: { groups: 4 }, settings: { beta: 0.3 } })
  })

  it('not while its run goes on; Reset makes room again', async () => {
    const page = await compose()
    await page.press('plan-edit-0')
    await page.say({ type: 'state', state: { state: 'running', until: 'limit' } })
    expect([page.find('plan-edit-0'), page.find('plan-editor-0'), page.find('plan-add-sft')]).toEqual([null, null, null])
    expect(page.host.textContent).toContain('A run that has begun keeps its plan.')
    await page.say({ type: 'stages', stages: [RECORD] }, { type: 'state', state: { state: 'paused', step: 0 } })
    expect(page.find('plan-edit-0')).toBeNull()
    await page.press('plan-remove')
    expect(page.text('plan-changed')).toContain('Settings changed')
    await page.press('plan-undo')
    await page.say({ type: 'cleared' }, { type: 'stages', stages: [] }, { type: 'state', state: { state: 'ready' } })
    expect(page.find('plan-edit-0')).not.toBeNull()
  })

  it('for the next run while one without a plan goes on, whose steps are none of its', async () => {
    const page = await compose('#v=1&env=lane')
    await page.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    const desk = planDeskOf(page.stores.setup, page.stores.controller)
    await act(async () => desk.add('sft', true))
    expect(page.text('plan-changed')).toContain('Settings changed: press Reset to use the new settings.')
    expect(page.text('plan-grpo')).toContain('success –')
    expect(page.find('plan-editor-0')).not.toBeNull()
  })

  it('and says where nobody can play at random', async () => {
    const page = await compose('#v=1&env=guess&seed=1')
    const guess = engineMessages({ kind: 'builtin', name: 'guess' }).map((message) =>
      message.type === 'environment' ? { ...message, tools: [{ type: 'function' as const, function: { name: 'guess', description: '', parameters: { properties: { number: { type: 'integer' } } } } }] } : message,
    )
    await page.say(...guess, { type: 'state', state: { state: 'ready' } })
    await act(async () => planDeskOf(page.stores.setup, page.stores.controller).add('sft', true))
    expect(page.text('plan-editor-0')).toContain('This environment cannot be played at random')
    await page.press('plan-add-sft')
    expect(page.plan()[1]?.rows).toEqual({ from: 'episodes', groups: 64, least: 1 })
  })
})

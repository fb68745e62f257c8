// @vitest-environment happy-dom
/** The bench of reward functions: what it says where there is nothing to try them on, and where one fails. */
import { act } from 'react'
import { expect, it } from 'vitest'
import { OWN_REWARD, type RewardFunc } from '../../core/reward-funcs'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
import { RewardFunctions } from './RewardFunctions'

async function open(reward_funcs: RewardFunc[], steps: number) {
  const page = await mount((stores) => {
    stores.setup.setState(({ config }) => ({ config: { ...config, grpo: { ...config.grpo, reward_funcs } } }))
    return (
      <StoresProvider stores={stores}>
        <RewardFunctions />
      </StoresProvider>
    )
  })
  await page.say(...engineMessages())
  for (let step = 1; step <= steps; step++) await page.say(...stepMessages(step))
  await page.press('edit-rewards')
  return { ...page, text: (id: string) => page.find(id)?.textContent ?? '' }
}

it('says that there is no episode to try code on, and promises no trial', async () => {
  const page = await open([OWN_REWARD, { name: 'custom', called: 'mine', code: 'const mine = () => []' }], 0)
  expect(page.text('reward-functions')).toContain('No episode has ended here yet, so there is nothing to try them on.')
  expect(page.text('try-rewards')).toBe('Allow this code')
  const other = await open([OWN_REWARD, { name: 'custom', called: 'mine', code: 'const mine = () => []' }], 1)
  expect(other.text('try-rewards')).toBe('Allow this code and try it')
})

it('says after a dry run that its episodes are not kept, not that none has ended', async () => {
  const page = await open([OWN_REWARD], 0)
  const { grpo } = page.stores.setup.getState().config
  const counts = { solved: 0, outOfTokens: 0, outOfTurns: 0, calls: 2, toolErrors: 0, unparsed: 0, noCall: 0, error: null, tokens: 20 }
  const report = { ...counts, grpo, rewards: [0, 1], groups: 1, useful: 1, seconds: { sampling: 2, training: 1 }, step: { sampling: 2, training: 1 } }
  await act(async () => page.stores.guard.tryOut())
  await page.say({ type: 'dry-run-done', requestId: 1, result: { ok: true, report } })
  expect(page.text('reward-functions')).toContain('A dry run keeps the figures of its episodes and not the episodes, so there is nothing to try them on.')
  expect(page.text('reward-functions')).not.toContain('No episode has ended')
})

it('has no opinions and no sum where a function failed', async () => {
  const page = await open([OWN_REWARD, { name: 'accuracy_reward' }], 1)
  await page.press('try-rewards')
  const table = await page.until('reward-results')
  expect(page.text('reward-error')).toContain('accuracy_reward needs the column solution')
  expect([...table.querySelectorAll('thead th')].map(({ textContent }) => textContent)).toEqual(['Episode', expect.any(String), 'accuracy_reward'])
  expect(table.querySelector('tbody tr')?.lastElementChild?.textContent).toBe('failed')
  expect(table.textContent).not.toContain('no opinion')
})

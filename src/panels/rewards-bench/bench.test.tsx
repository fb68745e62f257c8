// @vitest-environment happy-dom
/** The bench of reward functions: what it says where there is nothing to try them on, and where one fails. */
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

it('has no opinions and no sum where a function failed', async () => {
  const page = await open([OWN_REWARD, { name: 'accuracy_reward' }], 1)
  await page.press('try-rewards')
  const table = await page.until('reward-results')
  expect(page.text('reward-error')).toContain('accuracy_reward needs the column solution')
  expect([...table.querySelectorAll('thead th')].map(({ textContent }) => textContent)).toEqual(['Episode', expect.any(String), 'accuracy_reward'])
  expect(table.querySelector('tbody tr')?.lastElementChild?.textContent).toBe('failed')
  expect(table.textContent).not.toContain('no opinion')
})

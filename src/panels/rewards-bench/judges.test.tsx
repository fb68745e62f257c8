// @vitest-environment happy-dom
/** Which environments a reward function judges: chosen on its card, in runs of several alone. */
import { expect, it } from 'vitest'
import type { EnvironmentSpec, SingleSpec } from '../../core/environment-spec'
import { StoresProvider } from '../../store/hooks'
import { writeLink } from '../../store/link'
import { defaultConfig } from '../../store/presets'
import { mount } from '../testing/mount'
import { RewardFunctions } from './RewardFunctions'

const LANE: SingleSpec = { kind: 'builtin', name: 'lane' }
const CATCH: SingleSpec = { kind: 'builtin', name: 'catch' }
const BOTH: EnvironmentSpec = { kind: 'mix', members: [LANE, CATCH].map((environment) => ({ environment, weight: 1, system_prompt: '', user_prompt: '' })), dataset: null }

async function open(spec: EnvironmentSpec, more = '') {
  const page = await mount(
    (stores) => (
      <StoresProvider stores={stores}>
        <RewardFunctions />
      </StoresProvider>
    ),
    `${writeLink(defaultConfig(spec), 0)}${more}`,
  )
  await page.press('edit-rewards')
  const boxes = () => [...page.host.querySelectorAll<HTMLInputElement>('[data-testid="reward-judges-0"] input')]
  const only = () => page.stores.setup.getState().config.grpo.reward_funcs[0]?.only
  return { ...page, boxes, only, text: (id: string) => page.find(id)?.textContent ?? '' }
}

it('is chosen among the environments of the run, and the last one stays', async () => {
  const page = await open(BOTH)
  expect(page.boxes().map((box) => [box.labels?.[0]?.textContent, box.checked, box.disabled])).toEqual([['lane', true, false], ['catch', true, false]])
  expect(page.find('reward-judges-0')?.querySelector('.help')).not.toBeNull()
  await page.press(page.boxes()[1])
  expect(page.only()).toEqual(['lane'])
  expect(page.boxes().map(({ checked, disabled }) => [checked, disabled])).toEqual([[true, true], [false, false]])
  expect(page.text('reward-names')).toBe('environment (lane)')
  expect(page.text('reward-unjudged')).toContain('No function judges catch: its episodes get no reward')
  await page.press(page.boxes()[1])
  expect(page.only()).toBeUndefined()
  expect(page.find('reward-unjudged')).toBeNull()
})

it('says that a limit names what the run has not', async () => {
  const page = await open(BOTH, '&reward_funcs=[{"name":"environment","take":"own","only":["chess"]}]')
  expect(page.text('reward-judges-0')).toContain('It is limited to chess, which this run does not have. Choose at least one.')
  expect(page.text('reward-unjudged')).toContain('No function judges lane, catch: their episodes')
})

it('is no question in a run of one environment', async () => {
  const page = await open(LANE)
  expect(page.find('reward-card-0')).not.toBeNull()
  expect(page.find('reward-judges-0')).toBeNull()
})

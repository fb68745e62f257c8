// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import type { EnvironmentSpec } from '../../core/environment-spec'
import { defaultConfig } from '../../store/presets'
import { writeLink } from '../../store/link'
import { StoresProvider } from '../../store/hooks'
import { engineMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
import { EnvironmentPicker } from './EnvironmentPicker'

async function open(hash = '') {
  const page = await mount(
    (stores) => (
      <StoresProvider stores={stores}>
        <EnvironmentPicker />
      </StoresProvider>
    ),
    hash,
  )
  const all = (id: string) => [...page.host.querySelectorAll<HTMLElement>(`[data-testid="${id}"]`)]
  const environment = () => page.stores.setup.getState().config.environment
  return { ...page, all, environment }
}

it('several environments begin with the present one; weights, prompts and members change the settings', async () => {
  const page = await open()
  await page.say(...engineMessages())
  await page.type('preset-select', 'several')
  await page.until('mix-field')
  const shares = () => page.all('mix-member').map((row) => row.querySelector('output')?.textContent)
  expect(shares()).toEqual(['50 %', '50 %'])
  await page.type(page.all('mix-weight')[0] ?? null, '3')
  expect(shares()).toEqual(['75 %', '25 %'])
  await page.type(page.all('mix-weight')[0] ?? null, 'much')
  expect(page.host.textContent).toContain('A weight is a number above 0, not "much".')
  expect(page.environment()).toMatchObject({ members: [{ weight: 3 }, { weight: 1 }] })
  await page.type(page.all('mix-system_prompt')[1] ?? null, 'Catch it.')
  await page.type('mix-add', 'echo')
  await page.type('mix-add', 'openenv')
  await page.type('mix-url', 'not a server')
  await page.press('mix-add-server')
  expect(page.host.querySelector('[role="alert"]')).not.toBeNull()
  await page.type('mix-url', 'ws://example.org:8000')
  await page.press('mix-add-server')
  await page.press(page.all('mix-remove')[0])
  const own = { weight: 1, system_prompt: '', user_prompt: '' }
  expect(page.environment()).toEqual({
    kind: 'mix',
    members: [
      { environment: { kind: 'builtin', name: 'catch' }, ...own, system_prompt: 'Catch it.' },
      { environment: { kind: 'builtin', name: 'echo' }, ...own },
      { environment: { kind: 'openenv', url: 'ws://example.org:8000' }, ...own },
    ],
    dataset: null,
  })
})

it('a link’s servers, datasets and code are named and wait for Allow', async () => {
  const own = { weight: 1, system_prompt: '', user_prompt: '' }
  const environment: EnvironmentSpec = {
    kind: 'mix',
    members: [
      { environment: { kind: 'openenv', url: 'ws://example.org:8000' }, ...own },
      { environment: { kind: 'builtin', name: 'lane' }, ...own },
    ],
    dataset: { kind: 'hub', repo: 'openai/gsm8k', revision: 'main', config: 'main', split: 'train' },
  }
  const page = await open(writeLink(defaultConfig(environment), 0))
  page.stores.controller.start()
  await page.until('allow-linked')
  expect(page.port.sent.filter(({ type }) => type === 'configure')).toEqual([])
  const said = page.find('linked-environment')?.textContent ?? ''
  expect(said).toContain('ws://example.org:8000')
  expect(said).toContain('openai/gsm8k')
  await page.press('allow-linked')
  expect(page.port.sent.find(({ type }) => type === 'configure')).toMatchObject({ config: { environment } })
})

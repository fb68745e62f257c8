// @vitest-environment happy-dom
/** The hosts beside the code: what is typed, what is refused, what the settings get; and a link's hosts before Allow. */
import { expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { writeLink } from '../../store/link'
import { defaultConfig } from '../../store/presets'
import { LinkedConsent } from '../task/LinkedConsent'
import { mount } from '../testing/mount'
import { NetworkField } from './NetworkField'

const OWN = { kind: 'custom', called: 'Net', code: 'class Net { reset() {} }' } as const

it('takes hosts one by one, says what is wrong with others, and is off again without any', async () => {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <NetworkField />
    </StoresProvider>
  ))
  const hosts = () => page.stores.setup.getState().config.network_hosts
  const add = async (text: string) => {
    await page.type('network-host', text)
    await page.press('network-add')
  }
  const input = () => page.find<HTMLInputElement>('network-host') as HTMLInputElement
  expect([page.find('network-state')?.textContent, hosts()]).toEqual(['Off: this run’s code reaches no server.', undefined])
  await add('https://a.example/v1')
  expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('Write https://a.example.')
  expect([input().getAttribute('aria-invalid'), input().value, hosts()]).toEqual(['true', 'https://a.example/v1', undefined])
  await page.type('network-host', 'https://a.example')
  expect(page.host.querySelector('[role="alert"]')).toBeNull()
  await page.press('network-add')
  await add('http://localhost:8000')
  await add('https://A.example/')
  expect([hosts(), input().value]).toEqual([['https://a.example', 'http://localhost:8000'], ''])
  expect([...page.host.querySelectorAll('.network-hosts code')].map((each) => each.textContent)).toEqual(['https://a.example', 'http://localhost:8000'])
  for (const host of ['https://a.example', 'http://localhost:8000']) await page.press(page.host.querySelector<HTMLButtonElement>(`[aria-label="Remove ${host}"]`))
  expect(document.activeElement).toBe(input())
  expect([hosts(), 'network_hosts' in page.stores.setup.getState().config]).toEqual([undefined, false])
})

it('a link’s hosts are named in words beside Allow, and nothing is made before it', async () => {
  const link = writeLink({ ...defaultConfig(OWN), network_hosts: ['https://a.example', 'https://b.example'] }, 0)
  const page = await mount(
    (stores) => (
      <StoresProvider stores={stores}>
        <LinkedConsent />
      </StoresProvider>
    ),
    link,
  )
  expect(page.find('linked-network')?.textContent).toBe('Network for this code: it could send whatever it sees to https://a.example and https://b.example and read the answers')
  expect(page.host.textContent).toContain('Code that runs in the sandbox, with network: Net')
  expect([page.port.sent, document.querySelector('iframe'), page.stores.setup.getState().awaitsConsent]).toEqual([[], null, true])
})

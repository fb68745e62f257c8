// @vitest-environment happy-dom
import { act } from 'react'
import { expect, it, vi } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { setSetting } from '../../store/settings'
import { restoredMessage } from '../../store/testing/kept'
import { engineMessages, LANE, stepMessages } from '../../store/testing/script'
import { eventually, mount } from '../testing/mount'
import { Bar } from './Bar'

async function open() {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <Bar />
    </StoresProvider>
  ))
  await act(async () => page.stores.controller.start())
  await page.say(...engineMessages())
  const edit = (rate: number) => act(async () => page.stores.controller.edit((config) => setSetting(config, 'learning_rate', rate)))
  return { ...page, edit, text: (id: string) => page.find(id)?.textContent ?? null, urged: () => page.find('reset')?.className.includes('urged') }
}

it('changed settings are told beside Reset only when Reset is what takes them over', async () => {
  const page = await open()
  await page.edit(0.02)
  expect([page.text('state-changed'), page.urged()]).toEqual([null, false])
  await page.press('step')
  await page.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
  await page.edit(0.03)
  expect([page.text('state-changed'), page.urged()]).toEqual(['Settings changed: press Reset', true])
  expect(page.text('state-line')).toMatch(/^Paused after step 1( ·|$)/)
  // Where the room ends, it is not this that is cut.
  expect(page.host.querySelector('.state-text')?.textContent).toMatch(/^Settings changed: press Reset/)
})

it('a recording stands in the badge with its own seed, and the run with its own after it', async () => {
  const page = await open()
  await page.say(...stepMessages(1))
  await page.say(restoredMessage(2, { checkpoint: null, config: { ...LANE, grpo: { ...LANE.grpo, seed: 4711 } } }))
  expect(page.text('badge')).toMatch(/recording.*seed 4711/)
  expect(page.text('badge')).not.toContain('WASM')
  await act(async () => page.stores.run.back())
  expect(page.text('badge')).toContain(`seed ${LANE.grpo.seed}`)
  expect(page.text('badge')).not.toContain('recording')
  await page.say(restoredMessage(2, { checkpoint: null, config: { ...LANE, model: '' } }))
  expect(page.text('badge')).toBe('recording')
})

it('Step goes on by the grain that is chosen beside it, and the speed is told to the worker; both stand in the link', async () => {
  const page = await open()
  page.port.sent.length = 0
  await page.type('grain', 'token')
  await page.press('step')
  await page.type('speed', '0.25')
  await page.type('speed', '1')
  expect(page.port.sent.filter(({ type }) => type === 'step' || type === 'pace')).toEqual([
    { type: 'step', grain: 'token' },
    { type: 'pace', tokensPerSecond: expect.closeTo(4.17, 2) as number },
    { type: 'pace', tokensPerSecond: null },
  ])
  const options = [...(page.find<HTMLSelectElement>('speed')?.options ?? [])].map(({ text }) => text)
  expect(options).toEqual(['2 tok/s', '4 tok/s', '8 tok/s', 'max'])
  expect([page.find<HTMLSelectElement>('grain')?.value, page.stores.display.getState()]).toMatchObject(['token', { grain: 'token', speed: 1 }])
})

it('says that steps were trained while the tab was hidden', async () => {
  const page = await open()
  let visibility = 'visible'
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visibility as DocumentVisibilityState)
  const turn = (to: string) =>
    act(async () => {
      visibility = to
      document.dispatchEvent(new Event('visibilitychange'))
    })
  await page.say({ type: 'state', state: { state: 'running', until: 'limit' } }, ...stepMessages(1))
  await turn('hidden')
  await page.say(...stepMessages(2), ...stepMessages(3))
  expect(page.text('state-line')).not.toContain('hidden')
  await turn('visible')
  await eventually(() => expect(page.text('state-line')).toMatch(/^Step 3 · done.* · 2 steps while the tab was hidden$/))
})

it('says beside Train which setting was not taken, and what is used in its place', async () => {
  const page = await open()
  expect([page.text('state-refused'), page.find('train')?.getAttribute('aria-describedby')]).toEqual([null, null])
  await act(async () => page.stores.setup.setState({ refused: ['num_generations'] }))
  expect(page.text('state-refused')).toBe('num_generations not taken: 8 is used')
  expect(page.host.querySelector(`#${page.find('train')?.getAttribute('aria-describedby')}`)?.textContent).toContain('num_generations')
})

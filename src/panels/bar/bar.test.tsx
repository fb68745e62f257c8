// @vitest-environment happy-dom
import { act } from 'react'
import { expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { setSetting } from '../../store/settings'
import { restoredMessage } from '../../store/testing/kept'
import { engineMessages, LANE, stepMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
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
  expect(page.text('state-line')).toBe('Paused after step 1')
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

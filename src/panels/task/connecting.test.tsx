// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { restoredMessage, runRecord, runsMessage } from '../../store/testing/kept'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { EnvironmentPicker } from './EnvironmentPicker'

const URL = 'ws://example.org:8000'

async function open(...messages: Message[]) {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <EnvironmentPicker />
    </StoresProvider>
  ))
  await page.say(...engineMessages(), ...messages)
  await page.type('preset-select', 'own')
  await page.type('url-input', URL)
  const text = (id: string) => page.find(id)?.textContent ?? null
  return { ...page, text }
}

it('connecting says at which step the run that it ends stays under Runs', async () => {
  const list = runsMessage([runRecord({ step: 3, checkpoint: 3 })], { current: 'run-a' })
  const page = await open(...stepMessages(3), list)
  await page.press('connect')
  expect(page.text('start-over')).toContain('stays under Runs, at step 3.')
  expect(page.text('start-over')).not.toMatch(/lost|dropped/)
  await page.press('keep-run')
  await page.say(...stepMessages(4).slice(0, 5))
  await page.press('connect')
  expect(page.text('start-over')).toContain('Only the step that has not ended is dropped.')
})

it('a run of which nothing is kept ends for good, a recording leaves its file alone', async () => {
  const page = await open(...stepMessages(1), runsMessage([]))
  await page.press('connect')
  expect(page.text('start-over')).toContain('ends for good')
  const other = await open(restoredMessage(2, { checkpoint: null }))
  await other.press('connect')
  expect(other.text('start-over')).toContain('in place of the recording')
})

it('what is no server is used, not connected to', async () => {
  const page = await open(...stepMessages(1), runsMessage([]))
  await page.type('preset-select', 'several')
  await page.until('mix-use')
  await page.press('mix-use')
  expect(page.text('start-over')).toContain('This starts a new run at step 0.')
  expect(page.text('connect-anyway')).toBe('Use it and start over')
})

it('the field says that it is connected, and to what, while the address stands in it', async () => {
  const page = await open()
  expect(page.text('connected')).toBeNull()
  await page.press('connect')
  expect(page.text('connected')).toBeNull()
  await page.say({ type: 'environment', spec: { kind: 'openenv', url: URL }, tools: [], prompts: { system: '', user: '' }, maxSessions: 16 })
  expect(page.text('connected')).toContain('Connected to example.org:8000 · at most 16 sessions')
  expect(page.text('connect')).toBe('Connect again')
  await page.type('url-input', 'ws://example.org:8001')
  expect([page.text('connected'), page.text('connect')]).toEqual([null, 'Connect'])
  await page.type('url-input', URL)
  expect(page.text('connected')).not.toBeNull()
})

it('an address that was typed is there again after another environment was looked at', async () => {
  const page = await open()
  await page.type('preset-select', 'lane')
  await page.type('preset-select', 'own')
  expect(page.find<HTMLInputElement>('url-input')?.value).toBe(URL)
})

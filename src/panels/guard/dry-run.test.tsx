// @vitest-environment happy-dom
/** The dry run from its button to its advice, over a scripted worker. */
import { act } from 'react'
import { expect, it } from 'vitest'
import { DEFAULT_GRPO } from '../../core/config'
import { StoresProvider } from '../../store/hooks'
import { setSetting } from '../../store/settings'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { eventually, mount } from '../testing/mount'
import { DryRunButton } from './DryRunButton'
import { DryRunDialog } from './DryRunDialog'

const REPORT = { solved: 0, outOfTokens: 0, outOfTurns: 0, calls: 2, toolErrors: 0, unparsed: 0, noCall: 0, error: null, tokens: 20, seconds: { sampling: 2, training: 1 } }

it('begins with the press that opens it, and not again where these settings were tried', async () => {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <DryRunButton />
    </StoresProvider>
  ))
  await page.say(...engineMessages())
  await page.press('dry-run-open')
  await eventually(() => expect(page.port.sent.at(-1)?.type).toBe('dry-run'))
  const { grpo } = page.stores.setup.getState().config
  const report = { ...REPORT, grpo, rewards: [0, 1], groups: 1, useful: 1, step: { sampling: 0.62, training: 0.58 } }
  await page.say({ type: 'dry-run-done', requestId: 1, result: { ok: true, report } })
  expect(document.querySelector('[data-testid="dry-run-report"]')?.textContent).toContain('about 1.2 s on this machine now: 0.62 s sampling, 0.58 s training')
  const asked = page.port.sent.length
  await page.press('close-dry-run')
  await page.press('dry-run-open')
  await act(async () => new Promise((resolve) => setTimeout(resolve, 50)))
  expect(page.port.sent).toHaveLength(asked)
})

it('takes changed settings over, plays, and shows what was found and what to change', async () => {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <DryRunDialog onClose={() => undefined} />
    </StoresProvider>
  ))
  const begin = () => page.find('dry-run-begin') as HTMLButtonElement
  const why = () => page.host.querySelector('#dry-run-why')?.textContent
  expect([begin().disabled, why()]).toEqual([true, 'The model is being loaded.'])
  await page.say(...engineMessages())
  expect(begin().disabled).toBe(false)
  await page.press('dry-run-begin')
  expect(page.port.sent.slice(-3).map(({ type }) => type)).toEqual(['configure', 'inspect', 'dry-run'])
  const asked = page.port.sent.at(-1) as { requestId: number }
  expect(begin().disabled).toBe(true)
  await page.say({ type: 'dry-run-progress', requestId: asked.requestId, done: 3, total: 16 })
  expect(page.find('dry-run-state')?.textContent).toBe('3 of 16 episodes played')

  const { config } = page.stores.setup.getState()
  const report = {
    ...{ grpo: { ...DEFAULT_GRPO, ...config.grpo }, rewards: Array<number>(16).fill(0), groups: 2, useful: 0, solved: 0, outOfTokens: 16, outOfTurns: 0 },
    ...{ calls: 0, toolErrors: 0, unparsed: 0, noCall: 0, error: null, tokens: 256, seconds: { sampling: 2, training: 1 }, step: { sampling: 8, training: 4 } },
  }
  await page.say({ type: 'dry-run-done', requestId: asked.requestId, result: { ok: true, report } })
  expect(page.find('dry-run-advice')?.textContent).toMatch(/^max_completion_length, now 256: 16 of 16/)
  expect(page.find('dry-run-report')?.textContent).toContain('about 12 s on this machine now: 8.0 s sampling, 4.0 s training')
  expect(page.find('dry-run-report')?.textContent).not.toContain('other settings')

  // With the next try nothing has to be taken over any more; a change makes the figures older ones.
  await act(async () => page.stores.controller.edit((now) => setSetting(now, 'temperature', 0.5)))
  expect(page.find('dry-run-report')?.textContent).toContain('other settings')
  await page.say(...stepMessages(1))
  expect(why()).toMatch(/press Reset to take them over/)
  await act(async () => page.stores.controller.revert())
  await page.press('dry-run-begin')
  expect(page.port.sent.at(-1)).toMatchObject({ type: 'dry-run' })
  expect(page.port.sent.at(-2)?.type).not.toBe('configure')
  await page.say({ type: 'dry-run-done', requestId: asked.requestId + 1, result: { ok: false, error: 'The environment is gone.' } })
  expect(page.host.querySelector('[role="alert"]')?.textContent).toBe('The environment is gone.')
  await page.say(...stepMessages(2).slice(0, 4))
  expect(why()).toMatch(/middle of a step/)
})

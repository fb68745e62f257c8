// @vitest-environment happy-dom
/** Settings that cannot go together are refused at the control that would join them, and nothing is lost. */
import { act } from 'react'
import { expect, it } from 'vitest'
import { MAIN_SETTINGS, SETTING_GROUPS } from '../../store/settings'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
import { Changed } from './Changed'
import { SettingField } from './SettingField'

const FIELDS = [...MAIN_SETTINGS, ...SETTING_GROUPS.flatMap(({ settings }) => settings)]

async function fields() {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      {FIELDS.map((setting) => (
        <SettingField key={setting.key} setting={setting} />
      ))}
      <Changed testId="changed" undoId="undo" />
    </StoresProvider>
  ))
  const control = (key: string) => page.find<HTMLInputElement>(`setting-${key}`) as HTMLInputElement
  const why = (key: string) => control(key).closest('.field')?.querySelector('.why')?.textContent ?? null
  const grpo = () => page.stores.setup.getState().config.grpo
  return { ...page, control, why, grpo, set: (key: string, text: string) => page.type(`setting-${key}`, text) }
}

it('a choice that does not go with another says why and is not taken; it is once that one is changed', async () => {
  const { control, why, grpo, set } = await fields()
  await set('loss_type', 'vespo')
  expect(why('loss_type')).toMatch(/^loss_type vespo .* sequence_mask\. Set vllm_importance_sampling_mode to token_truncate/)
  expect([grpo().loss_type, control('loss_type').value]).toEqual(['dapo', 'dapo'])
  await set('vllm_importance_sampling_mode', 'token_mask')
  expect(why('loss_type')).toBeNull()
  await set('loss_type', 'vespo')
  expect([why('loss_type'), grpo().loss_type, control('loss_type').value]).toEqual([null, 'vespo', 'vespo'])
  await set('vllm_importance_sampling_mode', 'sequence_mask')
  expect(why('vllm_importance_sampling_mode')).toMatch(/vespo/)
  expect(grpo().vllm_importance_sampling_mode).toBe('token_mask')
})

it('a number that does not go with another stays in its control until it is changed', async () => {
  const { control, why, grpo, set } = await fields()
  await set('entropy_coef_min', '2')
  expect(why('entropy_coef_min')).toMatch(/entropy_coef_min \(2\) is above entropy_coef_max \(1\)/)
  expect([control('entropy_coef_min').value, grpo().entropy_coef_min]).toEqual(['2', 0])
  await set('entropy_coef_min', '0.5')
  expect([why('entropy_coef_min'), grpo().entropy_coef_min, control('entropy_coef_min').value]).toEqual([null, 0.5, '0.5'])
})

it('what is no value at all is said as before', async () => {
  const { control, why, set } = await fields()
  await set('epsilon', 'much')
  expect(why('epsilon')).toBe('epsilon must be a number from 0 to 10.')
  expect(control('epsilon').value).toBe('much')
})

it('another end of a run that goes on is handed over when its field is left, not with each digit', async () => {
  const page = await fields()
  const { control, set } = page
  await act(async () => page.stores.controller.start())
  await page.say(...engineMessages(), { type: 'state', state: { state: 'running', until: 'limit' } }, ...stepMessages(1).slice(0, 2))
  const sent = () => page.port.sent.filter(({ type }) => type === 'extend')
  await set('max_steps', '2')
  await set('max_steps', '23')
  expect([sent(), page.find('run-end')?.textContent]).toEqual([[], expect.stringContaining('it ends at 23')])
  expect(page.find('changed')?.textContent).toContain('needs no Reset')
  await act(async () => control('max_steps').dispatchEvent(new FocusEvent('focusout', { bubbles: true })))
  expect(sent()).toEqual([{ type: 'extend', max_steps: 23, target_reward: null }])
  expect(page.find('run-end')).toBeNull()
})

it('what was not taken is known to the page until it is corrected or gone', async () => {
  const page = await fields()
  const refused = () => page.stores.setup.getState().refused
  await page.set('epsilon', 'much')
  await page.set('delta', '-1')
  expect(refused()).toEqual(['epsilon', 'delta'])
  await page.set('epsilon', '0.3')
  expect(refused()).toEqual(['delta'])
  page.unmount()
  expect(refused()).toEqual([])
})

// @vitest-environment happy-dom
/** A recipe is chosen, recognised, explained and refused in its field. */
import { act } from 'react'
import { expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { setSetting, withSettings } from '../../store/settings'
import { explain, type HelpKey } from '../../ui/explainers'
import { mount } from '../testing/mount'
import { RecipeField } from './RecipeField'

it('takes a recipe, says what it changed, and reads own once a setting differs', async () => {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <RecipeField />
    </StoresProvider>
  ))
  const select = () => page.find<HTMLSelectElement>('recipe-select') as HTMLSelectElement
  const says = () => page.find('recipe-changes')?.textContent
  const help = () => page.host.querySelector<HTMLElement>('.help')?.dataset['help'] as HelpKey
  expect([select().value, says()]).toEqual(['trl', 'The settings of the loss are TRL’s defaults.'])
  expect([...select().options].map(({ value }) => value)).not.toContain('own')
  await page.type('recipe-select', 'dr_grpo')
  expect(says()).toBe('Beside TRL’s defaults: loss_type dr_grpo, scale_rewards none.')
  expect(page.stores.setup.getState().config.grpo).toMatchObject({ loss_type: 'dr_grpo', scale_rewards: 'none', learning_rate: 1e-3 })
  expect(explain(help())).toMatchObject({ url: expect.stringContaining('2503.20783') })

  await page.type('recipe-select', 'gspo')
  await act(async () => page.stores.controller.edit((config) => setSetting(config, 'epsilon', 0.1)))
  expect([select().value, help()]).toEqual(['own', 'recipe:own'])
  expect(says()).toContain('epsilon 0.1')

  await act(async () => page.stores.controller.edit((config) => withSettings(config, { steps_per_generation: 1, num_generations: 3, prompts_per_step: 1 })))
  await page.type('recipe-select', 'gspo')
  expect(page.host.querySelector('.why')?.textContent).toMatch(/^GSPO was not taken: steps_per_generation is 4/)
  expect(select().value).toBe('own')
  await page.type('recipe-select', 'trl')
  expect([select().value, page.host.querySelector('.why')]).toEqual(['trl', null])
})

// @vitest-environment happy-dom
import { expect, it } from 'vitest'
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
  await page.say(...engineMessages())
  return { ...page, textOf: async (id: string) => (await page.until(id)).textContent, grpo: () => page.stores.setup.getState().config.grpo }
}

it('a preset says which settings of a person it replaced, and gives them back', async () => {
  const page = await open('#v=1&env=lane&num_generations=4&temperature=0.5')
  await page.type('preset-select', 'guess')
  expect(await page.textOf('preset-took')).toContain('replaced what you had changed: num_generations, temperature.')
  expect(page.grpo()).toMatchObject({ num_generations: 8, temperature: 1 })
  await page.press('put-back')
  expect(page.grpo()).toMatchObject({ num_generations: 4, temperature: 0.5 })
  expect(page.find('preset-took')?.textContent).toContain('Your settings are back')
  await page.type('preset-select', 'catch')
  await page.type('preset-select', 'lane')
  expect(page.find('preset-took')).toBeNull()
})

it.each([
  ['own', 'Still lane until you connect to a server: Train goes on with it.'],
  ['prompts', 'Still lane until you use a dataset: Train goes on with it.'],
  ['custom', 'Still lane until you use a class: Train goes on with it.'],
])('a kind of which nothing is used yet says what Train goes on with: %s', async (kind, sentence) => {
  const page = await open()
  await page.type('preset-select', kind)
  expect(await page.textOf('still')).toBe(sentence)
  expect(page.stores.setup.getState().config.environment).toEqual({ kind: 'builtin', name: 'lane' })
  await page.type('preset-select', 'lane')
  expect(page.find('still')).toBeNull()
})

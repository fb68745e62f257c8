// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import { mount } from '../testing/mount'
import { GroupPanel } from './GroupPanel'

it('the legend shows what the strips show: authors while they are written, advantages once these are known', async () => {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <GroupPanel />
    </StoresProvider>
  ))
  const step = stepMessages(1, { skill: () => 0.5 })
  const scored = step.findIndex((m) => m.type === 'event' && m.event.type === 'scored')
  const legend = () => page.find('group-legend')
  await page.say(...engineMessages(), ...step.slice(0, scored))
  expect([legend()?.querySelector('.swatch.run-model') !== null, legend()?.querySelector('.scale-bar')]).toEqual([true, null])
  await page.say(...step.slice(scored))
  expect(legend()?.textContent).toContain('by advantage')
  expect([legend()?.querySelector('.swatch.run-model'), legend()?.querySelector('.scale-bar') !== null]).toEqual([null, true])
})

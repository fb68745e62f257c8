// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
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

it('where only reward functions judge, nothing speaks of an environment', async () => {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <GroupPanel />
    </StoresProvider>
  ))
  // A prompt and one answer: no call is answered, and the functions give 0.
  const messages = stepMessages(1, { skill: () => 0 }).flatMap((message): Message[] => {
    if (message.type !== 'event') return [message]
    const { event } = message
    if (event.type === 'episode-started') return [{ ...message, event: { ...event, rewardless: true } }]
    if (event.type === 'environment-answered') return []
    if (event.type !== 'episode-finished') return [message]
    return [{ ...message, event: { ...event, episode: { ...event.episode, rewardless: true, reward: 0, rewards: { accuracy_reward: 0 }, success: false, exit: 'answered' } } }]
  })
  await page.say(...engineMessages(), ...messages)
  const words = page.host.textContent ?? ''
  expect(words).toContain('reward functions: 0 ·')
  expect(words).toContain('prompt seed')
  expect(words).not.toMatch(/environment (said|seed|gave)/)
  expect(page.find('group-legend')?.textContent).not.toContain('environment')
})

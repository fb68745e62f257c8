// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { eventually, mount } from '../panels/testing/mount'
import { DISPLAY_KEYS } from '../store/display'
import { ALL_SETTINGS } from '../store/settings'
import { EXPLAINERS, explain } from './explainers'
import { METRIC_EXPLAINERS } from './explainers/metrics'
import { SOURCES } from './explainers/sources'
import { Help } from './Help'
import { UPDATE_ROWS } from './metrics'

const all = Object.entries({ ...EXPLAINERS, ...METRIC_EXPLAINERS })
const sentences = (text: string) => text.split(/(?<=[.?])\s+(?=\p{L})/u).length

it('every setting, every shown metric and every choice of the view has an explanation', () => {
  expect(ALL_SETTINGS.filter(({ key }) => !explain(key))).toEqual([])
  expect(UPDATE_ROWS.filter(({ name }) => !explain(`metric:${name}`))).toEqual([])
  /** State of the page, not a control with a name. */
  const state = new Set(['open', 'card', 'bench'])
  expect(DISPLAY_KEYS.filter((key) => !state.has(key) && !(`view:${key}` in EXPLAINERS))).toEqual([])
})

it('an explanation is one short paragraph without exclamation marks, with an address to read on', () => {
  for (const [key, { text }] of all) {
    expect([key, text.length >= 60, text.length <= 500, sentences(text) <= 5]).toEqual([key, true, true, true])
    expect(text).toMatch(/^[^!\n]+[.]$/)
  }
  for (const { url } of Object.values(SOURCES)) expect(new URL(url).protocol).toMatch(/^https?:$/)
  const used = new Set(all.map(([, { source }]) => source))
  expect(used.size).toBeGreaterThan(20)
})

it('finds the explanation of a metric whose name differs between environments', () => {
  expect(explain('metric:rewards/lane/mean')).toEqual(expect.objectContaining(METRIC_EXPLAINERS['rewards/<name>/mean']))
  expect(explain('metric:exit/turn_limit')?.text).toBe(METRIC_EXPLAINERS['exit/<reason>'].text)
  expect(explain('metric:my game/success')?.text).toBe(METRIC_EXPLAINERS['<name>/success'].text)
  expect(explain('metric:environment/unscorable')?.text).toBe(METRIC_EXPLAINERS['environment/unscorable'].text)
  expect(explain('metric:toString')).toBeUndefined()
})

it('opens by a press with the paragraph and a source in a tab of its own', async () => {
  const page = await mount(() => <Help of="temperature" />)
  const button = page.host.querySelector('button')
  expect(button?.getAttribute('aria-label')).toBe('What is temperature?')
  expect(page.host.textContent).not.toContain('logits')
  await page.press(button)
  await eventually(() => expect(page.host.textContent).toContain(EXPLAINERS.temperature.text))
  const link = page.host.querySelector('a')
  expect([link?.href, link?.target, link?.rel]).toEqual([SOURCES.trlConfig.url, '_blank', 'noopener noreferrer'])
})

it('takes words of its own, and the name of what is explained', async () => {
  const page = await mount(() => (
    <>
      <Help of="anything" text="What it is." />
      <Help of="panel:group" name="Group of episodes" />
      <Help of="metric:kl" />
    </>
  ))
  expect(page.host.textContent).toContain('What it is.')
  expect([...page.host.querySelectorAll('button')].map((b) => b.getAttribute('aria-label'))).toEqual(['What is anything?', 'What is Group of episodes?', 'What is kl?'])
})

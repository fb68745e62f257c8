/** Play by hand in a real Chromium, on the built-in lane game: an episode, resetting twice, and an edited tool that the run then uses. */

import { expect, it } from 'vitest'
import { onSite } from './on-site'
import { linkOf, openPlayground } from './playground'

const site = onSite()

it('a person plays an episode, tests an edited tool, and the run is not disturbed but takes the edit', async () => {
  const settings = { env: 'lane', seed: 7, prompts_per_step: 1, num_generations: 2, max_steps: 1, backend: 'wasm' }
  const playground = await openPlayground(site.browser, site.server.url, linkOf(settings))
  const { page, press, until, state, text } = playground
  await until('ready')
  await press('play-open')
  await press('play-compare')
  await expect.poll(() => page.getByTestId('play-verdict').getAttribute('data-verdict')).toBe('honoured')

  await press('play-reset')
  const said = page.getByTestId('panel-play').getByTestId('observation')
  await expect.poll(() => said.locator('pre').textContent()).toMatch(/^\w+: distance \d+, speed \d+, free \w+$/)
  // The prompt is the model's: its template, the run's words, the tools, and what reset said at the end.
  const prompt = await text('play-prompt')
  expect(prompt).toMatch(/^<\|im_start\|>system\nYou drive a car/)
  expect(prompt).toContain('"name": "emergency_stop"')
  expect(prompt).toContain((await said.locator('pre').textContent()) ?? '?')
  await page.getByTestId('play-tool-observe').getByRole('button').click()
  await expect.poll(() => page.getByTestId('play-episode').textContent()).toContain('Turn 1')
  expect(await text('play-done')).toBe('no')
  await page.getByTestId('play-tool-emergency_stop').getByRole('button').click()
  await expect.poll(() => text('play-done')).toBe('yes')
  expect(await text('play-reward')).toMatch(/^(0|1\.00)$/)
  await expect.poll(() => text('play-episode')).toMatch(/Episode 1 by hand · seed 7 · [✓✗] (not )?solved/)
  const authors = await page.getByTestId('play-episode').getByTestId('token').evaluateAll((nodes) => nodes.map((node) => `${node.dataset['author']} ${node.dataset['mask']}`))
  expect(new Set(authors)).toEqual(new Set(['model 0', 'template 0', 'environment 0']))
  expect((await state()).steps).toEqual([])

  await press('edit-tool-observe')
  await page.getByTestId('tool-name').fill('look')
  await page.getByTestId('test-tool-observe').getByRole('button').click()
  await expect.poll(() => page.getByTestId('tool-test-observe').textContent()).toMatch(/distance \d+/)
  await expect.poll(() => page.url()).toContain('tool_edits=')
  await press('train')
  const { history, environment, config } = await until('finished')
  expect(history.map((h) => [h.episodes, h.unscorable])).toEqual([[2, 0]])
  expect(environment?.tools.map((tool) => tool.function.name)).toEqual(['look', 'emergency_stop', 'lane_change'])
  expect(config?.tool_edits).toEqual([{ kind: 'rename', tool: 'observe', name: 'look' }])
  // The last episode by hand is still there, beside the run's.
  expect(await text('play-episode')).toContain('Episode 2 by hand')
  playground.expectQuiet()
  await playground.close()
})

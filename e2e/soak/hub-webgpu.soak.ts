/** A model of the Hub on WebGPU (SwiftShader) at 4 bits: the verdict, the self-test on a slice of its weights, a step. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { startStand, type HubStand } from '../browser/hub-page'

let stand: HubStand
beforeAll(async () => {
  stand = await startStand({ webgpu: true })
})
afterAll(() => stand.close())

it('loads at 4 bits, passes the self-test, and trains a step', async () => {
  const page = await stand.open({ model: 'acme/random-qwen3', precision: 'int4', env: 'echo', max_completion_length: 8, lora_targets: 'q_proj', backend: 'webgpu' })
  await page.lookUpLinked()
  expect(await page.text('device')).toMatch(/SwiftShader.*software: right, but some hundred times slower than a GPU/i)
  await page.load()
  const { engine } = await page.state()
  expect(engine).toMatchObject({ info: { backend: 'webgpu', model: 'acme/random-qwen3' }, selfTest: { ok: true, problem: '' } })
  expect(engine?.selfTest?.logprobError).toBeLessThan(1e-3)
  const metrics = await page.step()
  expect(metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-3)
  page.expectQuiet()
  await page.close()
})

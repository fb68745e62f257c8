/** A LoRA in PEFT's format as the start of a run, through the page: from the Hub, from files, and one that does not fit. */

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { adapterFiles, tinyConfig } from '../hub/models'
import { startStand, type HubPage, type HubStand } from './hub-page'

const SETTINGS = { learning_rate: 1e-3, max_tool_calling_iterations: 3 }
const FACTS = 'r 4 · lora_alpha 8 · q_proj, v_proj, down_proj'

let stand: HubStand
let page: HubPage
beforeAll(async () => {
  stand = await startStand()
})
afterEach(async () => {
  await page.close()
  stand.hub.requests.length = 0
})
afterAll(() => stand.close())

/** The two files as a person picks them. */
function picked(files: ReturnType<typeof adapterFiles>) {
  const buffer = (content: string | Uint8Array) => Buffer.from(content)
  return [
    { name: 'adapter_config.json', mimeType: 'application/json', buffer: buffer(files['adapter_config.json']) },
    { name: 'adapter_model.safetensors', mimeType: 'application/octet-stream', buffer: buffer(files['adapter_model.safetensors']) },
  ]
}

it('a LoRA from the Hub and the same one from files are the same start, and another than a fresh one', async () => {
  page = await stand.open(SETTINGS)
  await page.until('ready')
  const fresh = await page.step()
  await page.press('reset')
  await page.until('ready')

  const { page: dom } = page
  await dom.getByTestId('adapter-kind').selectOption('hub')
  await dom.getByTestId('adapter-reference').fill('acme/lora')
  await page.press('adapter-reference-use')
  await page.load()
  expect(await page.text('adapter-facts')).toContain(FACTS)
  expect((await page.state()).engine?.lora).toEqual({ r: 4, lora_alpha: 8, use_rslora: false, target_modules: ['q_proj', 'v_proj', 'down_proj'] })
  const fromHub = await page.step()
  expect(Math.abs((fromHub['entropy'] as number) - (fresh['entropy'] as number))).toBeGreaterThan(0.01)
  // Reset goes back to the LoRA that was given, not to a fresh one.
  await page.press('reset')
  await page.until('ready')
  expect((await page.step())['entropy']).toBe(fromHub['entropy'])

  await page.press('reset')
  await page.until('ready')
  await dom.getByTestId('adapter-kind').selectOption('file')
  const files = picked(adapterFiles(await tinyConfig()))
  await page.after(() => dom.getByTestId('adapter-files').setInputFiles(files), 'ready')
  expect(await page.text('adapter-facts')).toContain(`adapter_model.safetensors`)
  expect(await page.text('adapter-facts')).toContain(FACTS)
  expect(await page.text('adapter-facts')).toContain('It was trained on acme/tiny.')
  const fromFiles = await page.step()
  expect([fromFiles['entropy'], fromFiles['grad_norm']]).toEqual([fromHub['entropy'], fromHub['grad_norm']])
  page.expectQuiet()
})

it('one that does not fit is refused by a sentence, and the run goes on', async () => {
  page = await stand.open(SETTINGS)
  await page.until('ready')
  await page.step()
  const { page: dom } = page
  await dom.getByTestId('adapter-kind').selectOption('hub')
  for (const [repo, sentence] of [
    ['acme/lora-other', /has the shape \[\d+, \d+\], but r 4 and the model ask for \[4, 96\]\. Choose the model that the adapter was trained on\.|is of layer|has no /],
    ['acme/tiny', /acme\/tiny is a model, not a LoRA: it has no adapter_config\.json/],
    ['acme/nothing', /shows no adapter acme\/nothing to strangers \(401\)/],
  ] as const) {
    await dom.getByTestId('adapter-reference').fill(repo)
    await page.press('adapter-reference-use')
    // What its config says is refused at once, what only its tensors show when it is loaded.
    if (repo === 'acme/lora-other') await page.press('load-model')
    const where = repo === 'acme/lora-other' ? 'failure' : 'model'
    await expect.poll(() => page.text(where).catch(() => '')).toMatch(sentence)
    await page.step()
  }
  expect((await page.state()).history.map(({ step }) => step)).toEqual([1, 2, 3, 4])

  await dom.getByTestId('adapter-kind').selectOption('file')
  const [config, weights] = picked(adapterFiles(await tinyConfig()))
  if (!config || !weights) throw new Error('no files')
  await dom.getByTestId('adapter-files').setInputFiles([config])
  await expect.poll(() => dom.locator('.adapter-files [role="alert"]').textContent()).toMatch(/A LoRA is two files, and you chose adapter_config\.json\. Choose/)
  const dora = { ...config, buffer: Buffer.from(JSON.stringify({ ...(JSON.parse(config.buffer.toString()) as object), use_dora: true })) }
  await dom.getByTestId('adapter-files').setInputFiles([dora, weights])
  await expect.poll(() => dom.locator('.adapter-files [role="alert"]').textContent()).toMatch(/use_dora is true, and DoRA is not supported\. Take a plain LoRA/)
  expect(page.pageErrors).toEqual([])
})

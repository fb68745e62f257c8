/** What the Hub or a model's files refuse, through the page: each a sentence with a next step, and the run that was there goes on. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { ACCEPTED, READER, STRANGER } from '../hub/models'
import { startStand, type HubPage, type HubStand } from './hub-page'

let stand: HubStand
let page: HubPage
let steps: number
beforeAll(async () => {
  stand = await startStand()
  page = await stand.open({ max_steps: 50 })
  await page.until('ready')
  await page.press('step')
  await page.until('paused')
  steps = 1
})
beforeEach(() => {
  stand.hub.requests.length = 0
})
afterEach(async () => {
  stand.hub.clearFaults()
  // Whatever was refused: the run trains its next step, and its curve goes on.
  const before = (await page.state()).history
  expect(before).toHaveLength(steps)
  await page.step()
  steps++
  const { history, engine } = await page.state()
  expect(history.map(({ step }) => step)).toEqual(before.map(({ step }) => step).concat(steps))
  expect(engine?.info.model).toBe('models/tiny-qwen3')
  await expect.poll(() => page.page.getByTestId('reward-curve').getAttribute('data-points')).toBe(String(steps))
  expect(page.pageErrors).toEqual([])
})
afterAll(async () => {
  await page.close()
  await stand.close()
})

const refused = async (reference: string, sentence: RegExp): Promise<void> => {
  await page.lookUp(reference)
  const said = await page.text('inspection-error')
  expect(said).toMatch(sentence)
  // A sentence, and a next step.
  expect(said).toMatch(/[.”] [A-Z].*\.$/)
  expect(await page.page.getByTestId('load-model').count()).toBe(0)
  expect(stand.hub.requests.filter(({ file }) => file === 'model.safetensors')).toEqual([])
}
/** Looks up, presses Load, and expects this sentence. */
const failing = async (reference: string, sentence: RegExp): Promise<void> => {
  await page.lookUp(reference)
  await page.press('load-model')
  const { run } = await page.until('failed')
  expect(run).toMatchObject({ recoverable: true })
  const said = await page.text('failure')
  expect(said).toMatch(sentence)
  expect(said).toMatch(/[.”] [A-Z].*\.$/)
  expect(await page.text('model-facts')).toContain('Not loaded yet; tiny-qwen3 stays until then.')
}

it.each([
  ['acme/nothing', /shows no model acme\/nothing to strangers \(401\).*Check the spelling/],
  ['acme/tiny@v9', /acme\/tiny has no revision 'v9' \(404\)\. Take main/],
  ['acme/mistral', /model_type is "mistral", which is not supported\. Choose a dense Qwen2/],
  ['acme/gguf', /has no model\.safetensors: its weights are GGUF files \(tiny-Q4_K_M\.gguf\)\. Choose the repository with the original weights/],
  ['acme/lora', /acme\/lora holds a LoRA adapter, not a whole model\. Choose the adapter's base model/],
])('%s is refused before anything is downloaded', (reference, sentence) => refused(reference, sentence))

it('a private model needs a token that may read it', async () => {
  await refused('acme/secret', /shows no model acme\/secret to strangers \(401\): the id is wrong or the repository is private/)
  expect(await page.page.getByTestId('hub-token').getAttribute('open')).not.toBeNull()
  await page.setToken(STRANGER)
  await expect.poll(() => page.text('inspection-error')).toMatch(/The Hub has no model acme\/secret that this token may see \(404\)/)
  await page.press('forget-token')
  await page.setToken('hf_unknown')
  await expect.poll(() => page.text('inspection-error')).toMatch(/The Hub does not accept this token \(401\)/)
  await page.press('forget-token')
  await page.setToken(READER)
  await expect.poll(() => page.text('verdict')).toContain('Fits.')
  await page.forgetToken()
})

it('a gated model needs its conditions accepted', async () => {
  await refused('acme/gated', /acme\/gated is gated, and the Hub does not know who asks \(401\)\. Accept its licence/)
  await page.setToken(STRANGER)
  await expect.poll(() => page.text('inspection-error')).toMatch(/the account of this token has no access to it yet \(403\)\. Accept its licence/)
  await page.press('forget-token')
  await page.setToken(ACCEPTED)
  await expect.poll(() => page.text('verdict')).toContain('Fits.')
  await page.forgetToken()
})

it('truncated weights are refused when their header is read', () => failing('acme/truncated', /acme\/truncated\/model\.safetensors: .*its header describes 1975360 bytes, but the file has 987680\./))

it('tampered weights are refused when they have come, and are not kept', async () => {
  stand.hub.fault({ kind: 'tamper', byte: 1_500_000, on: 'model.safetensors', at: 'cdn', times: 9 })
  await failing('acme/tiny', /The download of acme\/tiny\/model\.safetensors was damaged or tampered with.*It was deleted: load the model again\./)
})

it('a revision that has lost its weights is refused', async () => {
  await stand.hub.commit('acme/tiny', { 'README.md': 'Nothing is here any more.' }, 'gone')
  await refused('acme/tiny@gone', /acme\/tiny holds no weights/)
})

it('a rate limit is waited for, by the look-up', async () => {
  stand.hub.fault({ kind: 'status', status: 429, on: '/api/models/acme/tiny-bf16', times: 1 })
  await page.lookUp('acme/tiny-bf16')
  expect(await page.text('verdict')).toContain('Fits.')
  expect(stand.hub.requests.map(({ status }) => status)).toContain(429)
})

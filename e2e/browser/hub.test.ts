/** A model of the Hub through the page in Chromium: looked up, downloaded, trained, talked to, at every precision, named by a link. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { READER } from '../hub/models'
import { startStand, untimed, type HubPage, type HubStand } from './hub-page'

let stand: HubStand
let page: HubPage | null = null
beforeAll(async () => {
  stand = await startStand()
})
afterEach(async () => {
  await page?.close()
  page = null
  stand.hub.clearFaults()
  stand.hub.requests.length = 0
})
afterAll(() => stand.close())

const open = async (settings: Parameters<HubStand['open']>[0] = {}): Promise<HubPage> => (page = await stand.open(settings))
const files = () => stand.files('acme/tiny')

/** The link to this model that Copy link puts on the clipboard, on which another one may still be. */
async function copied({ page, press }: HubPage, model: string): Promise<string> {
  await press('copy-link')
  const read = () => page.evaluate(() => navigator.clipboard.readText())
  await expect.poll(async () => new URLSearchParams((await read()).split('#')[1]).get('model')).toBe(model)
  return read()
}

describe('a model of the Hub', () => {
  it('is looked up without a download, then downloaded, trained and talked to', async () => {
    const page = await open()
    await page.until('ready')
    await page.lookUp('acme/tiny')
    expect([...new Set(files())]).toEqual(['api', 'config.json'])
    expect(await page.text('verdict')).toContain('Fits.')
    expect(await page.text('load-model')).toMatch(/^Download 2\.0\d MB and load \S+$/)
    expect(await page.text('model-facts')).toContain(`revision ${stand.hub.sha('acme/tiny').slice(0, 7)}`)
    expect(await page.text('memory')).toMatch(/weights.*KV cache.*most at once/)
    expect(await page.page.getByTestId('train').isDisabled()).toBe(true)

    let goOn = (): void => {}
    const until = new Promise<void>((done) => (goOn = done))
    stand.hub.fault({ kind: 'creep', byte: 800_000, until, on: 'model.safetensors', at: 'cdn', times: 9 })
    const seen = async () => {
      const handle = await page.page.waitForFunction(() => {
        const { run } = window.playground.getState()
        return run.state === 'loading' && run.overall && run.overall.done > 2e5 && document.querySelectorAll('[data-testid="load-progress"] progress').length > 0 && run.overall
      })
      goOn()
      return handle.jsonValue()
    }
    const [overall] = await Promise.all([seen(), page.load()])
    expect(overall).toMatchObject({ fromDisk: false, total: expect.any(Number) as number })
    expect(await page.text('badge')).toMatch(/tiny.*WASM/)
    expect((await page.state()).engine?.info).toMatchObject({ model: 'acme/tiny', parameters: 492_640 })
    expect((await page.step())['grad_norm']).toBeGreaterThanOrEqual(0)

    await page.press('chat-open')
    await page.page.getByTestId('chat-text').fill('Go on.')
    await page.page.getByTestId('chat-text').press('Enter')
    await expect.poll(() => page.page.getByTestId('chat-answer').last().getAttribute('data-ended')).toMatch(/end-of-turn|length/)
    page.expectQuiet()
  })

  it('that is the shipped one computes what the shipped one does', async () => {
    const settings = { learning_rate: 1e-3, max_tool_calling_iterations: 3 }
    const here = await open(settings)
    await here.until('ready')
    const shipped = untimed(await here.step())
    await here.close()
    const page = await open({ ...settings, model: 'acme/tiny', precision: 'float32' })
    await page.lookUpLinked()
    await page.load()
    expect(untimed(await page.step())).toEqual(shipped)
  })

  it('trains at 4 bits and 8 bits, and the second is read from the store', async () => {
    const page = await open({ model: 'acme/tiny', precision: 'int4' })
    await page.lookUpLinked()
    await page.load()
    const four = await page.step()
    stand.hub.requests.length = 0
    await page.page.getByTestId('precision').selectOption('int8')
    await page.load()
    const eight = await page.step()
    expect(files()).toEqual([])
    expect([four, eight].map((metrics) => (metrics['grad_norm'] as number) >= 0)).toEqual([true, true])
    expect(four['entropy']).not.toBe(eight['entropy'])
    expect(Math.abs((four['sampling/sampling_logp_difference/max'] as number))).toBeLessThan(1e-3)
    page.expectQuiet()
  })

  it.each(['acme/tiny-bf16', 'acme/random-qwen3', 'acme/random-qwen2'])('%s: shards, bfloat16, both architectures, tied and untied', async (model) => {
    const page = await open({ model, precision: 'int8', max_completion_length: 16 })
    await page.lookUpLinked()
    await page.load()
    const metrics = await page.step()
    expect(metrics['entropy']).toBeGreaterThan(0)
    expect(metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-3)
    page.expectQuiet()
  })

  it('whose rows are no whole blocks is refused at 4 bits by a sentence, and trains at float32', async () => {
    const page = await open({ model: 'acme/odd', precision: 'int4', max_completion_length: 16 })
    await page.lookUpLinked()
    expect(await page.text('inspection-error')).toMatch(/80 columns, which are no whole blocks of 32: it cannot be kept as int4\. Choose precision float32\./)
    await page.page.getByTestId('precision').selectOption('float32')
    await page.load()
    await page.step()
    page.expectQuiet()
  })
})

describe('a link', () => {
  it('to a model of the Hub asks nothing of it until it is looked up, and loads nothing until Load', async () => {
    const page = await open({ model: 'acme/tiny', model_revision: 'v2', precision: 'int8' })
    await page.page.getByTestId('look-up').waitFor()
    await page.page.waitForTimeout(500)
    expect(stand.hub.requests).toEqual([])
    expect(await page.text('model')).toContain('acme/tiny@v2')
    expect(await page.page.getByTestId('train').isDisabled()).toBe(true)
    await page.lookUpLinked()
    expect([...new Set(files())]).toEqual(['api', 'config.json'])
    await page.load()
    expect((await page.state()).config).toMatchObject({ model: 'acme/tiny', model_revision: 'v2', precision: 'int8' })
    page.expectQuiet()
  })

  it('to a LoRA of the Hub asks nothing before Look up, and its weights only at Load', async () => {
    const page = await open({ adapter: 'acme/lora' })
    await page.page.getByTestId('look-up').waitFor()
    await page.page.waitForTimeout(500)
    expect(stand.hub.requests).toEqual([])
    expect(await page.text('model')).toContain('acme/lora')
    await page.lookUpLinked()
    expect(stand.hub.requests.some(({ path }) => path.includes('adapter_config.json'))).toBe(true)
    expect(stand.hub.requests.filter(({ path }) => path.includes('adapter_model'))).toEqual([])
    await page.load()
    expect(await page.text('adapter-facts')).toContain('r 4 · lora_alpha 8 · q_proj, v_proj, down_proj')
    page.expectQuiet()
  })

  it('keeps precision, model and revision, and never holds the token, which no storage and no CDN sees', async () => {
    const page = await open()
    await page.until('ready')
    await page.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.setToken(READER)
    await page.lookUp('acme/secret@main')
    await page.page.getByTestId('precision').selectOption('int8')
    await page.load()
    const link = await copied(page, 'acme/secret')
    expect(Object.fromEntries(new URLSearchParams(new URL(link).hash.slice(1)))).toMatchObject({ model: 'acme/secret', precision: 'int8' })
    const kept = await page.page.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, window.playground.getState()]))
    expect(link + kept).not.toContain(READER)
    const { requests } = stand.hub
    expect(requests.filter(({ at, authorization }) => at === 'cdn' && authorization)).toEqual([])
    expect(requests.filter(({ at, method, path, authorization }) => at === 'hub' && method === 'GET' && path.includes('acme/secret') && !authorization)).toEqual([])
    expect(requests.some(({ at, file }) => at === 'cdn' && file === 'model.safetensors')).toBe(true)
    const hub = stand.hub.requests.map(({ path }) => path).join()
    expect(hub).not.toContain(READER)

    const other = await open({ model: 'acme/tiny', model_revision: 'v2', precision: 'int4' })
    await other.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const hash = new URLSearchParams(new URL(await copied(other, 'acme/tiny')).hash.slice(1))
    expect([hash.get('model'), hash.get('model_revision'), hash.get('precision') ?? 'int4']).toEqual(['acme/tiny', 'v2', 'int4'])
    await page.close()
  })
})

// @vitest-environment happy-dom
import { act } from 'react'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { writeSafetensors } from '../../hub/safetensors'
import { downloading, FAILED_TEST, inspected, loaded, PLAN, refused, STORED } from '../../store/testing/models'
import { engineMessages } from '../../store/testing/script'
import type { Command, Message } from '../../worker/protocol'
import { App } from '../app/App'
import { eventually, mount } from '../testing/mount'
import { fetchLater } from '../../ui/later'

// What is fetched when it is first wanted is here from the start.
beforeAll(fetchLater)

vi.mock('../curves/Chart', () => ({ default: () => null }))

const QWEN = 'Qwen/Qwen3-0.6B'

afterEach(() => vi.unstubAllGlobals())

/** The page over a scripted worker, its shipped model ready unless a link says otherwise. */
async function open(hash = '', messages: Message[] = engineMessages()) {
  const page = await mount((stores) => <App stores={stores} />, hash)
  await act(async () => page.stores.controller.start())
  await page.say(...messages)
  const { port, find } = page
  const text = (id: string) => find(id)?.textContent ?? ''
  const sent = (name: Command['type']) => port.sent.filter((c) => c.type === name)
  return { ...page, text, sent }
}

const disabled = (element: HTMLElement | null) => (element as HTMLButtonElement | null)?.disabled

describe('picking a model', () => {
  it('lists the shipped models and four of the Hub with their sizes, and looks a choice up without a download', async () => {
    const page = await open()
    const options = [...(page.find('model-select')?.querySelectorAll('option') ?? [])].map((o) => o.textContent)
    expect(options).toEqual([
      'tiny-qwen3 · shipped',
      'tiny-qwen3-numbers · shipped',
      'Qwen2.5-0.5B-Instruct · 494 M · 988 MB',
      'Qwen3-0.6B · 596 M · 1.19 GB',
      'Qwen2.5-1.5B-Instruct · 1.54 B · 3.09 GB',
      'Qwen3-1.7B · 1.72 B · 3.44 GB',
      'Another model of the Hub',
    ])
    await page.type('model-select', QWEN)
    expect([page.sent('inspect').length, page.sent('configure').length]).toEqual([1, 1])
    expect(page.text('model')).toContain('Looking up Qwen/Qwen3-0.6B on the Hub')
    expect(page.text('state-line')).toBe('Qwen3-0.6B is chosen, not loaded · load it under Model')
    expect([disabled(page.find('train')), disabled(page.find('step')), disabled(page.find('reset'))]).toEqual([true, true, true])
    expect(page.text('settings-changed')).toContain('press Load under Model')
  })

  it('names the settings that came with a Hub model, as long as they are as it set them', async () => {
    const page = await open()
    expect(page.find('suited-settings')).toBeNull()
    await page.type('model-select', QWEN)
    expect(page.text('suited-settings')).toMatch(/prompts_per_step 1.*learning_rate 2e−5/)
    await act(async () => page.stores.controller.edit((config) => ({ ...config, grpo: { ...config.grpo, learning_rate: 0.005 } })))
    expect(page.text('suited-settings')).not.toContain('learning_rate')
    expect(page.text('suited-settings')).toContain('prompts_per_step 1')
  })

  it('the keyboard that checked this browser stands at what came of it', async () => {
    const page = await open()
    await act(async () => page.find('look-up')?.focus())
    await page.press('look-up')
    expect(page.find('look-up')).toBeNull()
    expect(document.activeElement?.className).toBe('inspection')
  })

  it('advises to look up again where that is what the button does', async () => {
    const page = await open()
    await page.type('model-select', QWEN)
    const [asked] = page.sent('inspect') as { requestId: number }[]
    const result = { ok: false as const, error: 'It could not be downloaded.', advice: 'Check the connection and load the model again.' }
    await page.say({ type: 'inspection', requestId: asked?.requestId ?? 0, result })
    expect(page.text('inspection-error')).toContain('Check the connection and look it up again.')
    expect(page.text('look-up')).toBe('Look up again')
  })

  it('takes any id, revision or address, and answers nonsense with a sentence', async () => {
    const page = await open()
    await page.type('model-select', 'other')
    await page.type('model-reference', 'my model')
    await page.press('model-reference-use')
    expect(page.find('model')?.querySelector('[role="alert"]')?.textContent).toContain("'my model'")
    expect(page.sent('inspect')).toEqual([])
    await page.type('model-reference', 'https://huggingface.co/me/my-model/tree/v2')
    await page.press('model-reference-use')
    expect(page.stores.setup.getState().config).toMatchObject({ model: 'me/my-model', model_revision: 'v2' })
    expect((page.find<HTMLInputElement>('model-reference') as HTMLInputElement).value).toBe('me/my-model@v2')
    expect(page.sent('inspect')).toHaveLength(1)
  })

  it('shows nothing of the model before beside a name that cannot be read, until it is taken back', async () => {
    const page = await open()
    await page.type('model-select', 'other')
    await page.type('model-reference', 'me/model')
    await page.press('model-reference-use')
    await page.say(inspected(1))
    const shown = () => ['model-facts', 'verdict', 'load-model'].map((id) => page.find('model')?.querySelector(`[data-testid="${id}"]`) !== null)
    expect(shown()).toEqual([true, true, true])
    await page.type('model-reference', 'no name')
    await page.press('model-reference-use')
    expect(shown()).toEqual([false, false, false])
    await page.type('model-reference', 'me/model')
    expect(shown()).toEqual([true, true, true])
    await page.type('model-reference', 'no name')
    await page.press('model-reference-use')
    await page.type('model-select', QWEN)
    await page.say(inspected(2))
    expect(shown()).toEqual([true, true, true])
  })

  it('keeps the error of a loading in view until another model was looked up fine', async () => {
    const page = await open()
    await page.type('model-select', QWEN)
    await page.say(inspected(1))
    await page.press('load-model')
    await page.say({ type: 'state', state: { state: 'failed', error: 'It is damaged.', advice: 'Delete it.', recoverable: false } })
    expect(page.text('failure')).toBe('It is damaged. Delete it.')
    await page.type('model-select', 'Qwen/Qwen3-1.7B')
    expect(page.text('failure')).toBe('It is damaged. Delete it.')
    await page.say(inspected(2, { model: 'Qwen/Qwen3-1.7B' }))
    expect(page.find('failure')).toBeNull()
    expect(page.text('state-line')).toBe('Qwen3-1.7B is chosen, not loaded · load it under Model')
    await page.type('model-select', QWEN)
    await page.say(inspected(3))
    expect(page.text('failure')).toBe('It is damaged. Delete it.')
  })

  it('says what it takes here, then downloads on the one button, which also asks to keep the files', async () => {
    const persist = vi.fn(async () => true)
    vi.stubGlobal('navigator', { storage: { persist } })
    const page = await open()
    await page.type('model-select', QWEN)
    await page.say(inspected(1))
    expect(page.text('verdict')).toContain('Fits.')
    expect(page.text('memory')).toContain('GPU memory: browsers do not tell; we assume 4.00 GB.')
    expect(page.text('memory')).toMatch(/weights361 MB361 MB.*KV cache705 MB–.*most at once1\.31 GB1\.54 GB/)
    expect(page.text('device')).toMatch(/Apple M2.*shader-f16yes; not needed.*4\.10 GB.*WASM threads4/)
    expect(page.text('load-model')).toBe('Download 1.19 GB and load Qwen3-0.6B')
    expect(persist).not.toHaveBeenCalled()
    await page.press('load-model')
    expect(page.sent('configure')).toHaveLength(2)
    expect(persist).toHaveBeenCalledOnce()
    expect(page.stores.models.getState().persisted).toBe(true)
    await page.say(...loaded(QWEN))
    expect(page.find('load-model')).toBeNull()
    expect(disabled(page.find('train'))).toBe(false)
  })

  it('offers the smaller settings that would fit, and takes them on a press', async () => {
    const page = await open()
    await page.type('model-select', QWEN)
    await page.say(inspected(1, { verdict: { kind: 'reduce', num_generations: 4, prompts_per_step: 1, max_completion_length: 256 } }))
    expect(page.text('verdict')).toContain('num_generations 4, max_completion_length 256.')
    expect(page.find('load-model')?.className).not.toContain('primary')
    await page.press('apply-reduction')
    expect(page.stores.setup.getState().config.grpo).toMatchObject({ num_generations: 4, prompts_per_step: 1, max_completion_length: 256 })
  })

  it.each([
    [inspected(1, { verdict: { kind: 'too-large', needs: 5.24e9, has: 4e9 } }), '✗ Too large: it needs at least 5.24 GB even with the smallest settings; we count on 4.00 GB, which we assume of the GPU’s memory', 'Download 1.19 GB and load Qwen3-0.6B anyway'],
    [
      inspected(1, { verdict: { kind: 'too-large', needs: 5.24e9, has: 3.5e9 }, backend: 'wasm', device: { gpu: null, threads: 2, gpuBudget: 0, storage: null } }),
      '5.24 GB even with the smallest settings; we count on 3.50 GB, of the 4 GB that WASM can hold',
      'Download 1.19 GB and load Qwen3-0.6B anyway',
    ],
    [
      inspected(1, { verdict: { kind: 'too-large', needs: 2e9, has: 4e9 }, plan: { ...PLAN, largestBuffer: 5e9 } }),
      'one of its buffers is 5.00 GB, and this GPU takes 4.10 GB at most',
      'Download 1.19 GB and load Qwen3-0.6B anyway',
    ],
    [
      inspected(1, { verdict: { kind: 'too-slow', secondsPerToken: 12.4 }, downloadBytes: 0, storedBytes: 1.2e9, backend: 'wasm', device: { gpu: null, threads: 2, gpuBudget: 0, storage: null } }),
      '⧗ Without WebGPU too slow: about 12 s a token.',
      'Load Qwen3-0.6B anyway',
    ],
  ])('says why not to load (%#)', async (message, verdict, button) => {
    const page = await open()
    await page.type('model-select', QWEN)
    await page.say(message)
    expect(page.text('verdict')).toContain(verdict)
    expect(page.text('load-model')).toBe(button)
  })

  it('says a refusal as an alert and opens the token field, which is a password field', async () => {
    const page = await open()
    await page.type('model-select', QWEN)
    await page.say(refused(1, 'Qwen/Qwen3-0.6B is gated (401).', 'Accept its licence, then paste a token of that account.'))
    expect(page.find('inspection-error')?.getAttribute('role')).toBe('alert')
    expect(page.find('hub-token')?.hasAttribute('open')).toBe(true)
    expect(page.find('token-input')?.getAttribute('type')).toBe('password')
    await page.type('token-input', 'secret')
    await page.press('use-token')
    expect(page.text('hub-token')).toContain('begins with hf_')
    await page.type('token-input', ' hf_secret ')
    await page.press('use-token')
    expect(page.sent('token')).toEqual([{ type: 'token', token: 'hf_secret' }])
    expect(page.host.innerHTML).not.toContain('hf_secret')
    await page.press('forget-token')
    expect(page.sent('token')).toHaveLength(2)
  })

  it('a link to a Hub model waits, and says for what', async () => {
    const page = await open(`#v=1&env=lane&seed=7&model=${QWEN}`, [])
    expect(page.port.sent).toEqual([])
    expect(page.text('state-line')).toMatch(/^Look up the model of this link/)
    expect(page.text('model')).toContain(`This link names ${QWEN}. Nothing is asked of the Hub until you press Look up`)
    await page.press('look-up')
    expect(page.port.sent.map((c) => c.type)).toEqual(['inspect'])
  })
})

describe('a download', () => {
  it('shows file and total as progress with text, pauses, resumes, and goes back on Cancel', async () => {
    const page = await open()
    await page.type('model-select', QWEN)
    await page.say(inspected(1))
    await page.press('load-model')
    await page.say(downloading(412e6))
    const bars = [...(page.find('load-progress')?.querySelectorAll('progress') ?? [])]
    expect(bars.map((b) => b.getAttribute('aria-label'))).toEqual(['model.safetensors: 412 MB of 1.19 GB', 'total: 412 MB of 1.20 GB'])
    expect(page.text('load-progress')).toContain('Downloading · 9.8 MB/s · 81 s left')
    expect(page.text('state-line')).toBe('Downloading model.safetensors · 412 MB of 1.20 GB · 9.8 MB/s · 81 s left')
    page.find('pause-load')?.focus()
    await page.press('pause-load')
    expect(page.port.sent.at(-1)).toEqual({ type: 'pause-load' })
    await page.say({ type: 'state', state: { state: 'load-paused', done: 412e6, total: 1.2e9 } })
    // The keyboard stays where Pause was.
    expect(document.activeElement).toBe(page.find('resume-load'))
    expect([disabled(page.find('train')), disabled(page.find('reset'))]).toEqual([true, true])
    await page.press('resume-load')
    expect(page.port.sent.at(-1)).toMatchObject({ type: 'configure', config: { model: QWEN } })
    await page.say(downloading(500e6))
    await page.press('cancel-load')
    expect(page.port.sent.at(-1)).toMatchObject({ type: 'cancel-load', back: { model: 'models/tiny-qwen3' } })
  })
})

describe('stored models', () => {
  it('are listed with size and completeness, and deleted after a question in their own line', async () => {
    const page = await open('', [...engineMessages(), STORED])
    expect(page.text('stored')).toContain('Qwen/Qwen3-0.6B@c1899de')
    expect(page.text('stored')).toMatch(/1\.20 GB · complete.*412 MB · partial/)
    expect(page.text('stored')).toContain('This site uses 1.64 GB of the 296 GB')
    await page.press('delete-model')
    expect(page.sent('delete-stored')).toEqual([])
    expect(document.activeElement).toBe(page.find('delete-keep'))
    await page.press('delete-keep')
    expect(document.activeElement).toBe(page.find('delete-model'))
    await page.press('delete-model')
    await page.press('delete-sure')
    expect(page.sent('delete-stored')).toEqual([{ type: 'delete-stored', key: 'a' }])
  })
})

describe('a stored model', () => {
  it('is used from its list, as the commit that is stored', async () => {
    const page = await open('', [...engineMessages(), STORED])
    await page.press('use-stored')
    const [first] = STORED.type === 'stored-models' ? STORED.models : []
    expect(page.stores.setup.getState().config).toMatchObject({ model: QWEN, model_revision: first?.revision })
    expect(page.sent('inspect')).toHaveLength(1)
    // The other one can still be chosen.
    expect(page.host.querySelectorAll('[data-testid="use-stored"]')).toHaveLength(1)
  })

  it('that was deleted has to be downloaded, as the button says at once', async () => {
    const page = await open('', [...engineMessages(), STORED])
    await page.type('model-select', QWEN)
    await page.say(inspected(1, { downloadBytes: 0, storedBytes: 1.2e9 }))
    expect(page.text('load-model')).toBe('Load Qwen3-0.6B')
    await page.press('delete-model')
    await page.press('delete-sure')
    expect(page.text('load-model')).toBe('Download 1.20 GB and load Qwen3-0.6B')
    expect(page.text('model')).not.toContain('It is stored in this browser')
  })
})

describe('a starting LoRA', () => {
  const config = JSON.stringify({ peft_type: 'LORA', r: 2, lora_alpha: 4, target_modules: ['q_proj'], base_model_name_or_path: 'me/other' })
  const tensor = (side: string, dims: number[]) => ({
    name: `base_model.model.model.layers.0.self_attn.q_proj.lora_${side}.weight`,
    dims,
    data: new Float32Array(8),
  })
  const weights = writeSafetensors([tensor('A', [2, 4]), tensor('B', [4, 2])])
  const files = (json: string) => [new File([json], 'adapter_config.json'), new File([weights], 'adapter_model.safetensors')]

  async function choose(chosen: File[]) {
    const page = await open()
    await page.type('adapter-kind', 'file')
    const input = page.find<HTMLInputElement>('adapter-files') as HTMLInputElement
    Object.defineProperty(input, 'files', { value: chosen })
    await act(async () => void input.dispatchEvent(new Event('change', { bubbles: true })))
    // The reader of the files is fetched first.
    await eventually(() => expect([page.sent('give-adapter')[0] ?? null, page.find('model')?.querySelector('[role="alert"]')]).not.toEqual([null, null]))
    return page
  }

  it('of files is sent, named and shown with rank, alpha and targets', async () => {
    const page = await choose(files(config))
    expect(page.sent('give-adapter')[0]).toMatchObject({ name: 'adapter_model.safetensors (344 B)', config })
    expect(page.stores.setup.getState().config.adapter).toEqual({ kind: 'file', name: 'adapter_model.safetensors (344 B)' })
    expect(page.text('adapter-facts')).toBe('adapter_model.safetensors (344 B) r 2 · lora_alpha 4 · q_proj It was trained on me/other.')
  })

  it.each([
    [files('{'), 'adapter_config.json is not JSON.'],
    [files('{"peft_type": "IA3", "r": 2, "lora_alpha": 4}'), 'peft_type'],
    [files(config).slice(1), 'A LoRA is two files, and you chose adapter_model.safetensors.'],
    [[files(config)[0] as File, new File(['<html>'], 'adapter_model.safetensors')], 'safetensors'],
  ])('of wrong files is answered with a sentence (%#)', async (chosen, sentence) => {
    const page = await choose(chosen)
    expect(page.find('model')?.querySelector('[role="alert"]')?.textContent).toContain(sentence)
    expect(page.sent('give-adapter')).toEqual([])
  })

  it('of the Hub is looked up and waits for Load; its facts come with the engine', async () => {
    const page = await open()
    await page.type('adapter-kind', 'hub')
    await page.type('adapter-reference', 'me/lora@v2')
    await page.press('adapter-reference-use')
    expect(page.sent('inspect')[0]).toMatchObject({ config: { adapter: { kind: 'hub', repo: 'me/lora', revision: 'v2' } } })
    expect(page.sent('configure')).toHaveLength(1)
    await page.say(inspected(1, { downloadBytes: 20e6 }))
    await page.press('load-model')
    const lora = { r: 8, lora_alpha: 16, use_rslora: false, target_modules: ['q_proj' as const, 'v_proj' as const] }
    await page.say(...loaded('models/tiny-qwen3').map((m): Message => (m.type === 'engine' ? { ...m, report: { ...m.report, lora } } : m)))
    expect(page.text('adapter-facts')).toBe('r 8 · lora_alpha 16 · q_proj, v_proj')
    await page.type('adapter-kind', 'none')
    expect(page.stores.setup.getState().config.adapter).toBeNull()
  })
})

describe('a failed self-test', () => {
  it('is an alert with the GPU and what differed; Train stays off until Train anyway', async () => {
    const page = await open('', loaded('models/tiny-qwen3', FAILED_TEST))
    expect(page.find('self-test')?.getAttribute('role')).toBe('alert')
    expect(page.text('self-test')).toContain('The self-test failed on Acme GPU 9. The log-probs of the fixed prompt differ')
    expect(page.text('self-test')).toContain('log-prob 0.410 nats')
    expect(page.text('state-line')).toContain('training is off')
    expect(disabled(page.find('train'))).toBe(true)
    await page.press('train-anyway')
    expect(page.port.sent.at(-1)).toEqual({ type: 'trust-device' })
    expect(page.find('self-test')).toBeNull()
    expect(disabled(page.find('train'))).toBe(false)
  })

  it('can be left for WASM', async () => {
    const page = await open('', loaded('models/tiny-qwen3', FAILED_TEST))
    await page.press('use-wasm')
    expect(page.port.sent.at(-1)).toMatchObject({ type: 'configure', config: { backend: 'wasm' } })
  })
})

/** Where a model folder is looked for, and what is said when something of it is missing; the network is a stand-in. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LoadProgress } from '../core/events'
import { HubAccess } from './hub-access'
import { loadModel } from './model'

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../../public/models/tiny-qwen3/${file}`, import.meta.url), 'utf8'))
const AT = 'http://host:5173/models/tiny'
const TOKENIZER = { [`${AT}/tokenizer.json`]: read('tokenizer.json'), [`${AT}/tokenizer_config.json`]: read('tokenizer_config.json') }

const loadFolder = (model: string, say: (progress: LoadProgress) => void = () => undefined) =>
  loadModel({ model, model_revision: 'main' }, new HubAccess(undefined), { onProgress: say, onNotice: () => undefined, signal: new AbortController().signal })

const fetched: string[] = []
function serve(files: Record<string, unknown>): void {
  vi.stubGlobal('fetch', async (url: string) => {
    fetched.push(url)
    return url in files ? Response.json(files[url]) : new Response('', { status: 404, statusText: 'Not Found' })
  })
}

beforeEach(() => {
  fetched.length = 0
  vi.stubGlobal('self', { location: { href: 'http://host:5173/src/worker/worker.ts' } })
})
afterEach(() => vi.unstubAllGlobals())

describe('a folder of this site', () => {
  it('reads config and tokenizer of a folder under the site, and the weights meanwhile', async () => {
    serve({ ...TOKENIZER, [`${AT}/config.json`]: { model_type: 'qwen3' } })
    const said: string[] = []
    const { source, tokenizer } = await loadFolder('models/tiny/', ({ what }) => said.push(what))
    expect(tokenizer.encode('<|im_end|>', { add_special_tokens: false })).toHaveLength(1)
    expect(said).toEqual(['tokenizer'])
    expect(await source.config()).toEqual({ model_type: 'qwen3' })
    expect(fetched).toEqual(['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'].map((file) => `${AT}/${file}`))
    await expect(source.tensors()).rejects.toMatchObject({ message: `${AT}/model.safetensors was not found (404).` })
  })

  it('a missing folder is a sentence before anything else is tried', async () => {
    serve({})
    await expect(loadFolder('models/none')).rejects.toMatchObject({
      kind: 'model',
      message: 'http://host:5173/models/none/config.json was not found (404).',
      advice: expect.stringContaining('config.json') as string,
    })
    expect(fetched).toEqual(['http://host:5173/models/none/config.json'])
  })

  it('a tokenizer that cannot be read is a sentence that names the files', async () => {
    serve({ ...TOKENIZER, [`${AT}/config.json`]: {}, [`${AT}/tokenizer.json`]: '<html>' })
    await expect(loadFolder('models/tiny')).rejects.toMatchObject({
      kind: 'model',
      message: expect.stringMatching(/^The tokenizer of models\/tiny could not be read: ./) as string,
      advice: expect.stringContaining('tokenizer.json') as string,
    })
  })
})

/** Where a model folder is looked for, and what is said when something of it is missing; the network is a stand-in. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LoadProgress } from '../core/events'
import { HubAccess } from './hub-access'
import { loadModel } from './model'

interface Stand {
  env: Record<string, unknown>
  asked: { name: string; path: unknown }[]
  fail: Error | null
}

const transformers = vi.hoisted((): Stand => ({
  env: {},
  asked: [],
  fail: null,
}))
vi.mock('@huggingface/transformers', () => ({
  env: transformers.env,
  AutoTokenizer: {
    from_pretrained: async (name: string) => {
      transformers.asked.push({ name, path: transformers.env['localModelPath'] })
      if (transformers.fail) throw transformers.fail
      return { tokenizer: name }
    },
  },
}))

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
  Object.assign(transformers, { asked: [], fail: null })
  vi.stubGlobal('self', { location: { href: 'http://host:5173/src/worker/worker.ts' } })
})
afterEach(() => vi.unstubAllGlobals())

describe('a folder of this site', () => {
  it('reads config and tokenizer of a folder under the site, and nothing from elsewhere', async () => {
    serve({ 'http://host:5173/models/tiny/config.json': { model_type: 'qwen3' } })
    const said: string[] = []
    const { source, tokenizer } = await loadFolder('models/tiny/', ({ what }) => said.push(what))
    expect(tokenizer).toEqual({ tokenizer: 'tiny' })
    expect(transformers.asked).toEqual([{ name: 'tiny', path: '/models/' }])
    expect(transformers.env).toMatchObject({ allowRemoteModels: false, allowLocalModels: true, useBrowserCache: false })
    expect(said).toEqual(['tokenizer'])
    expect(await source.config()).toEqual({ model_type: 'qwen3' })
    expect(fetched).toEqual(['http://host:5173/models/tiny/config.json'])
  })

  it('a missing folder is a sentence before anything else is tried', async () => {
    serve({})
    await expect(loadFolder('models/none')).rejects.toMatchObject({
      kind: 'model',
      message: 'http://host:5173/models/none/config.json was not found (404).',
      advice: expect.stringContaining('config.json') as string,
    })
    expect(transformers.asked).toEqual([])
  })

  it('a tokenizer that cannot be read is a sentence that names the files', async () => {
    serve({ 'http://host:5173/models/tiny/config.json': {} })
    transformers.fail = new Error('Unexpected token <')
    await expect(loadFolder('models/tiny')).rejects.toMatchObject({
      kind: 'model',
      message: expect.stringMatching(/models\/tiny.*Unexpected token </) as string,
      advice: expect.stringContaining('tokenizer.json') as string,
    })
  })
})

/** LoRAs as the worker finds them, over the local Hub and among the files that the page gave; the token's way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTER_LORA, adapterFiles, hubRepos, READER, tinyConfig, TOKENS } from '../../e2e/hub/models'
import { startHub, type Hub } from '../../e2e/hub/server'
import { type ModelConfig, parseModelConfig } from '../model/config'
import { HubAccess } from './hub-access'

let hub: Hub
let base: ModelConfig
beforeAll(async () => {
  hub = await startHub({ repos: await hubRepos(), tokens: TOKENS })
  base = parseModelConfig(await tinyConfig())
})
afterAll(() => hub.stop())

const { signal } = new AbortController()
const hubAdapter = (repo: string) => ({ kind: 'hub', repo, revision: 'main' }) as const
const noStore = () => Promise.reject(new Error('No store is needed.'))

describe('an adapter', () => {
  it('is the same from the Hub and from files', async () => {
    const access = new HubAccess(hub.endpoint, noStore)
    const files = adapterFiles(await tinyConfig())
    access.giveAdapter('mine', files['adapter_config.json'], files['adapter_model.safetensors'].slice().buffer)
    const [ofHub, ofFiles] = await Promise.all([access.adapter(hubAdapter('acme/lora'), base, signal), access.adapter({ kind: 'file', name: 'mine' }, base, signal)])
    expect(ofFiles.lora).toEqual(ADAPTER_LORA)
    expect(ofHub.lora).toEqual(ADAPTER_LORA)
    expect(ofHub.tensors).toEqual(ofFiles.tensors)
    expect(ofFiles.tensors).toHaveLength(2 * 3 * base.num_hidden_layers)
  })

  it('that does not fit, is gone or is no JSON is refused by a sentence', async () => {
    const access = new HubAccess(hub.endpoint, noStore)
    await expect(access.adapter(hubAdapter('acme/lora-other'), base, signal)).rejects.toMatchObject({ kind: 'model', advice: expect.stringContaining('the adapter was trained on') as string })
    await expect(access.adapter(hubAdapter('acme/tiny'), base, signal)).rejects.toMatchObject({ message: expect.stringContaining('is a model, not a LoRA') as string })
    await expect(access.adapter({ kind: 'file', name: 'gone' }, base, signal)).rejects.toMatchObject({ kind: 'config', message: 'The files of the adapter gone are not here any more.' })
    access.giveAdapter('bad', '{', new ArrayBuffer(8))
    await expect(access.adapter({ kind: 'file', name: 'bad' }, base, signal)).rejects.toMatchObject({ message: 'adapter_config.json of bad is not JSON.' })
  })
})

describe('the token', () => {
  it('is checked, sent to the Hub, and forgotten', async () => {
    const access = new HubAccess(hub.endpoint, noStore)
    expect(() => access.setToken('mine')).toThrow('does not start with hf_')
    await expect(access.client.repo('acme/secret')).rejects.toMatchObject({ kind: 'model' })
    access.setToken(` ${READER} `)
    expect(await access.client.repo('acme/secret')).toMatchObject({ private: true })
    access.setToken(null)
    await expect(access.client.repo('acme/secret')).rejects.toMatchObject({ kind: 'model' })
  })

  it('opens the store once', async () => {
    let opened = 0
    const access = new HubAccess(undefined, async () => (opened++, {}) as never)
    expect(await access.store()).toBe(await access.store())
    expect([opened, access.client.endpoint]).toEqual([1, 'https://huggingface.co'])
  })
})

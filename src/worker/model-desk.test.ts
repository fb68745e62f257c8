/** The page's questions about models, answered over the local Hub: what is asked of it, sizes, refusals, the stored models. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hubRepos, READER, TOKENS, tinyConfig } from '../../e2e/hub/models'
import { startHub, type Hub } from '../../e2e/hub/server'
import type { RunConfig } from '../core/config'
import { presetById, presetConfig, TINY_MODEL } from '../env/presets'
import { ModelStore } from '../hub/model-store'
import { openHubModel } from '../hub/open-model'
import { MemoryStorage } from '../hub/testing/memory-storage'
import { HubAccess } from './hub-access'
import { isForDesk, ModelDesk } from './model-desk'
import type { Command, Message } from './protocol'

let hub: Hub
beforeAll(async () => {
  hub = await startHub({ repos: await hubRepos(), tokens: TOKENS })
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.requests.length = 0
})

const echo = presetConfig(presetById('echo'))
const of = (model: string, change: Partial<RunConfig> = {}): RunConfig => ({ ...echo, model, ...change })
const WEIGHTS = 1_975_360

/** A desk over a store in memory. */
function openDesk() {
  const store = new ModelStore({ storage: new MemoryStorage(), estimate: async () => ({ usage: 1, quota: 2 }) })
  const access = new HubAccess(hub.endpoint, async () => store)
  const messages: Message[] = []
  let heard: (() => void) | null = null
  const desk = new ModelDesk(
    access,
    (message) => {
      messages.push(message)
      heard?.()
    },
    () => tinyConfig(),
  )
  /** Sends a command and gives the next message of this type. */
  const ask = async <T extends Message['type']>(command: Command, type: T): Promise<Extract<Message, { type: T }>> => {
    const from = messages.length
    if (isForDesk(command)) desk.handle(command)
    for (;;) {
      const found = messages.slice(from).find((message): message is Extract<Message, { type: T }> => message.type === type)
      if (found) return found
      await new Promise<void>((resolve) => {
        heard = resolve
      })
    }
  }
  const inspect = async (config: RunConfig) => (await ask({ type: 'inspect', requestId: 7, config }, 'inspection')).result
  /** Downloads all tensors of a model, or the first pieces, and lets go of it. */
  const download = async (repo: string, most = Infinity) => {
    const opened = await openHubModel({ client: access.client, repo, revision: 'main', store })
    let pieces = 0
    for await (const { data } of opened.source.pieces([...(await opened.source.tensors()).keys()])) {
      expect(data.length).toBeGreaterThan(0)
      if (++pieces >= most) break
    }
    await opened.close()
  }
  return { desk, store, access, messages, ask, inspect, download }
}

const inspected = (result: Awaited<ReturnType<ReturnType<typeof openDesk>['inspect']>>) => {
  if (!result.ok) throw new Error(result.error)
  return result.inspection
}

describe('looking a model up', () => {
  it('plans for the starting adapter’s own rank, and says before any download when it is none', async () => {
    const { inspect } = openDesk()
    const fresh = await inspect(of('acme/tiny'))
    const own = await inspect(of('acme/tiny', { adapter: { kind: 'hub', repo: 'acme/lora', revision: 'main' } }))
    expect(fresh.ok && own.ok && own.inspection.plan.adapter).toBeLessThan(fresh.ok ? fresh.inspection.plan.adapter / 4 : 0)
    expect(hub.requests.some(({ path }) => path.includes('adapter_model'))).toBe(false)
    const whole = await inspect(of('acme/tiny', { adapter: { kind: 'hub', repo: 'acme/tiny', revision: 'main' } }))
    expect(whole).toMatchObject({ ok: false, error: expect.stringContaining('acme/tiny is a model, not a LoRA') as string })
  })

  it('asks for the description, the list of files and config.json alone, and says what loading takes', async () => {
    const { inspect } = openDesk()
    const found = inspected(await inspect(of('acme/tiny', { precision: 'int4' })))
    expect([...new Set(hub.requests.map(({ file }) => file))]).toEqual([null, 'config.json'])
    expect(found).toMatchObject({ model: 'acme/tiny', revision: hub.sha('acme/tiny'), architecture: 'qwen3', parameters: 492_640, layers: 4, storedBytes: 0, backend: 'wasm', verdict: { kind: 'fits' } })
    expect(found.downloadBytes).toBeGreaterThan(WEIGHTS)
    expect(found.downloadBytes).toBeLessThan(1.05 * WEIGHTS)
    expect(found.plan.peak).toBeGreaterThan(0)
  })

  it('counts the shards of a sharded bfloat16 model', async () => {
    const { downloadBytes } = inspected(await openDesk().inspect(of('acme/tiny-bf16')))
    expect(downloadBytes).toBeGreaterThan(WEIGHTS / 2)
    expect(downloadBytes).toBeLessThan(0.55 * WEIGHTS)
  })

  it('counts what is stored already, and needs no Hub for a model that is here', async () => {
    const { inspect, download } = openDesk()
    const whole = inspected(await inspect(of('acme/tiny'))).downloadBytes
    await download('acme/tiny', 1)
    const partly = inspected(await inspect(of('acme/tiny')))
    expect(partly.storedBytes).toBeGreaterThan(0)
    expect(partly.downloadBytes).toBeGreaterThan(0)
    expect(partly.downloadBytes).toBe(whole - partly.storedBytes)
    await download('acme/tiny')
    hub.requests.length = 0
    expect(inspected(await inspect(of('acme/tiny')))).toMatchObject({ downloadBytes: 0, revision: hub.sha('acme/tiny'), parameters: 492_640 })
    expect(hub.requests).toEqual([])
  })

  it('takes a folder of this site without the Hub', async () => {
    expect(inspected(await openDesk().inspect(of(TINY_MODEL)))).toMatchObject({ model: TINY_MODEL, downloadBytes: 0, storedBytes: 0, layers: 4 })
    expect(hub.requests).toEqual([])
  })

  it.each([
    ['acme/nothing', {}, /shows no model acme\/nothing/, /Check the spelling/],
    ['acme/mistral', {}, /model_type is "mistral"/, /Qwen/],
    ['acme/gguf', {}, /GGUF files/, /original weights/],
    ['acme/odd', { precision: 'int8' }, /80 columns, which are no whole blocks of 32: it cannot be kept as int8/, /float32/],
    ['acme/tiny', { backend: 'webgpu' }, /WebGPU/, /WASM/],
  ] as const)('refuses %s %o by a sentence and a next step', async (model, change, error, advice) => {
    const result = await openDesk().inspect(of(model, change))
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(error) as string, advice: expect.stringMatching(advice) as string })
  })

  it('sends the token that was given, until it is forgotten; what is no token is a notice', async () => {
    const { desk, inspect, ask } = openDesk()
    expect(await inspect(of('acme/secret'))).toMatchObject({ ok: false })
    desk.handle({ type: 'token', token: READER })
    expect(inspected(await inspect(of('acme/secret'))).model).toBe('acme/secret')
    desk.handle({ type: 'token', token: null })
    expect(await inspect(of('acme/secret'))).toMatchObject({ ok: false })
    const { event } = await ask({ type: 'token', token: 'secret' }, 'event')
    expect(event).toMatchObject({ type: 'notice', level: 'warning', text: expect.stringContaining('hf_') as string })
    expect(JSON.stringify(event)).not.toContain('secret')
  })
})

describe('stored models', () => {
  it('are listed with their bytes and deleted', async () => {
    const { ask, download } = openDesk()
    expect(await ask({ type: 'list-stored' }, 'stored-models')).toEqual({ type: 'stored-models', models: [], storage: { usage: 1, quota: 2 } })
    await download('acme/tiny')
    const { models } = await ask({ type: 'list-stored' }, 'stored-models')
    expect(models).toMatchObject([{ model: 'acme/tiny', revision: hub.sha('acme/tiny'), complete: true }])
    expect(models[0]?.bytes).toBeGreaterThan(WEIGHTS)
    expect((await ask({ type: 'delete-stored', key: models[0]?.key ?? '' }, 'stored-models')).models).toEqual([])
  })

  it('of a browser that refuses to delete stay, and it says so', async () => {
    const { ask, store, messages } = openDesk()
    store.delete = () => Promise.reject(new Error('Locked.'))
    await ask({ type: 'delete-stored', key: 'acme/tiny@1' }, 'stored-models')
    expect(messages[0]).toMatchObject({ type: 'event', event: { type: 'notice', text: expect.stringContaining('Locked.') as string } })
  })
})

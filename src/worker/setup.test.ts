/** What a configuration loads and what the next one keeps; model folder and engine are stand-ins. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunConfig } from '../core/config'
import { PlaygroundError } from '../core/errors'
import { presetById, presetConfig } from '../env/presets'
import { memorySource } from '../hub/memory-source'
import { ChatFormat } from '../rollout/chat'
import { qwen3Tokenizer } from '../rollout/testing/tokenizers'
import type { EngineOptions } from '../runtime/create'
import { CONFIG } from '../runtime/testing/random-model'
import { HubAccess } from './hub-access'
import { type SetupCallbacks, SetupKeeper } from './setup'

const loaded = vi.hoisted(() => ({ folders: [] as string[], engines: [] as EngineOptions[], disposed: 0, missing: '', sha: null as string | null, bytes: 1e6, fails: false }))

vi.mock('./model', () => ({
  loadModel: async ({ model }: RunConfig) => {
    if (model === loaded.missing) throw new PlaygroundError('model', `${model} was not found.`)
    loaded.folders.push(model)
    return { source: memorySource({ ...CONFIG, vocab_size: 151_936, max_position_embeddings: 4096 }, []), tokenizer: qwen3Tokenizer(), sha: loaded.sha, close: async () => undefined }
  },
  chatFormat: ({ tokenizer }: { tokenizer: ReturnType<typeof qwen3Tokenizer> }, enable_thinking: boolean) =>
    new ChatFormat(tokenizer, { enable_thinking }),
}))
vi.mock('../runtime/create', () => ({
  createEngine: async (options: EngineOptions) => {
    if (loaded.fails) throw new PlaygroundError('model', 'The download was damaged.')
    loaded.engines.push(options)
    return { options, allocatedBytes: loaded.bytes, dispose: async () => void loaded.disposed++ }
  },
}))

beforeEach(() => Object.assign(loaded, { folders: [], engines: [], disposed: 0, missing: '', sha: null as string | null, bytes: 1e6, fails: false }))

const echo = (change: Partial<RunConfig['grpo']> = {}): RunConfig => {
  const config = presetConfig(presetById('echo'))
  return { ...config, grpo: { ...config.grpo, ...change } }
}
const nothing: SetupCallbacks = { onProgress: () => undefined, onNotice: () => undefined }

describe('SetupKeeper', () => {
  it('loads environment, folder and engine, and says what it is at', async () => {
    const said: string[] = []
    const { environment, chat } = await new SetupKeeper(new HubAccess(undefined)).prepare(echo(), { ...nothing, onProgress: ({ what }) => said.push(what) })
    expect(said).toEqual(['environment', 'engine'])
    expect(environment.tools.map((tool) => tool.function.name)).toEqual(['echo_message'])
    expect(chat.endOfTurnIds.length).toBeGreaterThan(0)
    expect(loaded.folders).toEqual(['models/tiny-qwen3'])
    expect(loaded.engines[0]).toMatchObject({ backend: 'wasm', threads: 1, slots: 64, seed: 42 })
  })

  it('asks no server when it is given up while the way to servers is fetched', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const sockets = vi.fn()
    vi.stubGlobal('WebSocket', sockets)
    vi.stubGlobal('self', { location: { protocol: 'http:' } })
    const keeper = new SetupKeeper(new HubAccess(undefined))
    const loading = keeper.prepare({ ...echo(), environment: { kind: 'openenv', url: 'http://localhost:1' } }, nothing)
    keeper.abandon()
    await expect(loading).rejects.toMatchObject({ kind: 'stopped' })
    expect([fetched.mock.calls, sockets.mock.calls]).toEqual([[], []])
    vi.unstubAllGlobals()
    fetched.mockRestore()
  })

  it('says when a session is wanted and none is free, and edits the tools', async () => {
    let crowded = 0
    const config: RunConfig = { ...echo(), tool_edits: [{ kind: 'rename', tool: 'echo_message', name: 'say' }] }
    const { environment } = await new SetupKeeper(new HubAccess(undefined)).prepare(config, { ...nothing, onCrowded: () => crowded++ })
    environment.onCrowded?.()
    expect(crowded).toBe(1)
    expect(environment.tools.map((tool) => tool.function.name)).toEqual(['say'])
    const wrong: RunConfig = { ...echo(), tool_edits: [{ kind: 'hide', tool: 'jump' }] }
    await expect(new SetupKeeper(new HubAccess(undefined)).prepare(wrong, nothing)).rejects.toThrow('echo has no tool "jump"')
  })

  it('gives a slot room for the prompt, what reset says, and the completion', async () => {
    await new SetupKeeper(new HubAccess(undefined)).prepare(echo({ max_completion_length: 500 }), nothing)
    const [{ contextLength } = { contextLength: 0 }] = loaded.engines
    const { environment, chat } = await new SetupKeeper(new HubAccess(undefined)).prepare(echo(), nothing)
    const prompt = chat.prompt([{ role: 'system', content: environment.prompts.system }], environment.tools, 'message "one two"')
    expect(contextLength).toBeGreaterThanOrEqual(prompt.ids.length + 500)
    expect(contextLength % 128).toBe(0)
  })

  it('keeps the engine for another seed or learning rate, and the folder for another group size', async () => {
    const keeper = new SetupKeeper(new HubAccess(undefined))
    const first = await keeper.prepare(echo(), nothing)
    expect((await keeper.prepare(echo({ seed: 7, learning_rate: 1e-5 }), nothing)).engine).toBe(first.engine)
    expect([loaded.engines.length, loaded.disposed]).toEqual([1, 0])
    expect((await keeper.prepare(echo({ num_generations: 4 }), nothing)).engine).not.toBe(first.engine)
    expect([loaded.engines.length, loaded.disposed, loaded.folders.length]).toEqual([2, 1, 1])
    expect(loaded.engines[1]?.slots).toBe(16)
  })

  it('never makes more slots than decode well together', async () => {
    await new SetupKeeper(new HubAccess(undefined)).prepare(echo({ num_generations: 64, prompts_per_step: 64 }), nothing)
    expect(loaded.engines[0]?.slots).toBe(64)
  })

  it('makes a new engine after the old one was discarded', async () => {
    const keeper = new SetupKeeper(new HubAccess(undefined))
    await keeper.prepare(echo(), nothing)
    await keeper.discardEngine()
    await keeper.discardEngine()
    await keeper.prepare(echo(), nothing)
    expect([loaded.engines.length, loaded.disposed]).toEqual([2, 1])
  })

  it('refuses WebGPU where there is none, and what was loaded before stays usable', async () => {
    const keeper = new SetupKeeper(new HubAccess(undefined))
    const first = await keeper.prepare(echo(), nothing)
    await expect(keeper.prepare({ ...echo(), backend: 'webgpu' }, nothing)).rejects.toMatchObject({ kind: 'engine' })
    loaded.missing = 'models/none'
    await expect(keeper.prepare({ ...echo(), model: 'models/none' }, nothing)).rejects.toMatchObject({ kind: 'model' })
    expect((await keeper.prepare(echo(), nothing)).engine).toBe(first.engine)
    expect(loaded.folders).toEqual(['models/tiny-qwen3'])
  })

  it('opens a model of the Hub anew for an engine of another size, whose weights are read again, and not for another seed', async () => {
    loaded.sha = 'a'.repeat(40)
    const keeper = new SetupKeeper(new HubAccess(undefined))
    await keeper.prepare(echo(), nothing)
    await keeper.prepare(echo({ seed: 7 }), nothing)
    expect(loaded.folders).toHaveLength(1)
    await keeper.prepare(echo({ num_generations: 4 }), nothing)
    expect([loaded.folders.length, loaded.engines.length]).toEqual([2, 2])
  })

  it('keeps a small engine until the next one stands; a large one makes room first', async () => {
    for (const [bytes, kept] of [[1e6, true], [1e9, false]] as const) {
      Object.assign(loaded, { bytes, fails: false })
      const keeper = new SetupKeeper(new HubAccess(undefined))
      const { engine } = await keeper.prepare(echo(), nothing)
      loaded.fails = true
      await expect(keeper.prepare(echo({ num_generations: 4 }), nothing)).rejects.toThrow('damaged')
      expect(keeper.holds(engine)).toBe(kept)
      loaded.fails = false
      await keeper.prepare(echo({ num_generations: 4 }), nothing)
      expect(keeper.holds(engine)).toBe(false)
    }
    expect(loaded.disposed).toBe(2)
  })
})

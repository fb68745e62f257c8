import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import type { LoadProgress } from '../core/events'
import type { WeightPiece } from '../core/weights'
import type { FileStorage } from './file-storage'
import { ModelStore, type ModelStoreOptions } from './model-store'
import { openHubModel, type HubModel } from './open-model'
import { writeSafetensors } from './safetensors'
import { bf16Ramp, safetensorsFile } from './testing/counted-bytes'
import { memoryHub, type MemoryHub } from './testing/memory-hub'
import { MemoryStorage } from './testing/memory-storage'

const HEAD = bf16Ramp(300_000, 3)
const BODY = bf16Ramp(900_000, 7)
const TAIL = bf16Ramp(700_000, 11)
/** 0.6 MB of a tied head that nobody wants between two tensors. */
const gapped = safetensorsFile([
  { name: 'body', dtype: 'BF16', dims: [900, 1000], bytes: BODY.bytes },
  { name: 'lm_head.weight', dtype: 'BF16', dims: [300, 1000], bytes: HEAD.bytes },
  { name: 'tail', dtype: 'BF16', dims: [700, 1000], bytes: TAIL.bytes },
])
const small = {
  'config.json': '{"model_type":"qwen3"}',
  'tokenizer.json': `{"x":"${'t'.repeat(3000)}"}`,
  'tokenizer_config.json': '{}',
  'chat_template.jinja': '{{ messages }}',
  '.gitattributes': '',
}
const gappedHub = () => memoryHub({ ...small, 'model.safetensors': gapped }, undefined, 40_001)
const WANTED = ['body', 'tail']

const store = (storage: FileStorage | null, options: Partial<ModelStoreOptions> = {}) => new ModelStore({ storage, ...options })

interface Opened {
  model: HubModel
  notices: string[]
  progress: LoadProgress[]
  stop: AbortController
}

async function open(hub: MemoryHub, from: ModelStore, revision = 'main'): Promise<Opened> {
  const [notices, progress, stop] = [[] as string[], [] as LoadProgress[], new AbortController()]
  const model = await openHubModel({
    client: hub.client,
    repo: 'me/model',
    revision,
    store: from,
    signal: stop.signal,
    onNotice: (sentence) => notices.push(sentence),
    onProgress: (each) => progress.push(each),
  })
  return { model, notices, progress, stop }
}

async function drain({ model }: Opened, wanted = WANTED): Promise<WeightPiece[]> {
  const pieces: WeightPiece[] = []
  for await (const piece of model.source.pieces(wanted)) pieces.push(piece)
  return pieces
}

const same = (a: Float32Array | undefined, b: Float32Array) => a !== undefined && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer))
const isRight = (pieces: WeightPiece[]) => pieces.length === 2 && same(pieces[0]?.data, BODY.values) && same(pieces[1]?.data, TAIL.values)

/** Bytes [begin, end) of gapped that a load reads. */
const WANTED_BYTES = gapped.length - HEAD.bytes.length
const TAIL_BEGIN = gapped.length - TAIL.bytes.length

describe('openHubModel', () => {
  it('downloads once what is wanted, and loads again without a network', async () => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    const first = await open(hub, store(storage))
    expect(first.model).toMatchObject({ repo: 'me/model', sha: hub.sha, offline: false })
    expect(first.model.files).toEqual({
      config: small['config.json'],
      generation_config: null,
      tokenizer: small['tokenizer.json'],
      tokenizer_config: '{}',
      chat_template: '{{ messages }}',
    })
    expect(await first.model.source.config()).toEqual({ model_type: 'qwen3' })
    expect(isRight(await drain(first))).toBe(true)
    await first.model.close()
    expect(hub.given('model.safetensors')).toBe(WANTED_BYTES)
    expect(first.progress.at(-1)?.overall).toMatchObject({ done: WANTED_BYTES + 22 + 3008 + 2 + 14, fromDisk: false })
    expect(first.progress.at(-1)?.overall?.total).toBe(first.progress.at(-1)?.overall?.done)
    expect(storage.openPaths).toEqual([])
    expect(first.notices).toEqual([])

    hub.offline = true
    const again = store(storage.kill())
    expect(await again.list()).toMatchObject([{ key: `me/model@${hub.sha}`, model: 'me/model', revision: hub.sha, complete: true }])
    const second = await open(hub, again)
    expect(second.model.offline).toBe(true)
    expect(second.model.files).toEqual(first.model.files)
    expect(isRight(await drain(second))).toBe(true)
    expect(hub.asked).toBe(1)
    expect(second.progress.at(-1)?.overall).toMatchObject({ done: first.progress.at(-1)?.overall?.done, fromDisk: true })
    // Under its commit as well, but not under a name that it was never asked for.
    expect((await open(hub, again, hub.sha)).model.offline).toBe(true)
    await expect(open(hub, again, 'other')).rejects.toThrow('could not be reached')
  })

  it.each([['inside the first range', 700_000], ['inside the gap run', TAIL_BEGIN + 77_777]])('goes on at the byte after a lost connection and a killed page (%s)', async (_, position) => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    ;(hub.files['model.safetensors'] as { breakAt: number | null }).breakAt = position
    await expect(open(hub, store(storage)).then(drain)).rejects.toThrow('was lost')
    const before = hub.given('model.safetensors')
    // Nothing was closed: the page is gone.
    const left = store(storage.kill())
    expect(await left.list()).toMatchObject([{ complete: false }])
    const second = await open(hub, left)
    expect(second.model.offline).toBe(false)
    expect(isRight(await drain(second))).toBe(true)
    expect(hub.given('model.safetensors')).toBe(WANTED_BYTES)
    expect(before).toBeGreaterThan(0)
    expect(hub.files['model.safetensors']?.reads.at(position > TAIL_BEGIN ? -1 : 1)?.begin).toBe(position)
    await second.model.close()
    expect((await left.list())[0]?.complete).toBe(true)
  })

  it('keeps what has come when it is stopped, and counts it as from the disk after that', async () => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    const models = store(storage)
    const first = await open(hub, models)
    const pieces = first.model.source.pieces(WANTED)[Symbol.asyncIterator]()
    expect((await pieces.next()).value).toMatchObject({ name: 'body' })
    first.stop.abort()
    await expect(pieces.next()).rejects.toMatchObject({ kind: 'stopped' })
    await first.model.close()
    const came = hub.given('model.safetensors')
    expect(came).toBeGreaterThan(BODY.bytes.length)
    expect(came).toBeLessThan(WANTED_BYTES)
    const second = await open(hub, models)
    expect(isRight(await drain(second))).toBe(true)
    expect(hub.given('model.safetensors')).toBe(WANTED_BYTES)
    expect(second.progress.some(({ overall }) => overall?.fromDisk)).toBe(true)
  })

  it('compares a whole file with the Hub and deletes what was tampered with', async () => {
    const whole = writeSafetensors([{ name: 'w', dims: [300_000], data: new Float32Array(300_000).fill(2) }])
    const [hub, storage] = [memoryHub({ ...small, 'model.safetensors': whole }), new MemoryStorage()]
    const honest = whole[whole.length - 1] as number
    whole[whole.length - 1] = honest ^ 1
    const first = await open(hub, store(storage))
    const error: unknown = await drain(first, ['w']).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(PlaygroundError)
    expect((error as PlaygroundError).message).toMatch(/The download of me\/model\/model\.safetensors was damaged or tampered with: its SHA-256 begins with \w{12}, the Hub says \w{12}\./)
    expect((error as PlaygroundError).advice).toContain('load the model again')
    expect([...storage.files.keys()].filter((path) => path.includes('model.safetensors.'))).toEqual([])
    // Also when nothing is stored.
    await expect(open(hub, store(null)).then((opened) => drain(opened, ['w']))).rejects.toThrow('tampered with')
    whole[whole.length - 1] = honest
    // Whether again in the same load or in the next.
    expect((await drain(first, ['w']))[0]?.data.at(-1)).toBe(2)
    await first.model.close()
    const second = await open(hub, store(storage))
    expect((await drain(second, ['w']))[0]?.data.at(-1)).toBe(2)
  })

  it.each([['the first range', 0, 5000], ['a range after a gap', TAIL_BEGIN, 5000]])('notices bits that turned on the disk in %s, deletes them, and downloads them anew', async (_, begin, offset) => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    const first = await open(hub, store(storage))
    await drain(first)
    await first.model.close()
    const disk = storage.kill()
    const path = disk.path(`model.safetensors.${begin}.part`)
    const stored = disk.files.get(path) as Uint8Array
    stored[offset + (begin === 0 ? 1_000_000 : 0)]! ^= 0x40
    const second = await open(hub, store(disk))
    const error: unknown = await drain(second).catch((e: unknown) => e)
    expect(error).toMatchObject({ kind: 'model', message: expect.stringContaining('does not match its checksum any more') as string, advice: expect.stringContaining('load the model again') as string })
    expect(disk.files.has(path)).toBe(false)
    await second.model.close()
    const given = hub.given('model.safetensors')
    const third = await open(hub, store(disk))
    expect(third.model.offline).toBe(false)
    expect(isRight(await drain(third))).toBe(true)
    expect(hub.given('model.safetensors') - given).toBe(stored.length)
  })

  it('downloads again what the disk lost', async () => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    const first = await open(hub, store(storage))
    await drain(first)
    await first.model.close()
    const disk = storage.kill()
    const path = disk.path('model.safetensors.0.part')
    const stored = disk.files.get(path) as Uint8Array
    disk.files.set(path, stored.slice(0, -1000))
    const given = hub.given('model.safetensors')
    const second = await open(hub, store(disk))
    expect(second.model.offline).toBe(false)
    expect(isRight(await drain(second))).toBe(true)
    expect(hub.given('model.safetensors') - given).toBe(stored.length)
    expect(disk.files.get(path)?.length).toBe(stored.length)
  })

  it('stores nothing after it was closed', async () => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    const first = await open(hub, store(storage))
    await first.model.source.tensors()
    await first.model.close()
    const before = storage.used
    expect(isRight(await drain(first))).toBe(true)
    expect([storage.used, storage.openPaths, first.notices]).toEqual([before, [], []])
  })

  it('goes on without storing when the disk is full, says so once, and keeps a usable part', async () => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    storage.quota = 1_500_000
    const first = await open(hub, store(storage))
    expect(isRight(await drain(first))).toBe(true)
    expect(first.notices).toHaveLength(1)
    expect(first.notices[0]).toContain("The browser's storage is full: me/model is used without being stored any further")
    await first.model.close()
    const disk = storage.kill()
    disk.quota = Infinity
    const kept = (disk.files.get(disk.path('model.safetensors.0.part')) as Uint8Array).length
    expect(kept).toBeGreaterThan(1_400_000)
    const given = hub.given('model.safetensors')
    const second = await open(hub, store(disk))
    expect(isRight(await drain(second))).toBe(true)
    expect(hub.given('model.safetensors') - given).toBe(WANTED_BYTES - kept)
    expect(second.notices).toEqual([])
  })

  it('works where there is no storage, and where it breaks in mid-download', async () => {
    const hub = gappedHub()
    const none = await open(hub, store(null))
    expect(isRight(await drain(none))).toBe(true)
    expect(none.notices).toEqual(['The browser gives this page no file storage: me/model is downloaded without being stored, and again at each load.'])
    const storage = new MemoryStorage()
    const broken = await open(hub, store(storage))
    const pieces = broken.model.source.pieces(WANTED)[Symbol.asyncIterator]()
    await pieces.next()
    storage.broken = true
    expect(same(((await pieces.next()).value as WeightPiece).data, TAIL.values)).toBe(true)
    expect(broken.notices).toHaveLength(1)
    // Stored bytes that the disk does not give any more are downloaded.
    expect(isRight(await drain(broken))).toBe(true)
    expect(broken.notices).toHaveLength(1)
    await broken.model.close()
  })

  it('leaves the files to the tab that has them', async () => {
    const [hub, storage] = [gappedHub(), new MemoryStorage()]
    const mine = await open(hub, store(storage))
    // Another tab of the same site without navigator.locks: the handles tell.
    const theirs = await open(hub, store(storage))
    expect(isRight(await drain(theirs))).toBe(true)
    expect(theirs.notices).toHaveLength(1)
    expect(theirs.notices[0]).toContain('Another tab uses the stored files of me/model')
    expect(isRight(await drain(mine))).toBe(true)
    expect(mine.notices).toEqual([])
    await theirs.model.close()
    await mine.model.close()
    expect(isRight(await drain(await open(hub, store(storage.kill()))))).toBe(true)
  })

  it('reads a sharded model, without the shards of which nothing is wanted', async () => {
    const shard = (name: string) => writeSafetensors([{ name, dims: [600_000], data: new Float32Array(600_000).fill(name.length) }])
    const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const
    const index = JSON.stringify({ metadata: { total_size: 4_800_000 }, weight_map: { a: names[0], bb: names[1] } })
    const [hub, storage] = [memoryHub({ ...small, 'model.safetensors.index.json': index, [names[0]]: shard('a'), [names[1]]: shard('bb') }, undefined, 50_000), new MemoryStorage()]
    const first = await open(hub, store(storage))
    expect([...(await first.model.source.tensors()).keys()]).toEqual(['a', 'bb'])
    expect((await drain(first, ['bb'])).map(({ name, data }) => [name, data[599_999]])).toEqual([['bb', 2]])
    expect(hub.given(names[0])).toBe(1024 * 1024)
    await first.model.close()
    hub.offline = true
    const second = await open(hub, store(storage.kill()))
    expect((await drain(second, ['bb']))[0]?.data[0]).toBe(2)
    expect(hub.given(names[1])).toBe(hub.files[names[1]]?.size)
  })

  it('says which shard the repository lacks', async () => {
    const index = JSON.stringify({ weight_map: { a: 'model-00001-of-00001.safetensors' } })
    const opened = await open(memoryHub({ ...small, 'model.safetensors.index.json': index }), store(null))
    await expect(opened.model.source.tensors()).rejects.toThrow("me/model has no file 'model-00001-of-00001.safetensors'")
  })

  it.each<[string, Record<string, string>, string]>([
    ['a GGUF repository', { 'config.json': '{}', 'model-q4.gguf': '' }, 'me/model has no model.safetensors: its weights are GGUF files (model-q4.gguf).'],
    ['an ONNX repository', { 'config.json': '{}', 'onnx/model_q4f16.onnx': '' }, 'its weights are ONNX files, which can only be run and not trained (onnx/model_q4f16.onnx).'],
    ['a PyTorch repository', { 'config.json': '{}', 'pytorch_model.bin': '' }, 'its weights are PyTorch .bin files, which can run code when they are opened (pytorch_model.bin).'],
    ['an adapter', { 'adapter_config.json': '{}', 'adapter_model.safetensors': '' }, 'me/model holds a LoRA adapter, not a whole model.'],
    ['another name', { 'consolidated.safetensors': '' }, 'its weights are safetensors under other names than model.safetensors (consolidated.safetensors).'],
    ['nothing', { 'README.md': '' }, 'holds no weights: neither model.safetensors nor model.safetensors.index.json is among its 1 files.'],
    ['a model without its tokenizer', { 'config.json': '{}', 'model.safetensors': '', 'vocab.json': '' }, 'me/model has no tokenizer.json, without which its weights cannot be used.'],
  ])('says what is wrong with %s', async (_, files, sentence) => {
    const error: unknown = await open(memoryHub(files), store(null)).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(PlaygroundError)
    expect((error as PlaygroundError).message).toContain(sentence)
    expect((error as PlaygroundError).advice).not.toBe('')
  })

  it.each<[boolean, RegExp]>([
    [true, /^Delete the model under “Stored in this browser” and load it again; if this comes back, .* choose another revision\.$/],
    [false, /^Load the model again; if this comes back, .* choose another revision\.$/],
  ])('says the way out of weights that cannot be used (stored: %s)', async (stored, advice) => {
    const hub = memoryHub({ ...small, 'model.safetensors': new Uint8Array(2000).fill(1) })
    const { model } = await open(hub, store(stored ? new MemoryStorage() : null))
    const error = await model.source.tensors().catch((e: unknown) => e as PlaygroundError)
    expect(error).toMatchObject({ kind: 'model', message: expect.stringContaining('me/model/model.safetensors: This safetensors file cannot be used') as string })
    expect((error as PlaygroundError).advice).toMatch(advice)
  })

  it('says that a config is not JSON', async () => {
    const opened = await open(memoryHub({ ...small, 'config.json': '<html>', 'model.safetensors': gapped }), store(null))
    await expect(opened.model.source.config()).rejects.toThrow('config.json of me/model is not JSON')
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readAll } from './bytes'
import { CachedBytes } from './cached-bytes'
import { ModelStore, type Lease, type ModelStoreOptions } from './model-store'
import { countedBytes, type CountedBytes } from './testing/counted-bytes'
import { MemoryStorage } from './testing/memory-storage'

const id = { repo: 'me/model', sha: 'c'.repeat(40) }
const KEY = `me/model@${id.sha}`
const bytes = (n: number) => Uint8Array.from({ length: n }, (_, i) => (i * 7) % 251)

/** Locks as the browser's, shared by the tabs of a test. */
function fakeLocks(): Pick<LockManager, 'request'> & { held: Set<string> } {
  const held = new Set<string>()
  const request = async (name: string, options: LockOptions, callback: (lock: Lock) => Promise<unknown>): Promise<unknown> => {
    while (held.has(name)) {
      if (options.signal?.aborted) throw options.signal.reason
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    held.add(name)
    try {
      return await callback({ name, mode: 'exclusive' })
    } finally {
      held.delete(name)
    }
  }
  return { held, request: request as LockManager['request'] }
}

function tab(storage: MemoryStorage | null, options: Partial<ModelStoreOptions> = {}) {
  const notices: string[] = []
  const models = new ModelStore({ storage, patience: 30, ...options })
  return { models, notices, lease: () => models.lease(id, (sentence) => notices.push(sentence)) }
}

async function cached({ model }: Lease, remote: CountedBytes): Promise<CachedBytes> {
  return new CachedBytes(await model.file({ path: remote.name, size: remote.size, sha256: null }), () => remote)
}

/** Stores a file of `n` bytes as one that is needed. */
async function fill(lease: Lease, n = 5000, path = 'w.bin', name = 'main'): Promise<CountedBytes> {
  const remote = countedBytes(path, bytes(n))
  await lease.model.use(name)
  const file = await cached(lease, remote)
  await lease.model.need([{ path, begin: 0, end: n }], true)
  expect(await readAll(file)).toEqual(bytes(n))
  return remote
}

describe('ModelStore', () => {
  it('lists models with their bytes, the last used first, and deletes them', async () => {
    const storage = new MemoryStorage()
    let now = 1000
    const models = new ModelStore({ storage, now: () => now++, estimate: async () => ({ usage: 10, quota: 100 }) })
    expect(await models.list()).toEqual([])
    for (const repo of ['a/one', 'b/two']) {
      const lease = await models.lease({ repo, sha: 'd'.repeat(40) }, () => {})
      await fill(lease)
      await lease.release()
    }
    const list = await models.list()
    expect(list.map(({ key, model, revision, complete }) => ({ key, model, revision, complete }))).toEqual([
      { key: `b/two@${'d'.repeat(40)}`, model: 'b/two', revision: 'd'.repeat(40), complete: true },
      { key: `a/one@${'d'.repeat(40)}`, model: 'a/one', revision: 'd'.repeat(40), complete: true },
    ])
    expect(list.reduce((sum, model) => sum + model.bytes, 0)).toBe(storage.used)
    expect(list[0]?.bytes).toBeGreaterThan(5000)
    await models.delete(`b/two@${'d'.repeat(40)}`)
    expect((await models.list()).map(({ model }) => model)).toEqual(['a/one'])
    expect([...storage.files.keys()].every((path) => path.includes('one'))).toBe(true)
    expect(await models.estimate()).toEqual({ usage: 10, quota: 100 })
    await models.delete('no/such@model')
  })

  it('deletes a model that is in use here; its reader goes on from the network and stores nothing', async () => {
    const storage = new MemoryStorage()
    const here = tab(storage, { locks: fakeLocks() })
    const lease = await here.lease()
    const remote = await fill(lease)
    const file = await cached(lease, remote)
    await here.models.delete(KEY)
    expect(storage.files.size).toBe(0)
    expect(await readAll(file)).toEqual(bytes(5000))
    expect(remote.reads).toHaveLength(2)
    expect(storage.files.size).toBe(0)
    expect(here.notices).toEqual([])
    // The next load stores it again, while the old reader still stands.
    const next = await here.lease()
    await fill(next)
    await lease.release()
    await next.release()
    expect((await here.models.list())[0]?.complete).toBe(true)
  })

  it('waits a moment for the lock of another tab, then downloads without storing, and refuses to delete', async () => {
    const [storage, locks] = [new MemoryStorage(), fakeLocks()]
    const [one, two] = [tab(storage, { locks }), tab(storage, { locks })]
    const mine = await one.lease()
    await fill(mine)
    const theirs = await two.lease()
    expect(two.notices).toEqual([expect.stringContaining('Another tab uses the stored files of me/model') as string])
    expect((await fill(theirs)).reads).toHaveLength(1)
    await expect(two.models.delete(KEY)).rejects.toMatchObject({ kind: 'model', message: 'me/model cannot be deleted: another tab uses it.' })
    expect((await two.models.list())[0]?.complete).toBe(true)
    await theirs.release()
    const patient = new ModelStore({ storage, locks, patience: 5000 })
    setTimeout(() => void mine.release(), 30)
    const heard: string[] = []
    const after = await patient.lease(id, (sentence) => heard.push(sentence))
    expect(heard).toEqual([])
    expect((await fill(after)).reads).toHaveLength(0)
    await after.release()
    expect(locks.held.size).toBe(0)
  })

  it('shares a model between two loads of one tab and gives it back with the last', async () => {
    const storage = new MemoryStorage()
    const here = tab(storage, { locks: fakeLocks() })
    const [one, two] = [await here.lease(), await here.lease()]
    expect(one.model).toBe(two.model)
    await fill(one)
    await one.release()
    await one.release()
    expect(storage.openPaths).toHaveLength(1)
    expect((await fill(two)).reads).toHaveLength(0)
    await two.release()
    expect(storage.openPaths).toEqual([])
    expect(here.notices).toEqual([])
  })

  it('lets one of two readers store what both read', async () => {
    const storage = new MemoryStorage()
    const here = tab(storage)
    const lease = await here.lease()
    const remote = countedBytes('w.bin', bytes(9000))
    const file = await cached(lease, remote)
    const both = await Promise.all([readAll(file), readAll(file, 100, 8000)])
    expect(both).toEqual([bytes(9000), bytes(9000).slice(100, 8000)])
    expect(storage.files.get(storage.path('w.bin.0.part'))).toEqual(bytes(9000))
    expect(here.notices).toEqual([])
    await lease.release()
  })

  it('lets one of two readers store, though the other is faster', async () => {
    const storage = new MemoryStorage()
    const lease = await tab(storage).lease()
    const stored = await lease.model.file({ path: 'w.bin', size: 9000, sha256: null })
    const readers = [100, 3000].map((chunk) => new CachedBytes(stored, () => countedBytes('w.bin', bytes(9000), chunk)))
    expect(await Promise.all(readers.map((reader) => readAll(reader)))).toEqual([bytes(9000), bytes(9000)])
    expect(storage.files.get(storage.path('w.bin.0.part'))).toEqual(bytes(9000))
  })

  it('stops at the chunk at which it is told to, and keeps what has come', async () => {
    const storage = new MemoryStorage()
    const lease = await tab(storage).lease()
    const stop = new AbortController()
    const stored = await lease.model.file({ path: 'w.bin', size: 9000, sha256: null })
    const file = new CachedBytes(stored, () => countedBytes('w.bin', bytes(9000)), { signal: stop.signal })
    let came = 0
    const read = async () => {
      for await (const chunk of file.read(0, 9000)) if ((came += chunk.length) > 2000) stop.abort()
    }
    await expect(read()).rejects.toMatchObject({ kind: 'stopped' })
    expect(came).toBe(2002)
    expect(storage.files.get(storage.path('w.bin.0.part'))).toEqual(bytes(2002))
    await expect(read()).rejects.toMatchObject({ kind: 'stopped' })
  })

  it('lets a message stop a read from the disk, which never waits by itself', async () => {
    const lease = await tab(new MemoryStorage()).lease()
    const [stop, n] = [new AbortController(), 6 * 1024 * 1024]
    const stored = await lease.model.file({ path: 'w.bin', size: n, sha256: null })
    const read = async (file: CachedBytes, busyMs: number) => {
      let came = 0
      for await (const chunk of file.read(0, n)) {
        came += chunk.length
        const until = performance.now() + busyMs
        while (performance.now() < until);
      }
      return came
    }
    expect(await read(new CachedBytes(stored, () => countedBytes('w.bin', bytes(n), 1024 * 1024)), 0)).toBe(n)
    setTimeout(() => stop.abort())
    await expect(read(new CachedBytes(stored, () => Promise.reject(new Error('no network')), { signal: stop.signal }), 60)).rejects.toMatchObject({ kind: 'stopped' })
  })

  it('compares a whole file that came in several ranges with the Hub', async () => {
    const content = bytes(9000)
    const sha256 = createHash('sha256').update(content).digest('hex')
    for (const wrong of [false, true]) {
      const storage = new MemoryStorage()
      const lease = await tab(storage).lease()
      const remote = countedBytes('w.bin', wrong ? content.map((byte, i) => (i === 1500 ? byte ^ 1 : byte)) : content)
      const file = new CachedBytes(await lease.model.file({ path: 'w.bin', size: 9000, sha256 }), () => remote)
      await readAll(file, 1000, 2000)
      await readAll(file, 5000, 6000)
      const all = readAll(file)
      if (wrong) await expect(all).rejects.toThrow('The download of me/model/w.bin was damaged or tampered with')
      else expect(await all).toEqual(content)
      expect([...storage.files.keys()].filter((path) => path.endsWith('.part'))).toHaveLength(wrong ? 0 : 3)
    }
  })

  it('says why a model could not be deleted', async () => {
    const storage = new MemoryStorage()
    const here = tab(storage)
    await (await here.lease()).release()
    storage.broken = true
    await expect(here.models.delete(KEY)).rejects.toThrow('The browser did not delete me/model (memory storage: UnknownError)')
  })

  it('fills the gap between stored ranges', async () => {
    const lease = await tab(new MemoryStorage()).lease()
    const remote = countedBytes('w.bin', bytes(9000))
    const file = await cached(lease, remote)
    await readAll(file, 1000, 2000)
    await readAll(file, 5000, 6000)
    expect(await readAll(file, 500, 9000)).toEqual(bytes(9000).slice(500))
    expect(remote.reads.map(({ begin, end }) => [begin, end])).toEqual([[1000, 2000], [5000, 6000], [500, 1000], [2000, 5000], [6000, 9000]])
    expect(await readAll(file, 500, 9000)).toEqual(bytes(9000).slice(500))
    expect(remote.reads).toHaveLength(5)
    expect(file.stored.covers(500, 9000)).toBe(true)
    expect(file.stored.covers(499, 9000)).toBe(false)
  })

  it('survives a manifest that was cut in the middle of writing, or both', async () => {
    const storage = new MemoryStorage()
    const here = tab(storage)
    const lease = await here.lease()
    await fill(lease)
    await lease.release()
    const slots = [...storage.files.keys()].filter((path) => path.includes('manifest'))
    expect(slots).toHaveLength(2)
    const seq = (path: string) => (JSON.parse(new TextDecoder().decode(storage.files.get(path))) as { seq: number }).seq
    const newer = slots.sort((a, b) => seq(b) - seq(a))[0] as string
    storage.files.set(newer, (storage.files.get(newer) as Uint8Array).slice(0, 50))
    expect((await here.models.list())[0]).toMatchObject({ model: 'me/model', complete: true })
    for (const slot of slots) storage.files.set(slot, new Uint8Array(3))
    expect((await here.models.list())[0]).toMatchObject({ key: KEY, model: 'me/model', complete: false })
    expect(await here.models.find('me/model', 'main')).toBeNull()
    // The bytes are still good.
    const again = await here.lease()
    expect((await fill(again)).reads).toHaveLength(0)
    await again.release()
    expect((await here.models.list())[0]).toMatchObject({ complete: true })
  })

  it('finds the commit that a name meant last', async () => {
    const storage = new MemoryStorage()
    let now = 0
    const models = new ModelStore({ storage, now: () => ++now })
    for (const sha of ['1'.repeat(40), '2'.repeat(40)]) {
      const lease = await models.lease({ repo: 'me/model', sha }, () => {})
      await fill(lease)
      await lease.release()
    }
    expect((await models.find('me/model', 'main'))?.sha).toBe('2'.repeat(40))
    expect(await models.find('me/model', '1'.repeat(40))).toEqual({
      repo: 'me/model', revision: '1'.repeat(40), sha: '1'.repeat(40), private: false, gated: false, files: [{ path: 'w.bin', size: 5000, sha256: null }],
    })
    expect(await models.find('me/other', 'main')).toBeNull()
  })

  it('says when the Hub sends a file of another size than it announced', async () => {
    const lease = await tab(new MemoryStorage()).lease()
    const stored = await lease.model.file({ path: 'w.bin', size: 10, sha256: null })
    await expect(readAll(new CachedBytes(stored, () => countedBytes('w.bin', bytes(11))))).rejects.toThrow('me/model/w.bin has 11 bytes now, but 10 were announced')
  })
})

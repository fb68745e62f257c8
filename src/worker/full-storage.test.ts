/** A storage that is full or refused: what of a run is kept then, what is said, and what is still in memory. */
import 'fake-indexeddb/auto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RunArchive } from './archive'
import type { RunJournal } from './journal'
import type { Message } from './protocol'
import { RunDesk } from './run-desk'
import { open } from './testing/open-runner'

let count = 0
let archive: RunArchive
beforeEach(async () => {
  archive = await RunArchive.open(`full-${++count}`)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** As browsers do it: a checkpoint for which there is no room aborts its transaction, and what another one deletes makes room once that is through. */
function limitRoom(room: { most: number; fits: (step: number) => boolean; full?: boolean }): void {
  const held = new Set<string>()
  const { put, delete: remove } = IDBObjectStore.prototype
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, value: { run: string; step: number }, key) {
    if (this.name !== 'checkpoints' && !room.full) return put.call(this, value, key)
    const name = JSON.stringify([value.run, value.step])
    if (room.full || !room.fits(value.step) || (!held.has(name) && held.size >= room.most)) {
      this.transaction.abort()
      throw new DOMException('no room', 'QuotaExceededError')
    }
    this.transaction.addEventListener('complete', () => held.add(name))
    return put.call(this, value)
  })
  vi.spyOn(IDBObjectStore.prototype, 'delete').mockImplementation(function (this: IDBObjectStore, key) {
    this.transaction.addEventListener('complete', () => held.delete(JSON.stringify(key)))
    return remove.call(this, key)
  })
}

/** A run of four steps to its end. */
async function trained(openArchive: () => Promise<RunArchive>) {
  const page = open({}, openArchive)
  await page.configure({ max_steps: 4 })
  await page.untilState('finished', { type: 'train' })
  return { ...page, journal: page.journal as RunJournal }
}

it('where two checkpoints find no room, the newer one replaces the older', async () => {
  limitRoom({ most: 1, fits: () => true })
  const { journal, complaints, engines } = await trained(async () => archive)
  const [run] = await archive.list()
  expect(run).toMatchObject({ step: 4, checkpoint: 4, finished: true })
  const kept = await archive.checkpoint(run!.id)
  expect(kept?.state.parameters[0]?.data).toEqual((await engines[0]!.exportState()).parameters[0]?.data)
  expect(journal.unkept).toBeNull()
  expect(run?.droppedSteps).toBe(0)
  expect(complaints).toEqual([])
})

it('where the newer one finds no room even so, the older one stays, every step is counted, and the newest weights are in memory', async () => {
  limitRoom({ most: 9, fits: (step) => step === 1 })
  const { journal, complaints, records } = await trained(async () => archive)
  const [run] = await archive.list()
  expect(run).toMatchObject({ step: 4, checkpoint: 1, finished: true })
  expect((await archive.checkpoint(run!.id))?.step).toBe(1)
  expect((await archive.history(run!.id)).map(({ step }) => step)).toEqual(records().map(({ step }) => step))
  expect(complaints).toEqual([expect.stringMatching(/weights after step 2 could not be kept: .* full\. Delete kept runs or stored models, or take the .* away before you close the tab\.$/)])
  expect(journal.unkept).toMatchObject({ run: { id: run!.id, step: 4, checkpoint: 4 }, why: 'this browser’s storage for the page is full', checkpoint: { step: 4 } })
})

it('what is freed meanwhile is used: the newest weights are kept and are in memory alone no more', async () => {
  const room = { most: 9, fits: (step: number): boolean => step === 1 }
  limitRoom(room)
  const { journal } = await trained(async () => archive)
  room.fits = () => true
  await journal.save()
  expect(journal.unkept).toBeNull()
  expect(await archive.list()).toMatchObject([{ step: 4, checkpoint: 4 }])
})

it('a step of which not even the numbers were kept is kept once another run is deleted', async () => {
  const room = { most: 9, fits: () => true, full: false }
  limitRoom(room)
  const page = open({}, async () => archive)
  const journal = page.journal as RunJournal
  await page.configure({ max_steps: 4 })
  await page.untilState('paused', { type: 'step' })
  room.full = true
  await page.untilState('paused', { type: 'step' })
  await journal.save()
  expect(journal.unkept?.run.step).toBe(2)
  expect(await archive.list()).toMatchObject([{ step: 1, checkpoint: 1 }])
  room.full = false
  new RunDesk(async () => archive, journal, () => undefined).handle({ type: 'delete-run', id: 'another' })
  await vi.waitFor(async () => expect(await archive.list()).toMatchObject([{ step: 2, checkpoint: 2, droppedSteps: 1 }]), 30_000)
  expect(journal.unkept).toBeNull()
  expect(page.complaints).toHaveLength(1)
})

it('where the browser keeps nothing, the list names the loaded run as it is in memory, and why', async () => {
  const refused = () => Promise.reject(new DOMException('refused', 'SecurityError'))
  const { journal, complaints } = await trained(refused)
  const lists: Extract<Message, { type: 'runs' }>[] = []
  await new RunDesk(refused, journal, (message) => void (message.type === 'runs' && lists.push(message))).list()
  expect(lists).toMatchObject([{ runs: [], current: null, unkept: { run: { step: 4, checkpoint: 4 }, why: 'refused' } }])
  expect(journal.unkept?.missed.map(({ step }) => step)).toEqual([1, 2, 3, 4])
  expect(complaints).toEqual([expect.stringMatching(/last step could not be kept: refused\. Take the .* away before you close the tab\.$/)])
})

it('a browser without IndexedDB is a sentence', async () => {
  vi.stubGlobal('indexedDB', undefined)
  await expect(RunArchive.open('none')).rejects.toThrow('the browser offers no IndexedDB here')
})

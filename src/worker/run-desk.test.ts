/** Kept runs that go on in another tab: listed as such, and refused before anything is given up for them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunArchive } from './archive'
import { runRecord } from '../store/testing/kept'
import type { RunJournal } from './journal'
import { assertResumable } from './kept-run'
import type { Message } from './protocol'
import { RunDesk } from './run-desk'
import { takeRun } from './run-lock'
import { sharedLocks } from './testing/tabs'

const A = runRecord()
const B = runRecord({ id: 'run-b', name: 'catch', checkpoint: null })
const { locks, others } = sharedLocks()

beforeEach(() => {
  others.clear()
  vi.stubGlobal('navigator', { locks })
})
afterEach(() => vi.unstubAllGlobals())

/** The list that a desk of a tab tells; it is asked more than once. */
function desk() {
  const archive = { list: () => Promise.resolve([A, B]), get: (id: string) => Promise.resolve([A, B].find((run) => run.id === id)) } as unknown as RunArchive
  const lists: Extract<Message, { type: 'runs' }>[] = []
  const made = new RunDesk(() => Promise.resolve(archive), { current: null } as RunJournal, (message) => void (message.type === 'runs' && lists.push(message)))
  const held = async () => {
    await made.list()
    return lists.at(-1)?.held
  }
  return { archive, held }
}

describe('the list of runs', () => {
  it('names those that other tabs hold, and not this tab’s own', async () => {
    others.add('grpo-run-run-b')
    others.add('something else')
    const release = await takeRun('run-a')
    const { held } = desk()
    expect(await held()).toEqual(['run-b'])
    release?.()
    await vi.waitFor(() => expect(others.has('grpo-run-run-a')).toBe(false), 30_000)
    others.add('grpo-run-run-a')
    expect(await held()).toEqual(['run-b', 'run-a'])
  })

  it('is told first when a tab that was just left has let its run go', async () => {
    others.add('grpo-run-run-a')
    setTimeout(() => others.delete('grpo-run-run-a'), 50)
    expect(await desk().held()).toEqual([])
  })
})

describe('a run to go on with', () => {
  it('is refused with its reason where another tab has it, it is gone, or nothing of it is left to go on from', async () => {
    const { archive } = desk()
    await expect(assertResumable(archive, 'run-a')).resolves.toBeUndefined()
    await expect(assertResumable(archive, 'run-b')).rejects.toThrow('has no checkpoint')
    await expect(assertResumable(archive, 'run-c')).rejects.toThrow('not kept here any more')
    others.add('grpo-run-run-a')
    await expect(assertResumable(archive, 'run-a')).rejects.toThrow('"lane · tiny-qwen3" is open in another tab.')
    others.delete('grpo-run-run-a')
    await takeRun('run-a')
    await expect(assertResumable(archive, 'run-a')).resolves.toBeUndefined()
  })
})

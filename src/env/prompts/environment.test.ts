/** A dataset of prompts as an environment: every row once an epoch, some rows never, one answer and no judge. */
import { describe, expect, it } from 'vitest'
import type { Draw } from '../../core/environment'
import { promptsEnvironment, type SourceRows } from './environment'

const source = (count: number, more: Partial<SourceRows> = {}): SourceRows => ({
  rows: Array.from({ length: count }, (_, i) => ({ place: `line ${i + 1}`, row: { prompt: `question ${i}`, solution: String(i) } })),
  heldout: null,
  problems: [],
  more: false,
  ...more,
})

async function connected(rows: SourceRows, seed = 7) {
  const environment = promptsEnvironment({ name: 'sums', seed, system_prompt: '', read: () => Promise.resolve(rows) })
  await environment.connect()
  const solution = (draw: Draw) => environment.assign?.(draw).columns?.['solution']
  return { environment, solution, epoch: (from: number, count: number) => Array.from({ length: count }, (_, i) => solution({ seed: 0, split: 'train', prompt: from + i })) }
}

describe('promptsEnvironment', () => {
  it('gives each row once an epoch, in an order of its own that the seed decides', async () => {
    const { epoch } = await connected(source(20))
    const [first, second] = [epoch(0, 20), epoch(20, 20)]
    expect([...first].sort()).toEqual([...second].sort())
    expect(new Set(first).size).toBe(20)
    expect(second).not.toEqual(first)
    expect((await connected(source(20))).epoch(0, 20)).toEqual(first)
    expect((await connected(source(20), 8)).epoch(0, 20)).not.toEqual(first)
    // An earlier epoch again, as in a run that goes on.
    expect(epoch(3, 1)).toEqual([first[3]])
  })

  it('draws by the seed where a group is out of the order', async () => {
    const { solution } = await connected(source(20))
    const drawn = [1, 2, 3, 4, 5, 6].map((seed) => solution({ seed, split: 'train' }))
    expect(drawn).toEqual([1, 2, 3, 4, 5, 6].map((seed) => solution({ seed, split: 'train' })))
    expect(new Set(drawn).size).toBeGreaterThan(2)
  })

  it('holds out a tenth of a dataset that is large enough, the same whatever the seed, and repeated prompts with it', async () => {
    const many = source(400)
    const { environment, epoch, solution } = await connected({ ...many, rows: [...many.rows, ...many.rows] })
    const { rows = 0, heldOut = 0 } = environment.dataset ?? {}
    expect(environment.heldOut).toBe(true)
    expect(rows + heldOut).toBe(800)
    expect(heldOut).toBeGreaterThan(40)
    expect(heldOut).toBeLessThan(130)
    const held = Array.from({ length: heldOut }, (_, prompt) => solution({ seed: 0, split: 'heldout', prompt }))
    expect(new Set(held).size).toBe(heldOut / 2)
    const trained = new Set(epoch(0, rows))
    expect(held.some((one) => trained.has(one))).toBe(false)
    const other = await connected({ ...many, rows: [...many.rows, ...many.rows] }, 99)
    expect(other.solution({ seed: 0, split: 'heldout', prompt: 0 })).toBe(held[0])
  })

  it('holds nothing out of a small dataset, and takes the part that a source brings', async () => {
    const small = await connected(source(49))
    expect([small.environment.heldOut, small.environment.dataset?.rows]).toEqual([false, 49])
    expect(small.solution({ seed: 1, split: 'heldout', prompt: 0 })).toBeDefined()
    const split = await connected(source(3, { heldout: [{ place: 'row 1', row: { prompt: 'h', solution: 'held' } }] }))
    expect(split.environment.dataset).toMatchObject({ rows: 3, heldOut: 1, columns: ['solution'] })
    expect(split.solution({ seed: 5, split: 'heldout' })).toBe('held')
  })

  it('tells bad rows with their place and goes on with the others', async () => {
    const bad = source(2)
    const { environment } = await connected({ ...bad, rows: [...bad.rows, { place: 'line 3', row: { text: 'x' } }] })
    expect(environment.remarks).toEqual(['1 of 3 rows cannot be used. Line 3, prompt: The column "prompt" is missing; there is "text". Add "prompt", a text or a list of messages.'])
    const none = promptsEnvironment({ name: 'sums', seed: 0, system_prompt: '', read: () => Promise.resolve({ ...bad, rows: [{ place: 'line 1', row: { messages: [] } }] }) })
    await expect(none.connect()).rejects.toThrow('No row of sums can be used as a prompt.')
  })

  it('leaves out what is too long, counts it, and knows the longest of the rest', async () => {
    const rows = source(30)
    const long = { place: 'line 31', row: { prompt: 'x'.repeat(3000), solution: 'long' } }
    const { environment, epoch } = await connected({ ...rows, rows: [...rows.rows, long] })
    const tokens = (messages: readonly { content: string }[]) => messages.reduce((sum, { content }) => sum + content.length, 0)
    expect(environment.fit?.(tokens, 1000)).toBe('question 29'.length)
    expect(environment.remarks).toEqual(['1 of 31 rows of sums is left out: longer than the 1000 tokens that a prompt may have here.'])
    expect(environment.dataset?.rows).toBe(30)
    expect(epoch(0, 30)).not.toContain('long')
    expect(() => environment.fit?.(tokens, 5)).toThrow('Every prompt of sums is longer than 5 tokens.')
  })

  it('says nothing at reset, has no tools and gives no reward', async () => {
    const { environment } = await connected(source(2))
    const session = await environment.open()
    expect(await session.reset({ seed: 0, episode_id: 'e', split: 'train' })).toMatchObject({ text: '', reward: null, done: false })
    expect([environment.tools, environment.maxSessions, environment.rewardless, environment.episodeReward([])]).toEqual([[], Infinity, true, null])
  })
})

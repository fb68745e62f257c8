/** The archive over an IndexedDB in memory: what a dead tab leaves, quota, checkpoints that stay, truncation. */
import 'fake-indexeddb/auto'
import { deleteDB } from 'idb'
import { beforeEach, describe, expect, it } from 'vitest'
import { EPISODE_QUOTA, RunArchive, type Checkpoint } from './archive'
import { keptStep, runRecord, summary } from './testing/kept'

let count = 0
const open = (quota = EPISODE_QUOTA): Promise<RunArchive> => RunArchive.open(`archive-${count}`, quota)
beforeEach(() => {
  count++
})

const checkpoint = (step: number): Checkpoint => ({
  step,
  num_tokens: step * 10,
  state: { parameters: [{ name: 'a', dims: [2], data: Float32Array.of(step, -step) }], m: [Float32Array.of(0.1 * step, 0)], v: [Float32Array.of(step, step)], optimizerSteps: step, version: step },
})

/** A run of `steps` steps with a checkpoint each. */
async function filled(archive: RunArchive, steps: number, id = 'run') {
  let record = runRecord(id)
  for (let step = 1; step <= steps; step++) record = await archive.addStep(record, summary(step), keptStep(step), checkpoint(step))
  return record
}

describe('a kept run', () => {
  it('is there for another tab, bit for bit', async () => {
    await filled(await open(), 3)
    const other = await open()
    expect((await other.list()).map(({ id, step }) => [id, step])).toEqual([['run', 3]])
    expect(await other.checkpoint('run')).toMatchObject(checkpoint(3))
    expect(await other.history('run')).toEqual([1, 2, 3].map(summary))
    const steps = []
    for await (const step of other.episodes('run')) steps.push(step)
    expect(steps).toEqual([1, 2, 3].map((step) => keptStep(step)))
    expect(await other.checkpoint('other')).toBeNull()
  })

  it('keeps two checkpoints and counts its bytes', async () => {
    const archive = await open()
    const two = await filled(archive, 2)
    const five = await filled(await RunArchive.open(`more-${count}`), 5)
    // 24 bytes a checkpoint here: the three further steps brought episodes and numbers alone.
    const each = five.bytes / 5
    expect(two.bytes - 2 * 24).toBeCloseTo(2 * (each - (2 * 24) / 5), -1)
    expect(five.checkpoint).toBe(5)
  })

  it('is named by a person, also while a step is written from an older record', async () => {
    const archive = await open()
    const record = await filled(archive, 1)
    await archive.edit('run', { name: 'the good one', notes: 'lr 1e-3' })
    const written = await archive.addStep(record, summary(2), keptStep(2), null)
    expect(written).toMatchObject({ name: 'the good one', notes: 'lr 1e-3', step: 2, checkpoint: 1 })
  })

  it('goes back to its checkpoint: later steps are forgotten', async () => {
    const archive = await open()
    let record = await filled(archive, 2)
    for (const step of [3, 4]) record = await archive.addStep(record, summary(step), keptStep(step), null)
    await archive.edit('run', { evaluations: [{ step: 2, split: 'train', solved: 1, scorable: 2, reward: 0.5, precision: 'float32' }, { step: 4, split: 'train', solved: 2, scorable: 2, reward: 1, precision: 'float32' }] })
    const back = await archive.truncate('run', 2)
    expect(back).toMatchObject({ step: 2, checkpoint: 2, finished: false, evaluations: [{ step: 2 }] })
    expect((await archive.history('run')).map(({ step }) => step)).toEqual([1, 2])
    expect(back?.bytes).toBe((await filled(await RunArchive.open(`same-${count}`), 2)).bytes)
  })

  it('is deleted with all that belongs to it', async () => {
    const archive = await open()
    await filled(archive, 2)
    await filled(archive, 1, 'other')
    await archive.delete('run')
    expect((await archive.list()).map(({ id }) => id)).toEqual(['other'])
    expect(await archive.history('run')).toEqual([])
    expect(await archive.checkpoint('run')).toBeNull()
    expect(await archive.checkpoint('other')).not.toBeNull()
    expect(await archive.edit('run', { name: 'x' })).toBeNull()
  })
})

it('drops the oldest episodes beyond their quota, counts them, and keeps every number', async () => {
  const whole = (await filled(await RunArchive.open(`size-${count}`), 4)).episodeBytes ?? 0
  const archive = await open(whole * 0.7)
  const record = await filled(archive, 4)
  expect(record.droppedSteps).toBeGreaterThan(0)
  expect(record.droppedSteps).toBeLessThan(4)
  expect(record.episodeBytes).toBeLessThanOrEqual(whole * 0.7)
  const steps = []
  for await (const step of archive.episodes('run')) steps.push(step[0]?.step)
  expect(steps).toEqual([1, 2, 3, 4].slice(record.droppedSteps))
  expect(await archive.history('run')).toHaveLength(4)
})

it('gives no episodes up for a checkpoint that is larger than their quota', async () => {
  const archive = await open(20_000)
  let record = runRecord('run')
  for (let step = 1; step <= 3; step++) {
    const large = checkpoint(step)
    large.state.parameters[0] = { name: 'a', dims: [10_000], data: new Float32Array(10_000) }
    record = await archive.addStep(record, summary(step), keptStep(step), large)
  }
  expect(record.bytes).toBeGreaterThan(2 * 40_000)
  expect(record.droppedSteps).toBe(0)
})

it('counts steps whose episodes found no room, and forgets the count with them', async () => {
  const archive = await open()
  const record = await archive.addStep(await filled(archive, 1), summary(2), null, checkpoint(2))
  expect(record).toMatchObject({ step: 2, checkpoint: 2, droppedSteps: 1 })
  expect(await archive.truncate('run', 1)).toMatchObject({ step: 1, droppedSteps: 0 })
})

it('says when its connection is gone', async () => {
  let closed = 0
  const archive = await RunArchive.open(`closed-${count}`, EPISODE_QUOTA, () => closed++)
  await filled(archive, 1)
  await deleteDB(`closed-${count}`)
  expect(closed).toBe(1)
  await expect(archive.list()).rejects.toThrow()
})

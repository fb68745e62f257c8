/** Packing by its properties: whatever the batch, a trained token is predicted from exactly its own past. */

import { describe, expect, it } from 'vitest'
import type { TrainSequence } from '../core/engine'
import { RandomStream } from '../core/random'
import { type MicroBatch, microBatchArrays, microBatchIds, microBatchPlaces, packBatch, PADDING_BRANCH, type PackingOptions } from './packing'

const linear: PackingOptions = { tokenBudget: 64, multiple: 8, batchSizes: [1, 2, 4, 8], cost: (tokens) => tokens }
/** So steep that no two sequences share a row. */
const steep: PackingOptions = { ...linear, cost: (tokens) => tokens ** 9 }

const range = (n: number, from = 0): number[] => Array.from({ length: n }, (_, i) => from + i)

/** A prompt that is not trained, and a completion by a mask of 0 and 1. */
function sequence(prompt: readonly number[], completion: readonly number[], mask = completion.map(() => 1)): TrainSequence {
  return { ids: [...prompt, ...completion], mask: [...prompt.map(() => 0), ...mask], promptLength: prompt.length }
}

/** Groups behind common prompts, lone sequences, several turns, some with nothing to train on. */
function randomBatch(seed: number): TrainSequence[] {
  const random = new RandomStream(seed)
  const ids = (n: number): number[] => Array.from({ length: n }, () => random.int(50))
  const out: TrainSequence[] = []
  const system = ids(random.int(20))
  for (let group = 0; group < 3; group++) {
    const prompt = [...system, ...ids(1 + random.int(12))]
    for (let k = random.int(4); k >= 0; k--) {
      const completion = ids(random.int(14))
      const wrote = random.next() < 0.15 ? () => 0 : () => (random.next() < 0.7 ? 1 : 0)
      out.push(sequence(prompt, completion, completion.map(wrote)))
    }
  }
  return out
}

/** Ids and positions that row position `at` may see, in order, read from the arrays that the engine uses. */
function visible({ ids, positions, bias }: ReturnType<typeof microBatchArrays> & { ids: Int32Array }, tokens: number, row: number, at: number): number[][] {
  const seen = range(tokens).filter((j) => bias[(row * tokens + at) * tokens + j] === 0)
  return [seen.map((j) => ids[row * tokens + j] as number), seen.map((j) => Number(positions[row * tokens + j]))]
}

function expectRight(batch: readonly TrainSequence[], plan: readonly MicroBatch[], options: PackingOptions): void {
  const seen: string[] = []
  const whole: number[] = []
  for (const micro of plan) {
    const { batch: rows, tokens } = micro
    expect(options.batchSizes).toContain(rows)
    expect(micro.rows).toHaveLength(rows)
    expect(tokens % options.multiple).toBe(0)
    if (rows > 1) expect(rows * tokens).toBeLessThanOrEqual(options.tokenBudget)
    expect(micro.sequences).toEqual([...micro.sequences].sort((a, b) => a - b))
    whole.push(...micro.sequences)
    const arrays = { ids: microBatchIds(micro), ...microBatchArrays(micro) }
    expect([...new Set(arrays.bias)].filter((value) => value !== 0 && value !== Math.fround(-1e9))).toEqual([])
    micro.rows.forEach((row, r) => {
      expect(row.ids.length).toBeLessThanOrEqual(tokens)
      for (const { sequence: s, token, at, target } of row.heads) {
        const { ids } = batch[s] as TrainSequence
        expect(micro.sequences).toContain(s)
        expect(target).toBe(ids[token])
        expect(visible(arrays, tokens, r, at)).toEqual([ids.slice(0, token), range(token)])
        seen.push(`${s}:${token}`)
      }
      for (let at = row.ids.length; at < tokens; at++) expect(visible(arrays, tokens, r, at)[0]).toHaveLength(1)
    })
  }
  const wanted = batch.flatMap(({ mask }, s) => mask.flatMap((m, t) => (m === 1 ? [`${s}:${t}`] : [])))
  expect(seen.sort()).toEqual(wanted.sort())
  // `accumulate` hands a sequence to the loss once.
  expect(new Set(whole).size).toBe(whole.length)
}

describe('a plan', () => {
  it.each(range(12))('of random batch %i predicts every trained token once, from its own past alone', (seed) => {
    const batch = randomBatch(seed)
    for (const options of [linear, steep, { ...linear, tokenBudget: 1 }, { ...linear, multiple: 32, tokenBudget: 4096 }]) {
      expectRight(batch, packBatch(batch, options), options)
    }
  })

  it('is a function of the batch', () => {
    for (const seed of range(3)) expect(packBatch(randomBatch(seed), linear)).toEqual(packBatch(structuredClone(randomBatch(seed)), linear))
  })

  it('of nothing is empty', () => {
    expect(packBatch([], linear)).toEqual([])
    expect(packBatch([sequence(range(5), range(3), [0, 0, 0])], linear)).toEqual([])
  })
})

describe('a common beginning', () => {
  const prompt = range(20)
  const group = [sequence(prompt, [30, 31, 32]), sequence(prompt, [40, 41]), sequence(prompt, [50, 51, 52, 53])]

  it('stands in a row once, all but its last token', () => {
    const [micro, ...rest] = packBatch(group, linear)
    expect(rest).toEqual([])
    // 19 shared; the last prompt token predicts the first of each completion; the last completion token is a target only.
    expect(micro?.rows[0]?.ids).toHaveLength(19 + 3 + 2 + 4)
    expect(micro?.rows[0]?.branches.filter((branch) => branch === 0)).toHaveLength(19)
    expectRight(group, packBatch(group, linear), linear)
  })

  it('is copied where rows would grow too dear', () => {
    const plan = packBatch(group, steep)
    expect(plan.flatMap(({ rows }) => rows)).toHaveLength(3)
    expectRight(group, plan, steep)
  })

  it('under eight tokens is not worth a branch', () => {
    const rowsWith = (shared: number): number => {
      // The predictor of the first completion token is never shared.
      const pair = [sequence(range(shared + 1), [60, 61]), sequence(range(shared + 1), [70, 71])]
      return packBatch(pair, linear).flatMap(({ rows }) => rows).length
    }
    expect([rowsWith(7), rowsWith(8)]).toEqual([2, 1])
  })

  it('ends where the sequences part', () => {
    const pair = [sequence([...range(10), 90, 91], [1, 2]), sequence([...range(10), 80, 81], [1, 2])]
    const row = packBatch(pair, linear)[0]?.rows[0]
    expect(row?.branches.filter((branch) => branch === 0)).toHaveLength(10)
    expectRight(pair, packBatch(pair, linear), linear)
  })

  it('of a later turn is not shared: what the model wrote is trained in each', () => {
    const twins = [sequence(range(10), range(9, 30)), sequence(range(10), range(9, 30))]
    const row = packBatch(twins, linear)[0]?.rows[0]
    expect(row?.heads).toHaveLength(18)
    expectRight(twins, packBatch(twins, linear), linear)
  })

  it('of three is the shortest of the pairs’', () => {
    const three = [sequence(range(16), [60]), sequence([...range(12), 91, 92, 93, 94], [61]), sequence([...range(9), 81, 82, 83, 84, 85], [62])]
    expectRight(three, packBatch(three, linear), linear)
  })

  it('reaches over sequences that train nothing', () => {
    const batch = [group[0] as TrainSequence, sequence(prompt, [1], [0]), group[1] as TrainSequence]
    const plan = packBatch(batch, linear)
    expect(plan.map(({ sequences }) => sequences)).toEqual([[0, 2]])
    expectRight(batch, plan, linear)
  })
})

describe('micro-batches', () => {
  const lone = range(8).map((i) => sequence(range(5, 100 * i), range(8, 100 * i + 50)))

  it('fill the budget with the largest batch that fits', () => {
    const sizes = (tokenBudget: number): number[] => packBatch(lone, { ...linear, tokenBudget }).map(({ batch }) => batch)
    // 12 tokens, padded to 16.
    expect(sizes(8 * 16)).toEqual([8])
    expect(sizes(8 * 16 - 1)).toEqual([4, 4])
    expect(sizes(32)).toEqual([2, 2, 2, 2])
    expect(sizes(15)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
  })

  it('use the sizes that there are graphs for', () => {
    expect(packBatch(lone.slice(0, 7), { ...linear, tokenBudget: 1e6 }).map(({ batch }) => batch)).toEqual([4, 2, 1])
  })

  it('leave a row longer than the budget alone', () => {
    const batch = [sequence(range(3), [1]), sequence(range(100), [1]), sequence(range(3, 50), [1])]
    expect(packBatch(batch, linear).map(({ batch: rows, tokens }) => [rows, tokens])).toEqual([[1, 8], [1, 104], [1, 8]])
  })
})

it('makes no row of several sequences longer than the budget, however cheap it would be', () => {
  const cheap: PackingOptions = { ...linear, tokenBudget: 64, cost: (tokens) => Math.sqrt(tokens) }
  const prompt = range(40)
  const group = Array.from({ length: 8 }, (_, k) => sequence(prompt, range(12, 100 * k)))
  const micro = packBatch(group, cheap)
  for (const { rows } of micro) {
    for (const row of rows) expect(row.ids.length <= 64 || new Set(row.heads.map((head) => head.sequence)).size === 1).toBe(true)
  }
  // Two members fit: 40 − 1 shared and twice 12.
  expect(Math.max(...micro.flatMap(({ rows }) => rows.map((row) => new Set(row.heads.map((head) => head.sequence)).size)))).toBeGreaterThan(1)
  const [alone] = packBatch([sequence(prompt, range(60))], cheap)
  expect(alone?.rows[0]?.ids.length).toBe(99)
})

it('places say who sees whom as the bias does, and hold the same positions', () => {
  for (let seed = 0; seed < 20; seed++) {
    for (const micro of packBatch(randomBatch(seed), linear)) {
      const { batch, tokens } = micro
      const { bias, positions } = microBatchArrays(micro)
      const places = microBatchPlaces(micro)
      expect(Array.from({ length: batch * tokens }, (_, at) => places[2 * at])).toEqual(Array.from(positions, Number))
      const branch = (at: number): number => places[2 * at + 1] as number
      for (let at = 0; at < batch * tokens; at++) {
        const first = at - (at % tokens)
        const seen = range(tokens).map((j) => first + j).filter((j) => j === at || (j < at && branch(at) !== PADDING_BRANCH && [0, branch(at)].includes(branch(j))))
        expect(seen).toEqual(range(tokens).filter((j) => bias[at * tokens + j] === 0).map((j) => first + j))
      }
    }
  }
})

/** The head against the same formulas in float64, its hand-written backward pass against differences, the samplers by value. */

import { describe, expect, it } from 'vitest'
import { RandomStream } from '../core/random'
import { Graph, type Value } from '../graph/graph'
import { type Numbers, runnable } from '../runtime/testing/run-graph'
import { parseModelConfig } from './config'
import { headBackward, headForward, headSample, headSampleFiltered } from './head'
import { QWEN3_06B } from './testing/configs'

const [HIDDEN, VOCAB, ROWS] = [6, 9, 5]
const config = (vocab: number) => parseModelConfig({ ...QWEN3_06B, vocab_size: vocab })
const epsilon = QWEN3_06B.rms_norm_eps

function numbers(seed: number, n: number, size = 1): Float32Array {
  const random = new RandomStream(seed)
  return Float32Array.from({ length: n }, () => size * random.normal())
}

const x = numbers(1, ROWS * HIDDEN)
const norm = numbers(2, HIDDEN).map((w) => 1 + 0.3 * w)
const table = numbers(3, VOCAB * HIDDEN)
const target = Int32Array.of(0, 8, 3, 3, 5)
const inverseTemperature = 1 / 0.7
const [dLogprob, dEntropy] = [numbers(4, ROWS), numbers(5, ROWS)]

interface Scores {
  logprob: number
  entropy: number
  lse: number
  argmax: number
  meanLogit: number
}

/** One row in float64. */
function score(row: ArrayLike<number>, weight: ArrayLike<number>, head: ArrayLike<number>, goal: number): Scores {
  const values = Array.from(row)
  const r = 1 / Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / values.length + epsilon)
  const hidden = values.map((v, i) => v * r * (weight[i] as number))
  const logits = Array.from({ length: VOCAB }, (_, k) => inverseTemperature * hidden.reduce((sum, h, i) => sum + h * (head[k * HIDDEN + i] as number), 0))
  const max = Math.max(...logits)
  const lse = max + Math.log(logits.reduce((sum, z) => sum + Math.exp(z - max), 0))
  return {
    logprob: (logits[goal] as number) - lse,
    entropy: -logits.reduce((sum, z) => sum + Math.exp(z - lse) * (z - lse), 0),
    lse,
    argmax: logits.indexOf(max),
    meanLogit: logits.reduce((a, b) => a + b) / VOCAB,
  }
}

const rowsOf = (all: ArrayLike<number>): number[][] => Array.from({ length: ROWS }, (_, r) => Array.from(all).slice(r * HIDDEN, (r + 1) * HIDDEN))
const reference = rowsOf(x).map((row, r) => score(row, norm, table, target[r] as number))

function declare(g: Graph, vocab = VOCAB, hidden = HIDDEN) {
  return {
    x: g.input('x', 'float32', ['rows', hidden]),
    norm: g.input('norm', 'float32', [hidden]),
    table: g.input('table', 'float32', [vocab, hidden]),
    inverseTemperature: g.input('inverse_temperature', 'float32', []),
  }
}

describe('headForward', () => {
  it('is log-softmax, entropy, log-sum-exp, argmax and mean of the scaled logits', async () => {
    const g = new Graph('g')
    const scores = headForward({ ...declare(g), target: g.input('target', 'int32', ['rows']) }, config(VOCAB))
    Object.entries(scores).forEach(([name, value]) => g.output(name, value as Value))
    const session = await runnable(g)
    const out = await session.run({ x, norm, table, inverse_temperature: Float32Array.of(inverseTemperature), target }, { x: [ROWS, HIDDEN], target: [ROWS] })
    await session.release()
    for (const name of ['logprob', 'entropy', 'lse', 'meanLogit', 'argmax'] as const) {
      reference.forEach((row, r) => expect(Math.abs(Number(out[name]?.data[r]) - row[name]), `${name} ${r}`).toBeLessThan(5e-6))
    }
  })
})

describe('headBackward', () => {
  it.each([true, false])('is the slope of Σ a·log-prob + b·entropy (table and norm too: %s)', async (full) => {
    const g = new Graph('g')
    const row = (name: string): Value => g.input(name, 'float32', ['rows'])
    const inputs = { ...declare(g), target: g.input('target', 'int32', ['rows']), lse: row('lse'), entropy: row('entropy'), dLogprob: row('a'), dEntropy: row('b') }
    const { dx, dNorm, dTable } = headBackward(inputs, config(VOCAB), full)
    g.output('dx', dx)
    expect(dNorm === null && dTable === null).toBe(!full)
    if (dNorm && dTable) {
      g.output('dNorm', dNorm)
      g.output('dTable', dTable)
    }
    const session = await runnable(g)
    const [lse, entropy] = [Float32Array.from(reference, (s) => s.lse), Float32Array.from(reference, (s) => s.entropy)]
    const feeds: Record<string, Numbers> = { x, norm, table, inverse_temperature: Float32Array.of(inverseTemperature), target, lse, entropy, a: dLogprob, b: dEntropy }
    const rows = Object.fromEntries(['target', 'lse', 'entropy', 'a', 'b'].map((name) => [name, [ROWS]]))
    const out = await session.run(feeds, { ...rows, x: [ROWS, HIDDEN] })
    await session.release()

    const point = { dx: Float64Array.from(x), dNorm: Float64Array.from(norm), dTable: Float64Array.from(table) }
    const loss = (): number =>
      rowsOf(point.dx).reduce((sum, values, r) => {
        const { logprob, entropy: h } = score(values, point.dNorm, point.dTable, target[r] as number)
        return sum + (dLogprob[r] as number) * logprob + (dEntropy[r] as number) * h
      }, 0)
    for (const name of full ? (['dx', 'dNorm', 'dTable'] as const) : (['dx'] as const)) {
      const at = point[name]
      const got = out[name]?.data as Float32Array
      expect(got).toHaveLength(at.length)
      at.forEach((value, i) => {
        at[i] = value + 1e-5
        const up = loss()
        at[i] = value - 1e-5
        const slope = (up - loss()) / 2e-5
        at[i] = value
        expect(Math.abs((got[i] as number) - slope), `${name}[${i}]`).toBeLessThan(2e-5 * Math.max(1, Math.abs(slope)))
      })
    }
  })
})

/** One draw a uniform from the given logits: with a hidden state of one number the table is the logits. */
async function draw(logits: readonly number[], uniforms: readonly number[], filters?: { k?: number; p?: number; min?: number }) {
  const g = new Graph('g')
  const inputs = { ...declare(g, logits.length, 1), uniform: g.input('uniform', 'float32', ['rows']) }
  const scalar = (name: string): Value => g.input(name, 'float32', [])
  const sampler = filters
    ? headSampleFiltered({ ...inputs, topK: scalar('k'), topP: scalar('p'), minP: scalar('min') }, config(logits.length))
    : headSample(inputs, config(logits.length))
  Object.entries(sampler).forEach(([name, value]) => g.output(name, value as Value))
  const session = await runnable(g)
  const one = Float32Array.of(1)
  const feeds = {
    x: new Float32Array(uniforms.length).fill(1), norm: one, table: Float32Array.from(logits), inverse_temperature: one, uniform: Float32Array.from(uniforms),
    ...(filters ? { k: Float32Array.of(filters.k ?? logits.length), p: Float32Array.of(filters.p ?? 1), min: Float32Array.of(filters.min ?? 0) } : {}),
  }
  const out = await session.run(feeds, { x: [uniforms.length, 1], uniform: [uniforms.length] })
  await session.release()
  const width = (out.topId?.data.length ?? 0) / uniforms.length
  const numbersOf = (name: string): number[] => Array.from(out[name]?.data ?? [], Number)
  const [choice, topId] = [numbersOf('choice'), numbersOf('topId')]
  return {
    ids: choice.map((c, row) => (filters ? (topId[row * width + c] as number) : c)),
    logprob: numbersOf('logprob'), entropy: numbersOf('entropy'), topProb: numbersOf('topProb'), topId, width,
  }
}

const logits = [1, -0.5, 2, 0, 1.5, -2, 0.3]
const total = logits.reduce((sum, z) => sum + Math.exp(z), 0)
const probs = logits.map((z) => Math.exp(z) / total)
const even = (n: number): number[] => Array.from({ length: n }, (_, i) => (i + 0.5) / n)
const LAST = 1 - 2 ** -24

function counts(ids: readonly number[], n = logits.length): number[] {
  const out = new Array<number>(n).fill(0)
  for (const id of ids) out[id] = (out[id] as number) + 1
  return out
}

/** The id whose share of the running sum holds u. */
function inverse(u: number, shares: readonly number[]): number {
  let running = 0
  return shares.findIndex((share) => (running += share) > u)
}

describe('headSample', () => {
  it('draws from the softmax: chi-square over 8000 fixed uniforms', async () => {
    const random = new RandomStream(17)
    const { ids } = await draw(logits, Array.from({ length: 8000 }, () => random.next()))
    const chi = counts(ids).reduce((sum, n, i) => sum + (n - 8000 * (probs[i] as number)) ** 2 / (8000 * (probs[i] as number)), 0)
    // 6 degrees of freedom: above 22.5 once in a thousand.
    expect(chi).toBeLessThan(22.5)
    expect(chi).toBeGreaterThan(0.1)
  })

  it('is the inverse of the cumulative distribution', async () => {
    const uniforms = even(997)
    const { ids } = await draw(logits, uniforms)
    expect(ids).toEqual(uniforms.map((u) => inverse(u, probs)))
  })

  it('at u = 0 is the first token that can be drawn, at u → 1 the last', async () => {
    expect((await draw(logits, [0, LAST])).ids).toEqual([0, 6])
    const dead = [-300, -300, ...logits, -300, -300]
    const { ids, logprob } = await draw(dead, [0, 1e-7, 0.5, LAST])
    expect(ids).toEqual([2, 2, 2 + inverse(0.5, probs), 8])
    expect(logprob.every(Number.isFinite)).toBe(true)
  })

  it('gives log-prob, entropy and the five likeliest of the same distribution', async () => {
    const { ids, logprob, entropy, topProb, topId } = await draw(logits, even(4))
    const order = [...probs.keys()].sort((a, b) => (probs[b] as number) - (probs[a] as number)).slice(0, 5)
    const h = -probs.reduce((sum, p) => sum + p * Math.log(p), 0)
    ids.forEach((id, row) => {
      expect(logprob[row]).toBeCloseTo(Math.log(probs[id] as number), 5)
      expect(entropy[row]).toBeCloseTo(h, 5)
      expect(topId.slice(row * 5, row * 5 + 5)).toEqual(order)
      topProb.slice(row * 5, row * 5 + 5).forEach((p, k) => expect(p).toBeCloseTo(probs[order[k] as number] as number, 6))
    })
  })

  it('bears logits of hundreds', async () => {
    const { ids, logprob, entropy } = await draw([300, -300, 299, 0, 298, 100], [0, 0.5, 0.9, LAST])
    expect(ids).toEqual([0, 0, 2, 4])
    expect([...logprob, ...entropy].every(Number.isFinite)).toBe(true)
  })

  it('draws from a single token as if it were certain', async () => {
    expect((await draw([0, 0, 500, 0, 0], [0, 0.3, LAST])).ids).toEqual([2, 2, 2])
  })
})

describe('over a large vocabulary, in two levels,', () => {
  // No multiple of its root, with stretches that cannot be drawn at both ends, in the middle and over a whole block.
  const n = 5003
  const random = new RandomStream(29)
  const wide = Array.from({ length: n }, (_, i) => (i < 130 || i > 4900 || (i > 2000 && i < 2200) || i % 7 === 0 ? -300 : 1.5 * random.normal()))
  const mass = wide.reduce((sum, z) => sum + Math.exp(z), 0)
  const shares = wide.map((z) => Math.exp(z) / mass)

  it('headSample is the inverse of the cumulative distribution', async () => {
    const uniforms = even(500)
    const { ids, logprob } = await draw(wide, uniforms)
    const cumulative = shares.reduce<number[]>((all, p) => [...all, (all[all.length - 1] ?? 0) + p], [])
    ids.forEach((id, row) => {
      const u = uniforms[row] as number
      expect(shares[id]).toBeGreaterThan(1e-30)
      // Within what float32 sums over thousands of buckets leave open.
      expect((cumulative[id] as number) - u).toBeGreaterThan(-2e-6)
      expect(u - ((cumulative[id] as number) - (shares[id] as number))).toBeGreaterThan(-2e-6)
      expect(logprob[row]).toBeCloseTo(Math.log(shares[id] as number), 4)
    })
  })

  it('headSample draws no token without probability, at the ends neither', async () => {
    const { ids } = await draw(wide, [0, 1e-7, LAST])
    const first = shares.findIndex((p) => p > 1e-30)
    expect(ids[0]).toBe(first)
    expect(ids[1]).toBe(first)
    expect(ids[2]).toBeGreaterThan(4890)
    expect(shares[ids[2] as number]).toBeGreaterThan(1e-30)
    const single = wide.map((_, i) => (i === 2345 ? 500 : 0))
    expect((await draw(single, [0, 0.5, LAST])).ids).toEqual([2345, 2345, 2345])
  })

  it('headSampleFiltered keeps to its nucleus', async () => {
    const order = [...shares.keys()].sort((a, b) => (shares[b] as number) - (shares[a] as number))
    const { ids, width } = await draw(wide, [0, ...even(200), LAST], { k: 3 })
    expect(width).toBe(1024)
    expect([...new Set(ids)].sort()).toEqual(order.slice(0, 3).sort())
    expect((await draw(wide, [0, LAST], { p: 1e-6 })).ids).toEqual([order[0], order[0]])
  })
})

describe('headSampleFiltered', () => {
  const uniforms = [0, ...even(400), LAST]
  const kept = (ids: number[]): number[] => [...new Set(ids)].sort((a, b) => a - b)

  it.each([{ k: 1 }, { p: 1e-6 }, { min: 1 }])('%j leaves the likeliest alone', async (filters) => {
    const { ids, logprob } = await draw(logits, uniforms, filters)
    expect(kept(ids)).toEqual([2])
    // Its log-prob is that of the whole distribution.
    for (const value of logprob) expect(value).toBeCloseTo(Math.log(probs[2] as number), 5)
  })

  it('takes one of two equals at top_k = 1', async () => {
    const { ids } = await draw([0, 2, 1, 2, 0], uniforms, { k: 1 })
    expect(kept(ids)).toHaveLength(1)
    expect([1, 3]).toContain(ids[0])
  })

  it.each<[{ k?: number; p?: number; min?: number }, number[]]>([
    [{ k: 3 }, [0, 2, 4]],
    [{ k: 100 }, [0, 1, 2, 3, 4, 5, 6]],
    // Sorted: 2 (0.40), 4 (0.24), 0 (0.15), 6 (0.07), 3 (0.05), …: the nucleus ends with the token that reaches p.
    [{ p: 0.3 }, [2]],
    [{ p: 0.5 }, [2, 4]],
    [{ p: 0.7 }, [0, 2, 4]],
    // Of the likeliest's 0.40.
    [{ min: 0.5 }, [2, 4]],
    [{ min: 0.3 }, [0, 2, 4]],
    // top-k first; top-p on what is left: 0.40 and 0.24 of 0.79.
    [{ k: 3, p: 0.75 }, [2, 4]],
    [{ k: 3, min: 0.5 }, [2, 4]],
  ])('%j keeps %j, in their proportions', async (filters, expected) => {
    const { ids, logprob } = await draw(logits, uniforms, filters)
    expect(kept(ids)).toEqual(expected)
    const mass = expected.reduce((sum, id) => sum + (probs[id] as number), 0)
    counts(ids).forEach((n, id) => {
      if (expected.includes(id)) expect(Math.abs(n / uniforms.length - (probs[id] as number) / mass)).toBeLessThan(0.01)
    })
    ids.forEach((id, row) => expect(logprob[row]).toBeCloseTo(Math.log(probs[id] as number), 5))
  })

  it('carries the five likeliest of the whole distribution', async () => {
    const { topProb, topId, width } = await draw(logits, [0.5], { k: 1 })
    expect(width).toBe(7)
    expect(topId.slice(0, 5)).toEqual([2, 4, 0, 6, 3])
    topProb.forEach((p, k) => expect(p).toBeCloseTo(probs[topId[k] as number] as number, 6))
  })
})

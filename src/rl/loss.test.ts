/** The loss against TRL's own numbers, finite differences, and every way of splitting a batch. */
import { describe, expect, it } from 'vitest'
import type { LossType } from '../core/config'
import { RandomStream } from '../core/random'
import { advantages } from './advantages'
import { lossNormalizer, policyLoss, trainingMask, type LossOptions, type PolicySequence } from './loss'
import { updateMetrics } from './metrics'

const LOSS_TYPES: LossType[] = ['grpo', 'bnpo', 'dr_grpo', 'dapo']

const options = (change: Partial<LossOptions> = {}): LossOptions => ({
  loss_type: 'dapo',
  epsilon: 0.2,
  epsilon_high: null,
  beta: 0,
  max_completion_length: 8,
  ...change,
})

/** TRL's `_compute_loss` was run on this input. */
const GOLDEN = {
  logprobs: [
    [-1.0, -0.5, -2.0, -0.1],
    [-0.7, -1.2, -0.3, -9.0],
  ],
  sequences: [
    { mask: [1, 1, 0, 1], advantage: 1.5, oldLogprobs: [-1.1, -0.9, -1.5, -0.1], refLogprobs: [-1.2, -0.4, -1.8, -0.3] },
    { mask: [1, 1, 0, 0], advantage: -0.5, oldLogprobs: [-0.5, -1.6, -0.3, -9.0], refLogprobs: [-0.9, -1.0, -0.3, -8.0] },
  ] satisfies PolicySequence[],
}

function run(sequences: PolicySequence[], logprobs: number[][], settings: LossOptions) {
  const normalizer = lossNormalizer(sequences.map((s) => s.mask), settings)
  return policyLoss(sequences, logprobs, normalizer, settings)
}

describe('policyLoss against TRL', () => {
  const plain = [-0.331551, 0, -0.3, 0.081873, 0.149182]
  const rows: [Partial<LossOptions>, number, number[], number | null][] = [
    [{ loss_type: 'grpo' }, -0.537473, [-0.276293, 0, -0.25, 0.102341, 0.186478], null],
    [{ loss_type: 'bnpo' }, -0.760496, plain, null],
    [{ loss_type: 'dr_grpo' }, -0.237655, [-0.10361, 0, -0.09375, 0.025585, 0.04662], null],
    [{ loss_type: 'dapo' }, -0.760496, plain, null],
    [{ loss_type: 'dapo', epsilon_high: 0.28 }, -0.784496, plain, null],
    [{ loss_type: 'dapo', beta: 0.04 }, -0.759834, [-0.330101, -0.000841, -0.29855, 0.083323, 0.147411], 0.016553],
  ]
  it.each(rows)('%j', (change, loss, gradient, kl) => {
    const result = run(GOLDEN.sequences, GOLDEN.logprobs, options(change))
    expect(result.loss).toBeCloseTo(loss, 6)
    const [a, b] = result.dLogprobs as [Float64Array, Float64Array]
    ;[a[0], a[1], a[3], b[0], b[1]].forEach((value, i) => expect(value).toBeCloseTo(gradient[i] as number, 6))
    expect([a[2], b[2], b[3]]).toEqual([0, 0, 0])

    const entropies = [1.0 + 0.2 + 0.4, 0.9 + 1.5]
    const metrics = updateMetrics([
      {
        loss: result.loss,
        grad_norm: 1,
        learning_rate: 1,
        sequences: result.statistics.map((s, i) => ({ ...s, entropy: entropies[i] as number })),
      },
    ])
    expect(metrics['entropy']).toBeCloseTo(0.8, 12)
    expect(metrics['clip_ratio/high_mean']).toBeCloseTo(0.2, 12)
    expect(metrics['clip_ratio/low_mean']).toBe(0)
    expect(metrics['clip_ratio/region_mean']).toBeCloseTo(0.2, 12)
    expect(metrics['clip_ratio/high_max']).toBeCloseTo(1 / 3, 12)
    if (kl === null) expect('kl' in metrics).toBe(false)
    else expect(metrics['kl']).toBeCloseTo(kl, 6)
  })
})

function randomBatch(seed: number, count: number): { sequences: PolicySequence[]; logprobs: number[][] } {
  const random = new RandomStream(seed)
  const logprobs: number[][] = []
  const sequences = Array.from({ length: count }, (): PolicySequence => {
    const length = 2 + random.int(9)
    const draw = () => Array.from({ length }, () => -3 * random.next() - 0.05)
    const oldLogprobs = draw()
    logprobs.push(oldLogprobs.map((old) => old + 1.2 * (random.next() - 0.5)))
    return { mask: oldLogprobs.map(() => (random.next() < 0.6 ? 1 : 0)), advantage: random.normal(), oldLogprobs, refLogprobs: draw() }
  })
  return { sequences, logprobs }
}

const SETTINGS = LOSS_TYPES.flatMap((loss_type) =>
  [0, 0.1].flatMap((beta) => [null, 0.28].map((epsilon_high) => options({ loss_type, beta, epsilon_high, max_completion_length: 10 }))),
)

describe('derivatives', () => {
  it.each(SETTINGS)('equal finite differences: %j', (settings) => {
    const { sequences, logprobs } = randomBatch(1, 8)
    const { dLogprobs } = run(sequences, logprobs, settings)
    const h = 1e-6
    let clipped = 0
    let trained = 0
    logprobs.forEach((row, s) =>
      row.forEach((value, t) => {
        const at = (x: number) => run(sequences, logprobs.map((r, i) => (i === s ? r.map((v, j) => (j === t ? x : v)) : r)), settings).loss
        const analytic = dLogprobs[s]?.[t] as number
        expect(analytic).toBeCloseTo((at(value + h) - at(value - h)) / (2 * h), 7)
        if (sequences[s]?.mask[t] === 1) {
          trained++
          if (analytic === 0) clipped++
        } else expect(analytic).toBe(0)
      }),
    )
    // The check would be empty if no token were clipped or all were.
    expect(trained).toBeGreaterThan(20)
    if (settings.beta === 0) expect(clipped).toBeGreaterThan(3)
    expect(clipped).toBeLessThan(trained / 2)
  })

  it('takes the ratio as exactly 1 without old log-probs', () => {
    const { sequences, logprobs } = randomBatch(2, 5)
    const fresh = run(sequences.map((s) => ({ ...s, oldLogprobs: null })), logprobs, options())
    const same = run(sequences.map((s, i) => ({ ...s, oldLogprobs: logprobs[i] as number[] })), logprobs, options())
    expect(fresh).toEqual(same)
  })

  it('is exactly zero when all rewards are equal and beta is 0', () => {
    const { sequences, logprobs } = randomBatch(3, 6)
    const zero = advantages([0.1, 0.1, 0.1, 0.7, 0.7, 0.7], 3, 'group')
    for (const loss_type of LOSS_TYPES) {
      const result = run(sequences.map((s, i) => ({ ...s, advantage: zero[i] as number })), logprobs, options({ loss_type }))
      expect(result.dLogprobs.every((row) => row.every((x) => x === 0))).toBe(true)
    }
  })
})

describe('micro-batches', () => {
  it.each(SETTINGS)('add up to the whole step however it is divided: %j', (settings) => {
    const { sequences, logprobs } = randomBatch(4, 7)
    const normalizer = lossNormalizer(sequences.map((s) => s.mask), settings)
    const whole = policyLoss(sequences, logprobs, normalizer, settings)
    const splits = [[[0], [1], [2], [3], [4], [5], [6]], [[0, 1, 2], [3, 4, 5, 6]], [[6, 2], [0, 5, 3], [1, 4]]]
    for (const parts of splits) {
      let loss = 0
      for (const part of parts) {
        const result = policyLoss(
          part.map((i) => sequences[i] as PolicySequence),
          part.map((i) => logprobs[i] as number[]),
          normalizer,
          settings,
        )
        loss += result.loss
        part.forEach((i, k) =>
          result.dLogprobs[k]?.forEach((x, t) => expect(Math.abs(x - (whole.dLogprobs[i]?.[t] as number))).toBeLessThan(1e-12)),
        )
      }
      expect(Math.abs(loss - whole.loss)).toBeLessThan(1e-12)
    }
  })
})

describe('guards', () => {
  it('needs reference log-probs for a KL term', () => {
    const { sequences, logprobs } = randomBatch(5, 1)
    const without = sequences.map((s) => ({ ...s, refLogprobs: null }))
    expect(() => run(without, logprobs, options({ beta: 0.1 }))).toThrow('no reference log-probs')
  })

  it('clamps empty denominators to 1 instead of dividing by 0', () => {
    for (const loss_type of LOSS_TYPES) {
      const result = run([{ mask: [0, 0], advantage: 1, oldLogprobs: null, refLogprobs: null }], [[0, 0]], options({ loss_type }))
      expect(result.loss).toBe(0)
    }
  })

  it('masks truncated completions only when asked', () => {
    const cut = { mask: [0, 1, 1] as (0 | 1)[], terminated: false }
    expect(trainingMask(cut, false)).toEqual([0, 1, 1])
    expect(trainingMask(cut, true)).toEqual([0, 0, 0])
    expect(trainingMask({ ...cut, terminated: true }, true)).toEqual([0, 1, 1])
  })
})

/** The loss against TRL's own numbers, finite differences, and every way of splitting a batch. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, LOSS_TYPES } from '../core/config'
import { RandomStream } from '../core/random'
import { advantages } from './advantages'
import { entropyThreshold } from './entropy'
import { lossNormalizer, policyLoss, trainingMask, type LossOptions, type PolicySequence } from './loss'
import { updateMetrics } from './metrics'

const options = (change: Partial<LossOptions> = {}): LossOptions => ({
  ...DEFAULT_GRPO,
  vllm_importance_sampling_correction: false,
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

const ENTROPIES = [
  [1.0, 0.2, 2.0, 0.4],
  [0.9, 1.5, 0.1, 3.0],
]

function run(sequences: PolicySequence[], logprobs: number[][], settings: LossOptions) {
  const masks = sequences.map((s) => s.mask)
  const threshold = settings.top_entropy_quantile < 1 ? entropyThreshold(sequences.map((s) => s.entropies ?? []), masks, settings.top_entropy_quantile) : null
  return policyLoss(sequences, logprobs, lossNormalizer(masks, settings), settings, threshold)
}

describe('policyLoss against TRL', () => {
  const plain = [-0.331551, 0, -0.3, 0.081873, 0.149182]
  const three = (a: number, b: number) => [a, a, a, b, b]
  const sequence = { importance_sampling_level: 'sequence' } as const
  /** Change of the settings, loss, gradient at the trained positions, and the metrics that TRL logs. */
  const rows: [Partial<LossOptions>, number, number[], Record<string, number>][] = [
    [{ loss_type: 'grpo' }, -0.537473, [-0.276293, 0, -0.25, 0.102341, 0.186478], { 'clip_ratio/high_mean': 0.2, 'clip_ratio/low_mean': 0, 'clip_ratio/region_mean': 0.2, 'clip_ratio/high_max': 1 / 3 }],
    [{ loss_type: 'bnpo' }, -0.760496, plain, { 'clip_ratio/high_mean': 0.2 }],
    [{ loss_type: 'dr_grpo' }, -0.237655, [-0.10361, 0, -0.09375, 0.025585, 0.04662], { 'clip_ratio/high_mean': 0.2 }],
    [{ loss_type: 'dapo' }, -0.760496, plain, { 'clip_ratio/high_mean': 0.2 }],
    [{ epsilon_high: 0.28 }, -0.784496, plain, { 'clip_ratio/high_mean': 0.2 }],
    [{ beta: 0.04, use_bias_correction_kl: false }, -0.759834, [-0.330101, -0.000841, -0.29855, 0.083323, 0.147411], { kl: 0.016553 }],
    [{ beta: 0.04, use_bias_correction_kl: true }, -0.75974, [-0.329783, -0.001193, -0.2984, 0.083183, 0.146796], { kl: 0.018882 }],
    [{ epsilon_high: 0.28, delta: 1.1 }, -0.750127, [0, 0, -0.3, 0.081873, 0], { 'clip_ratio/high_mean': 0 }],
    [{ top_entropy_quantile: 0.5 }, -0.100496, [-0.331551, 0, 0, 0.081873, 0.149182], {}],
    [{ off_policy_mask_threshold: -0.2 }, -0.991551, [-0.331551, 0, -0.3, 0, 0], {}],
    [{ loss_type: 'grpo', ...sequence }, -0.609728, three(-0.29534, 0.138146), { 'clip_ratio/high_mean': 0 }],
    [{ loss_type: 'grpo', ...sequence, epsilon: 3e-4, epsilon_high: 4e-4 }, -0.474007, three(0, 0.138146), { 'clip_ratio/high_mean': 0.5 }],
    [{ loss_type: 'luspo', ...sequence }, -2.105475, three(-0.88602, 0.276293), {}],
    [{ loss_type: 'cispo', epsilon_high: 5 }, 0.348995, [-0.331551, -0.447547, -0.3, 0.081873, 0.149182], { cispo_clip_ratio: 0 }],
    [{ loss_type: 'cispo', epsilon_high: 1.2 }, 0.34024, [-0.331551, -0.36, -0.3, 0.081873, 0.12], { cispo_clip_ratio: 0.2 }],
    [{ loss_type: 'sapo' }, -1.133058, [-0.27553, -0.351281, -0.25, 0.10142, 0.174578], {}],
    [{ loss_type: 'vespo' }, -0.035993, three(-0.116468, 0.117022), { 'vespo/phi_seq_mean': 0.779225 }],
  ]
  it.each(rows)('%j', (change, loss, gradient, logged) => {
    const result = run(GOLDEN.sequences.map((s, i) => ({ ...s, entropies: ENTROPIES[i] as number[] })), GOLDEN.logprobs, options(change))
    // The table was made in float32.
    expect(Math.abs(result.loss - loss)).toBeLessThan(1e-6)
    const [a, b] = result.dLogprobs as [Float64Array, Float64Array]
    ;[a[0], a[1], a[3], b[0], b[1]].forEach((value, i) => expect(value).toBeCloseTo(gradient[i] as number, 6))
    expect([a[2], b[2], b[3]]).toEqual([0, 0, 0])

    const sequences = result.statistics.map((s, i) => ({ ...s, entropy: [1.6, 2.4][i] as number }))
    const metrics = updateMetrics([{ loss: result.loss, policy_loss: result.loss, grad_norm: 1, learning_rate: 1, sequences }], options(change))
    expect(metrics['entropy']).toBeCloseTo(0.8, 12)
    for (const [name, value] of Object.entries(logged)) expect(metrics[name], name).toBeCloseTo(value, 6)
    for (const name of ['kl', 'cispo_clip_ratio', 'vespo/phi_seq_mean', 'entropy_coef']) if (!(name in logged)) expect(name in metrics, name).toBe(false)
  })

  it('weighs by the sampler’s disagreement', () => {
    // Ratios 0.9 and 0, as TRL's mask mode makes of exp(Σ d) = 0.9 and of one above the cap.
    const shift = (old: number[], by: number) => old.map((value, t) => (t === 0 ? value - by : value))
    const sequences = GOLDEN.sequences.map((s, i) => ({ ...s, samplerLogprobs: shift(s.oldLogprobs, [Math.log(0.9), 2][i] as number) }))
    const corrected = options({ vllm_importance_sampling_correction: true })
    const result = run(sequences, GOLDEN.logprobs, corrected)
    expect(result.loss).toBeCloseTo(-0.892396, 6)
    expect([...(result.dLogprobs[0] ?? []), ...(result.dLogprobs[1] ?? [])].map((x) => Number(x.toFixed(6)) + 0)).toEqual([-0.298396, 0, 0, -0.27, 0, 0, 0, 0])
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
    return { mask: oldLogprobs.map(() => (random.next() < 0.6 ? 1 : 0)), advantage: random.normal(), oldLogprobs, refLogprobs: draw(), entropies: draw().map((x) => -x), samplerLogprobs: draw() }
  })
  return { sequences, logprobs }
}

const CHANGES: Partial<LossOptions>[] = [
  {},
  { epsilon_high: 0.28 },
  { beta: 0.1, use_bias_correction_kl: false },
  { beta: 0.1, use_bias_correction_kl: true, importance_sampling_level: 'sequence' },
  { importance_sampling_level: 'sequence' },
  { delta: 1.25, epsilon_high: 0.5 },
  { top_entropy_quantile: 0.6, off_policy_mask_threshold: 0.05 },
  { vllm_importance_sampling_correction: true, vllm_importance_sampling_mode: 'token_truncate', vllm_importance_sampling_clip_max: 1.5 },
]
const SETTINGS = LOSS_TYPES.flatMap((loss_type) => CHANGES.map((change) => options({ loss_type, max_completion_length: 10, ...change })))
const IDS = SETTINGS.map((settings, i) => [`${settings.loss_type}, ${JSON.stringify(CHANGES[i % CHANGES.length])}`, settings] as const)

describe('derivatives', () => {
  it.each(IDS)('equal finite differences: %s', (_, settings) => {
    const { sequences, logprobs } = randomBatch(1, 8)
    const { dLogprobs } = run(sequences, logprobs, settings)
    const h = 1e-6
    const moved = (values: ArrayLike<number> | null | undefined, at: number, by: number) => values && Array.from(values, (value, t) => (t === at ? value + by : value))
    // What is a constant to the gradient is held by moving along what it is measured from.
    const held = ['cispo', 'vespo'].includes(settings.loss_type) && !settings.use_bias_correction_kl
    let [still, trained] = [0, 0]
    logprobs.forEach((row, s) =>
      row.forEach((_, t) => {
        const at = (by: number) =>
          run(
            sequences.map((one, i) => {
              if (i !== s || !held) return one
              return { ...one, oldLogprobs: moved(one.oldLogprobs, t, by) ?? null, samplerLogprobs: moved(one.samplerLogprobs, t, by) ?? null }
            }),
            logprobs.map((r, i) => (i === s ? (moved(r, t, by) as number[]) : r)),
            settings,
          ).loss
        const analytic = dLogprobs[s]?.[t] as number
        if (!(settings.use_bias_correction_kl && ['cispo', 'vespo'].includes(settings.loss_type))) expect(analytic).toBeCloseTo((at(h) - at(-h)) / (2 * h), 6)
        if (sequences[s]?.mask[t] === 1) {
          trained++
          if (analytic === 0) still++
        } else expect(analytic).toBe(0)
      }),
    )
    // The check would be empty if no token were pushed.
    expect(trained).toBeGreaterThan(20)
    expect(still).toBeLessThan(trained)
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
  it.each(IDS)('add up to the whole step however it is divided: %s', (_, settings) => {
    const { sequences, logprobs } = randomBatch(4, 7)
    const normalizer = lossNormalizer(sequences.map((s) => s.mask), settings)
    const threshold = entropyThreshold(sequences.map((s) => s.entropies ?? []), sequences.map((s) => s.mask), settings.top_entropy_quantile)
    const whole = policyLoss(sequences, logprobs, normalizer, settings, threshold)
    const splits = [[[0], [1], [2], [3], [4], [5], [6]], [[0, 1, 2], [3, 4, 5, 6]], [[6, 2], [0, 5, 3], [1, 4]]]
    for (const parts of splits) {
      let loss = 0
      for (const part of parts) {
        const result = policyLoss(
          part.map((i) => sequences[i] as PolicySequence),
          part.map((i) => logprobs[i] as number[]),
          normalizer,
          settings,
          threshold,
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

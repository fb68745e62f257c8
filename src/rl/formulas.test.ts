/** The table of loss types: what the card writes is what training divides by, and one token's term is all that the loss is made of. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, LOSS_TYPES, type LossType } from '../core/config'
import { RandomStream } from '../core/random'
import { FACTOR_TEX, LOSS_FORMULAS } from './formulas'
import { countTrained, factorsOf, type LossNormalizer, lossNormalizer, type LossOptions, policyLoss, type PolicySequence, sequenceTerms, type TokenTerm, tokenWeight } from './loss'
import { TERM_OF } from './terms'

const normalizer = (loss_type: LossType): LossNormalizer => ({ loss_type, sequences: 8, tokens: 100, max_completion_length: 512 })

describe('the table of loss types', () => {
  it('gives the weights of TRL’s reductions', () => {
    const weights = LOSS_TYPES.map((loss_type) => [loss_type, 1 / tokenWeight(normalizer(loss_type), 20)])
    expect(Object.fromEntries(weights)).toEqual({ grpo: 8 * 20, bnpo: 100, dr_grpo: 8 * 512, dapo: 100, cispo: 100, sapo: 8 * 20, vespo: 100, luspo: 8 })
  })

  it('never divides by less than 1', () => {
    for (const loss_type of LOSS_TYPES) {
      expect(tokenWeight({ loss_type, sequences: 0, tokens: 0, max_completion_length: 1 }, 0)).toBe(1)
    }
  })

  it.each(LOSS_TYPES)('%s: the TeX of the average holds the symbol of every factor, and a source', (loss_type) => {
    const { average, dividedBy, source } = LOSS_FORMULAS[loss_type]
    const denominators = [...average.matchAll(/\\frac\{1\}\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}/g)].map(([, inner]) => inner).join(' ')
    for (const factor of ['sequences', 'tokens', 'sequenceTokens', 'maxLength'] as const) {
      expect([factor, denominators.includes(FACTOR_TEX[factor])]).toEqual([factor, dividedBy.includes(factor)])
    }
    expect(source.url).toMatch(/^https:\/\//)
  })
})

const options = (change: Partial<LossOptions> = {}): LossOptions => ({ ...DEFAULT_GRPO, epsilon_high: 0.28, vllm_importance_sampling_correction: false, ...change })

/** The term of a sequence of one token. */
const one = (logprob: number, old: number | null, ref: number | null, advantage: number, change: Partial<LossOptions> = {}) => {
  const sequence: PolicySequence = { mask: [1], advantage, oldLogprobs: old === null ? null : [old], refLogprobs: ref === null ? null : [ref] }
  return sequenceTerms(sequence, [logprob], null, options(change)).terms[0] as TokenTerm
}

describe('the term of one token', () => {
  it.each([
    [1.5, 2, 'clipped', -2.56, 0],
    [1.5, -2, 'unclipped', 3, 3],
    [0.5, 2, 'unclipped', -1, -1],
    [0.5, -2, 'clipped', 1.6, 0],
    [1.1, 2, 'equal', -2.2, -2.2],
    [1.5, 0, 'equal', 0, 0],
  ])('ratio %s, advantage %s: the min takes %s', (ratio, advantage, branch, value, derivative) => {
    const term = one(Math.log(ratio) - 1, -1, null, advantage)
    expect(term.clip?.branch).toBe(branch)
    expect(term.total).toBeCloseTo(value, 12)
    expect(term.derivative).toBeCloseTo(derivative, 12)
  })

  it('has the ratio 1 exactly without an old log-prob, and a KL part only with beta and a reference', () => {
    expect(one(-1, null, -2, 1)).toMatchObject({ ratio: 1, kl: null, total: -1 })
    const { kl, total, derivative } = one(-1, null, -2, 1, { beta: 0.1, use_bias_correction_kl: false })
    expect(kl).toBeCloseTo(Math.exp(-1), 12)
    expect(total).toBeCloseTo(-1 + 0.1 * Math.exp(-1), 12)
    expect(derivative).toBeCloseTo(-1 + 0.1 * (1 - Math.exp(-1)), 12)
    expect(one(-1, null, null, 1, { beta: 0.1 }).kl).toBeNull()
  })

  it('pushes alike at the ratio 1, whatever the loss type', () => {
    for (const loss_type of LOSS_TYPES) expect(one(-1, null, null, 1.5, { loss_type, epsilon_high: 5 }).derivative).toBeCloseTo(-1.5, 12)
  })

  it.each(LOSS_TYPES)('%s: weighted terms add up to policyLoss, and derivatives are its own', (loss_type) => {
    const random = new RandomStream(5, 1)
    const length = 24
    const values = (scale: number) => Array.from({ length }, () => -scale * random.next())
    const sequences: PolicySequence[] = [0.9, -1.3, 0].map((advantage) => ({
      mask: values(1).map((v) => (v < -0.3 ? 1 : 0)),
      advantage,
      oldLogprobs: values(1.5),
      refLogprobs: values(1.5),
    }))
    const logprobs = sequences.map(() => values(1.5))
    const settings = options({ loss_type, beta: 0.04, max_completion_length: 32 })
    const sizes = lossNormalizer(sequences.map((s) => s.mask), settings)
    const { loss, dLogprobs } = policyLoss(sequences, logprobs, sizes, settings)
    const branches = new Set<string>()
    let total = 0
    sequences.forEach((sequence, s) => {
      const weight = tokenWeight(sizes, countTrained(sequence.mask))
      sequenceTerms(sequence, logprobs[s] ?? [], null, settings).terms.forEach((term, t) => {
        expect(term === null).toBe(sequence.mask[t] !== 1)
        if (!term) return
        if (term.clip) branches.add(term.clip.branch)
        total += weight * term.total
        expect(dLogprobs[s]?.[t]).toBeCloseTo(weight * term.derivative, 14)
      })
    })
    if (TERM_OF[loss_type] === 'clip') expect(branches).toEqual(new Set(['clipped', 'unclipped', 'equal']))
    expect(total).toBeCloseTo(loss, 12)
    expect(factorsOf(sizes, 3)).toMatchObject({ sequences: 3, sequenceTokens: 3 })
  })
})

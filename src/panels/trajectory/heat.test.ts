import { describe, expect, it } from 'vitest'
import type { LoggedToken } from '../../store/token-log'
import { S } from '../../ui/strings'
import { heatColor, heatScale, heatText, heatValue, needsExamination, whyWithout } from './heat'

const model: LoggedToken = { id: 7, text: ' left', author: 'model', mask: 1, logprob: Math.log(0.25), trainLogprob: -1.4, entropy: 0.9, top: null }
const environment: LoggedToken = { ...model, author: 'environment', mask: 0, logprob: null, trainLogprob: null, entropy: null }

describe('the value that colours a token', () => {
  it('is there only where the mask is 1', () => {
    expect(heatValue(model, 'probability', null)).toBeCloseTo(0.25, 12)
    expect(heatValue(environment, 'advantage', 1)).toBeNull()
    expect(heatValue({ ...model, mask: 0, baseLogprob: -2 }, 'kl', null)).toBeNull()
    expect(heatValue(model, 'difference', null)).toBeCloseTo(-1.4 - Math.log(0.25), 12)
  })
  it('as ratio compares the last optimizer step with the first', () => {
    expect(heatValue(model, 'ratio', null)).toBeNull()
    expect(heatValue({ ...model, lastLogprob: -1.4 + Math.log(1.5) }, 'ratio', null)).toBeCloseTo(1.5, 12)
    // Other weights sampled it: the ratio is to those.
    expect(heatValue({ ...model, oldLogprob: -1.4 - Math.log(3) }, 'ratio', null)).toBeCloseTo(3, 12)
    expect(heatValue({ ...model, logprob: -1, oldLogprob: -1 }, 'difference', null)).toBeCloseTo(-0.4, 12)
  })
  it('as KL is the k3 estimate, from the reference of the step where there is one', () => {
    const examined = { ...model, baseLogprob: -1.4 + Math.log(2) }
    expect(heatValue(examined, 'kl', null)).toBeCloseTo(2 - Math.log(2) - 1, 12)
    expect(heatValue({ ...examined, refLogprob: -1.4 }, 'kl', null)).toBe(0)
  })
  it('as change is what the log-prob became, up or down', () => {
    expect(heatValue({ ...model, afterLogprob: -1 }, 'change', null)).toBeCloseTo(0.4, 12)
    expect(heatValue({ ...model, trainLogprob: null, afterLogprob: -1 }, 'change', null)).toBeCloseTo(-1 - Math.log(0.25), 12)
  })
  it('is written with its sign also as a mark, and its unit', () => {
    expect([heatText('change', 0.5), heatText('ratio', 0.8), heatText('logprob', -2), heatText('advantage', -1)]).toEqual([
      '▲ +0.500 nats',
      '▼ 0.800',
      '−2.00 nats',
      '▼ −1.00',
    ])
  })
})

describe('the scale', () => {
  it('of advantages is that of the step, so that episodes are comparable', () => {
    const scale = heatScale([model], 'advantage', 0.5, 2)
    expect(scale?.at(0.5)).toBeCloseTo(0.25, 12)
    expect(heatColor(scale, 0.5)).toContain('--plus')
  })
  it('of ratios is centred on 1, of log-probs goes down from 0, of entropies up', () => {
    const ratio = heatScale([{ ...model, lastLogprob: -1.4 + Math.log(1.5) }], 'ratio', null, 1)
    expect([ratio?.low, ratio?.at(1), ratio?.high].map((x) => Number(x?.toFixed(6)))).toEqual([0.5, 0, 1.5])
    const logprob = heatScale([model], 'logprob', null, 1)
    expect([logprob?.high, logprob?.at(Math.log(0.25))]).toEqual([0, -1])
    const entropy = heatScale([model], 'entropy', null, 1)
    expect([entropy?.kind, entropy?.low, entropy?.high]).toEqual(['sequential', 0, 0.9])
  })
  it('is none by author or before there are values', () => {
    expect(heatScale([model], 'author', 1, 1)).toBeNull()
    expect(heatScale([{ ...model, entropy: null }], 'entropy', 1, 1)).toBeNull()
    expect(heatColor(null, 1)).toBeUndefined()
  })
})

describe('why there is no scale', () => {
  const { without } = S.trajectory
  const at = { scored: true, finished: true, num_iterations: 1, source: 'live', asking: null } as const
  it('says what would bring the values, or that there are none', () => {
    expect(whyWithout([environment], 'kl', at)).toBe(without.nothing)
    expect(whyWithout([model], 'advantage', { ...at, scored: false })).toBe(without.afterRewards)
    expect(whyWithout([model], 'change', { ...at, finished: false })).toBe(without.afterUpdate)
    expect(whyWithout([model], 'ratio', at)).toBe(without.sameRatio)
    expect(whyWithout([model], 'ratio', { ...at, num_iterations: 2 })).toBe(without.unrecorded)
    expect(whyWithout([model], 'kl', { ...at, asking: 'busy' })).toBe(without.busy)
    expect(whyWithout([model], 'kl', { ...at, asking: { failed: 'There is no base.' } })).toBe('There is no base.')
    expect(whyWithout([model], 'kl', { ...at, source: 'recording' })).toBe(without.recording)
  })
  it('asks the model only for what it alone can bring', () => {
    expect(needsExamination([environment, model], 'kl')).toBe(true)
    expect(needsExamination([environment, { ...model, refLogprob: -1 }], 'kl')).toBe(false)
    expect(needsExamination([model], 'change')).toBe(true)
    expect(needsExamination([model], 'ratio')).toBe(false)
    expect(needsExamination([environment], 'kl')).toBe(false)
  })
})

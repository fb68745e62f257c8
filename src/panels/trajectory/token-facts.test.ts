import { describe, expect, it } from 'vitest'
import { type LoggedToken, TokenLog } from '../../store/token-log'
import { factsOf, visibleText } from './token-facts'

const model: LoggedToken = {
  id: 7,
  text: ' left',
  author: 'model',
  mask: 1,
  logprob: Math.log(0.25),
  trainLogprob: -1.4,
  entropy: 0.9,
  top: [
    { id: 8, prob: 0.5, text: ' right' },
    { id: 7, prob: 0.25, text: ' left' },
  ],
}
const environment: LoggedToken = { ...model, author: 'environment', mask: 0, logprob: null, trainLogprob: null, entropy: null, top: null }
const row = (token: LoggedToken, label: string, advantage: number | null = 0.94) =>
  factsOf(token, 30, 80, advantage, new TokenLog()).rows.find((r) => r.label === label)?.value

describe('what the card says of a token', () => {
  it('gives id, text, place, probabilities, entropy and advantage of a trained token', () => {
    const facts = factsOf(model, 30, 80, 0.94, new TokenLog())
    expect([facts.title, facts.position]).toEqual(['␣left', 'token 31 of 80'])
    expect(facts.rows.map((r) => [r.label, r.value])).toEqual([
      ['id', '7'],
      ['author', 'model'],
      ['mask', '1, trained'],
      ['probability', '0.250'],
      ['log-prob (sampler)', '−1.39 nats'],
      ['log-prob (trainer)', '−1.40 nats'],
      ['entropy', '0.900 nats'],
      ['advantage', '▲ +0.940'],
    ])
  })
  it('says what a masked token adds, and nothing about probabilities nobody drew from', () => {
    expect(row(environment, 'mask')).toBe('0, masked: contributes 0 to the loss')
    expect(row(environment, 'probability')).toBeUndefined()
    expect(factsOf(environment, 0, 1, 1, new TokenLog()).alternatives).toEqual([])
  })
  it('gives no advantage to a masked token of the model', () => {
    expect(row({ ...model, mask: 0 }, 'advantage')).toBe('0')
  })
  it('says that scores come after the update', () => {
    expect(row({ ...model, trainLogprob: null }, 'log-prob (trainer)')).toBe('after the update')
    expect(row(model, 'advantage', null)).toBe('after the update')
  })
  it('marks the drawn token among the likeliest, and adds it when it is not one of them', () => {
    const facts = factsOf(model, 0, 1, null, new TokenLog())
    expect(facts.alternatives).toEqual([
      { text: '␣right', probability: 0.5, sampled: false },
      { text: '␣left', probability: 0.25, sampled: true },
    ])
    const rare = factsOf({ ...model, id: 99, text: 'x', logprob: Math.log(0.01) }, 0, 1, null, new TokenLog()).alternatives
    expect(rare).toHaveLength(3)
    expect(rare.at(-1)).toMatchObject({ text: 'x', sampled: true })
    expect(rare.at(-1)?.probability).toBeCloseTo(0.01, 9)
  })
  it('gives ratio, KL and change where they are known, the sign also as a mark', () => {
    const known: LoggedToken = { ...model, lastLogprob: -1.3, baseLogprob: -1.4 + Math.log(2), afterLogprob: -1.65 }
    expect([row(known, 'ratio'), row(known, 'KL to base (k3)'), row(known, 'change since')]).toEqual(['▲ 1.11', '0.307 nats', '▼ −0.250 nats'])
    expect([row(model, 'ratio'), row(model, 'change since')]).toEqual([undefined, undefined])
  })
  it('makes blanks visible', () => {
    expect(visibleText('a b\n\t')).toBe('a␣b⏎⇥')
    expect(visibleText('')).toBe('∅')
  })
})

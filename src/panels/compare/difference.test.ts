/** Where two episodes part, what changed most, and how that is said. */
import { describe, expect, it } from 'vitest'
import type { PolicyComparison } from '../../core/examination'
import { changesOf, mostChanged, partingOf } from './difference'
import { comparison, side } from './testing'
import { verdictOn } from './verdict'

const both = (base: string, lora: string, change: Partial<PolicyComparison> = {}) => comparison(side(base), side(lora), change)

describe('where two episodes part', () => {
  it('is the first token that differs, with its probability under each', () => {
    const parting = partingOf(both('call stop now', 'call change now'))
    expect(parting).toMatchObject({ kind: 'token', common: 1, at: 3, base: { text: 'stop' }, lora: { text: 'change' } })
    if (parting.kind !== 'token') throw new Error(parting.kind)
    expect([parting.base.underBase, parting.base.underLora]).toEqual([0.5, 0.25].map((p) => expect.closeTo(p, 12) as number))
    expect([parting.lora.underBase, parting.lora.underLora]).toEqual([0.25, 0.5].map((p) => expect.closeTo(p, 12) as number))
  })

  it.each<[string, PolicyComparison, object, RegExp]>([
    ['a token', both('call stop now', 'call change now'), { kind: 'token' }, /^The first token is the same; there the LoRA wrote “change”, the base “stop”\. “stop” was 50\.0 % likely to the base and is 25\.0 % likely with the LoRA\.$/],
    ['at once', both('stop', 'change'), { kind: 'token', common: 0 }, /^They part at once: there the LoRA wrote/],
    ['where one ends', both('call', 'call stop'), { kind: 'end', ended: 'base', common: 1 }, /there the base ended and the LoRA wrote on\.$/],
    ['where the other ends', both('call stop', 'call'), { kind: 'end', ended: 'lora' }, /there the LoRA ended and the base wrote on\.$/],
    ['in the environment', both('call >hit', 'call >passed'), { kind: 'environment', common: 1 }, /there the environment answered in another way/],
    ['in the prompt', comparison(side('call'), { ...side('call'), ids: [7, 7, 7] }), { kind: 'prompt' }, /began in another way although the seed is the same/],
  ])('%s', (_, compared, parting, sentence) => {
    expect(partingOf(compared)).toMatchObject(parting)
    expect(verdictOn(compared)).toMatch(sentence)
  })

  it('is nowhere where both wrote the same; then what became likelier is said, if anything did', () => {
    const changed = both('call stop', 'call stop')
    expect(partingOf(changed)).toEqual({ kind: 'nowhere', common: 2 })
    expect(verdictOn(changed)).toBe('Both wrote the same 2 tokens. Changed most: “call” was 25.0 % likely to the base and is 50.0 % likely with the LoRA.')
    // What another batch leaves of a log-prob is no change.
    const alike = side('call stop', Math.log(0.5), Math.log(0.5) + 1e-6)
    expect(verdictOn(comparison(alike, alike))).toBe('Both wrote the same 2 tokens, each as likely as before.')
    expect(verdictOn(comparison(alike, alike, { step: 0 }))).toBe('The LoRA has not been trained yet: both wrote the same 2 tokens.')
  })

  it('shows a token of blanks as signs', () => {
    const blank = side('call')
    const lora = { ...blank, texts: [...blank.texts.slice(0, 2), '\n'], ids: [...blank.ids.slice(0, 2), 99] }
    expect(verdictOn(comparison(blank, lora))).toContain('the LoRA wrote “⏎”')
  })
})

describe('changes', () => {
  it('are LoRA − base on both sides, and nothing where the model did not write', () => {
    const one = side('call >hit')
    expect(changesOf(one, 'lora')).toEqual([null, null, expect.closeTo(Math.log(2), 12), null])
    expect(changesOf(one, 'base')).toEqual([null, null, expect.closeTo(-Math.log(2), 12), null])
    expect(mostChanged(one, 'base')).toEqual({ at: 2, base: expect.closeTo(0.5, 12) as number, lora: expect.closeTo(0.25, 12) as number })
    expect(mostChanged(side('call', -1, -1), 'lora')).toBeNull()
  })
})

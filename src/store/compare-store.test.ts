import { describe, expect, it } from 'vitest'
import type { PolicyComparison } from '../core/examination'
import type { Command, Message } from '../worker/protocol'
import { createCompare } from './compare-store'

function open() {
  const sent: Command[] = []
  let hear: (message: Message) => void = () => {}
  const compare = createCompare({ send: (command) => void sent.push(command), onMessage: (listener) => (hear = listener) })
  const last = () => sent.flatMap((command) => (command.type === 'compare' ? [command] : [])).at(-1)
  const answer = (change: Partial<PolicyComparison> = {}) => {
    const { requestId = 0, seed = 0, split = 'train', temperature = 0 } = last() ?? {}
    const comparison = { seed, split, temperature, step: 1, ...change } as PolicyComparison
    hear({ type: 'compared', requestId, result: { ok: true, comparison } })
  }
  return { compare, sent, last, answer, hear: (message: Message) => hear(message), view: () => compare.store.getState() }
}

const wanted = (seed: number) => ({ seed, split: 'heldout', temperature: 0 }) as const

describe('comparisons', () => {
  it('are asked for one at a time and kept newest first, one for each episode', () => {
    const { compare, sent, answer, view } = open()
    compare.play(wanted(1))
    compare.play(wanted(2))
    expect(sent).toEqual([{ type: 'compare', requestId: 1, seed: 1, split: 'heldout', temperature: 0 }])
    expect(view().busy).toEqual(wanted(1))
    answer()
    compare.play(wanted(2))
    answer()
    compare.play(wanted(1))
    answer({ step: 5 })
    expect(view()).toMatchObject({ busy: null, error: '', made: [{ seed: 1, step: 5 }, { seed: 2, step: 1 }] })
  })

  it('keep what there is when one fails, and say why', () => {
    const { compare, answer, hear, view } = open()
    compare.play(wanted(1))
    answer()
    compare.play(wanted(2))
    hear({ type: 'compared', requestId: 2, result: { ok: false, error: 'It broke.' } })
    expect(view()).toMatchObject({ busy: null, error: 'It broke.', made: [{ seed: 1 }] })
    compare.play(wanted(2))
    expect(view().error).toBe('')
  })

  it('go with the run, and so does an answer that is still to come', () => {
    const { compare, answer, hear, view } = open()
    compare.play(wanted(1))
    hear({ type: 'cleared' })
    answer()
    expect(view()).toEqual({ busy: null, error: '', made: [] })
  })

  it('end when the worker died', () => {
    const { compare, hear, view } = open()
    compare.play(wanted(1))
    hear({ type: 'state', state: { state: 'failed', error: 'The engine died.', advice: '', recoverable: false } })
    expect(view()).toMatchObject({ busy: null, error: 'The engine died.' })
  })
})

/** What the self-test makes of two sets of numbers, and of an engine that cannot run. */

import { describe, expect, it, vi } from 'vitest'
import type { NamedTensor, SampledToken } from '../core/engine'
import { compareRuns, type Measured, selfTest } from './self-test'
import { CONFIG, LORA, randomModel } from './testing/random-model'
import { WasmDevice } from './wasm-device'
import { WebGpuDevice } from './webgpu-device'

const token = (id: number, logprob: number): SampledToken => ({ id, logprob, entropy: 2, top: [{ id: 1, prob: 0.4 }, { id: 2, prob: 0.3 }] })
const tensor = (name: string, ...data: number[]): NamedTensor => ({ name: `base_model.model.model.layers.0.${name}.weight`, dims: [data.length], data: Float32Array.from(data) })
const RIGHT: Measured = {
  logprobs: [-1, -2.5, -0.25],
  entropies: [2, 1, 0.5],
  draws: [token(5, -1), token(6, -2), token(7, -3)],
  gradient: [tensor('a', 3, 4), tensor('b', 0.3, -0.4), tensor('tiny', 1e-6, 0)],
}
const judge = (change: Partial<Measured>) => compareRuns({ ...RIGHT, ...change }, RIGHT, 'Acme GPU 9')
const changed = (i: number, change: Partial<SampledToken>): SampledToken[] => RIGHT.draws.map((draw, k) => (k === i ? { ...draw, ...change } : draw))

describe('numbers that agree', () => {
  it('pass, with the largest differences', () => {
    const report = judge({ logprobs: [-1, -2.5004, -0.25], gradient: [tensor('a', 3, 4), tensor('b', 0.3, -0.401), tensor('tiny', 1e-6, 0)] })
    expect(report).toMatchObject({ ok: true, adapter: 'Acme GPU 9', problem: '' })
    expect(report.logprobError).toBeCloseTo(4e-4, 6)
    expect(report.gradientError).toBeCloseTo(2e-3, 6)
  })

  it('pass where rounding drew the neighbouring token, or turned a gradient that is next to nothing over', () => {
    expect(judge({ draws: changed(1, { id: 8, logprob: -9 }) })).toMatchObject({ ok: true, logprobError: 0 })
    expect(judge({ gradient: [tensor('a', 3, 4), tensor('b', 0.3, -0.4), tensor('tiny', -1e-6, 0)] }).ok).toBe(true)
  })
})

describe('numbers that do not agree', () => {
  it.each<[string, Partial<Measured>, string]>([
    ['a log-prob', { logprobs: [-1, -2.56, -0.25] }, 'log-probs in training off by up to 0.06 nats'],
    ['an entropy', { entropies: [2, 1, 0.51] }, 'entropies off by up to 0.01 nats'],
    ['a drawn log-prob', { draws: changed(0, { logprob: -1.5 }) }, 'log-probs in sampling off by up to 0.5 nats'],
    ['a drawn entropy', { draws: changed(2, { entropy: 3 }) }, 'entropies off by up to 1 nats'],
    ['the likeliest token', { draws: changed(2, { top: [{ id: 1, prob: 0.2 }] }) }, 'log-probs in sampling off by up to 0.69 nats'],
    ['most drawn tokens', { draws: [token(5, -1), token(1, -2), token(2, -3)] }, '2 of 3 drawn tokens differ'],
    ['a gradient', { gradient: [tensor('a', 3, 4), tensor('b', 0.4, 0.3), tensor('tiny', 1e-6, 0)] }, 'the LoRA gradient (layers.0.b.weight) off by up to 1.4 of its norm'],
    ['a gradient of the right norm with the wrong sign', { gradient: [tensor('a', -3, -4), ...RIGHT.gradient.slice(1)] }, 'the LoRA gradient (layers.0.a.weight) off by up to 2 of its norm'],
    ['a gradient that is gone', { gradient: RIGHT.gradient.slice(1) }, 'the LoRA gradient (layers.0.a.weight) not finite'],
    ['NaN', { logprobs: [-1, NaN, -0.25] }, 'log-probs in training not finite'],
    ['infinity', { draws: changed(1, { logprob: -Infinity }) }, 'log-probs in sampling not finite'],
    ['NaN in an entropy', { entropies: [NaN, 1, 0.5] }, 'entropies not finite'],
    ['NaN in a gradient', { gradient: [tensor('a', NaN, 4), ...RIGHT.gradient.slice(1)] }, 'the LoRA gradient (layers.0.a.weight) not finite'],
    ['missing numbers', { logprobs: [-1] }, 'log-probs in training not finite'],
  ])('%s', (_, change, words) => {
    const { ok, problem } = judge(change)
    expect(ok).toBe(false)
    expect(problem).toBe(`On Acme GPU 9 a fixed test of this model does not come out as on WASM: ${words}; choose WASM or another browser.`)
  })

  it('are all named, and their sizes told', () => {
    const report = judge({ logprobs: [-1.1, -2.5, -0.25], entropies: [2.2, 1, 0.5], gradient: [tensor('a', 3, 9), ...RIGHT.gradient.slice(1)] })
    expect(report.problem).toContain('log-probs in training off by up to 0.1 nats, entropies off by up to 0.2 nats, the LoRA gradient (layers.0.a.weight) off by up to 1 of its norm;')
    expect(report.logprobError).toBeCloseTo(0.1, 6)
    expect(report.gradientError).toBeCloseTo(1, 6)
  })

  it('a gradient of zeros on both sides proves nothing', () => {
    const none = { ...RIGHT, gradient: [tensor('a', 0, 0)] }
    expect(compareRuns(none, none, 'x').ok).toBe(false)
  })
})

describe('without a GPU', () => {
  const options = { precision: 'float32', lora: LORA, adapterName: 'Acme GPU 9', threads: 1 } as const

  it('is a failed report that says what kept WebGPU from running', async () => {
    const disposals = [vi.spyOn(WasmDevice.prototype, 'dispose'), vi.spyOn(WebGpuDevice.prototype, 'dispose')]
    const report = await selfTest({ ...options, slice: randomModel() })
    for (const disposal of disposals) expect(disposal).toHaveBeenCalledOnce()
    expect(report).toMatchObject({ ok: false, adapter: 'Acme GPU 9', logprobError: NaN, gradientError: NaN })
    expect(report.problem).toMatch(/^On Acme GPU 9 .*: WebGPU could not run it \(.*[^.]\); choose WASM or another browser\.$/)
  })

  it('throws what is wrong with the slice itself', async () => {
    const slice = { ...randomModel(), config: async () => ({ ...CONFIG, model_type: 'llama' }) }
    await expect(selfTest({ ...options, slice })).rejects.toMatchObject({ kind: 'model' })
  })
})

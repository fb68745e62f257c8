/** What a trainer of a small random model on WASM carries from call to call: gradients, AdamW's moments, adapters, parameters. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NamedTensor } from '../core/engine'
import type { EngineInstance } from './create'
import { slopes } from './gradient-probe'
import { randomAdapter } from './testing/random-model'
import { ADAM, batch, gradientOf, largest, logprobs, options, size, start, vector } from './testing/small-trainer'

describe('one engine', () => {
  let engine: EngineInstance
  let initial: NamedTensor[]
  beforeAll(async () => {
    engine = await start()
    initial = randomAdapter(await engine.exportParameters())
  })
  afterAll(() => engine.dispose())
  const again = (): Promise<void> => engine.importParameters(initial)

  it('goes on bit for bit from its exported state, and only from a state of the same LoRA', async () => {
    await again()
    await engine.accumulate(batch, options, slopes)
    await engine.optimizerStep(ADAM)
    const state = await engine.exportState()
    const step = async (): Promise<Float64Array> => {
      await engine.accumulate(batch, options, slopes)
      await engine.optimizerStep(ADAM)
      return vector(await engine.exportParameters())
    }
    const straight = await step()
    expect(largest(vector(await engine.exportParameters()), vector(state.parameters))).toBeGreaterThan(0)
    // Something else in between: neither moments nor values nor the step count may survive it.
    await again()
    await engine.accumulate(batch, options, slopes)
    await engine.importState(structuredClone(state))
    expect(engine.version).toBe(state.version)
    expect(await step()).toEqual(straight)
    // Without the moments it would be another step.
    await engine.importParameters(state.parameters)
    expect(await step()).not.toEqual(straight)
    await expect(engine.importState({ ...state, m: state.m.slice(1) })).rejects.toThrow(/optimizer state of .* is missing or has another size/)
    await expect(engine.importState({ ...state, parameters: state.parameters.slice(1) })).rejects.toThrow(/has no /)
  }, 60_000)

  describe('the accumulator', () => {
    it('adds up and is cleared', async () => {
      await again()
      const once = await gradientOf(engine, [0, 1, 2])
      await again()
      await engine.accumulate(batch, options, slopes)
      const twice = await gradientOf(engine, [0, 1, 2])
      expect(largest(twice, once.map((g) => 2 * g)) / size(once)).toBeLessThan(1e-5)
      await again()
      await engine.accumulate(batch, options, slopes)
      engine.zeroGradients()
      expect(largest(await gradientOf(engine, [0, 1, 2]), once)).toBe(0)
    })
  })

  describe('AdamW', () => {
    it('is torch’s: clip, moments, bias correction, decoupled decay', async () => {
      await again()
      const gradient = await gradientOf(engine, [0, 1, 2])
      const norm = size(gradient)
      await again()
      await engine.accumulate(batch, options, slopes)
      const { grad_norm } = await engine.optimizerStep(ADAM)
      expect(grad_norm / norm).toBeCloseTo(1, 4)
      const one = vector(await engine.exportParameters())
      // A second step without a gradient goes on by its momentum.
      await engine.optimizerStep(ADAM)
      const two = vector(await engine.exportParameters())
      const { learning_rate: lr, adam_beta1: b1, adam_beta2: b2, adam_epsilon: eps, weight_decay: wd } = ADAM
      vector(initial).forEach((p, i) => {
        const g = (gradient[i] as number) * Math.min(1, ADAM.max_grad_norm / (norm + 1e-6))
        const [m, v] = [(1 - b1) * g, (1 - b2) * g * g]
        const p1 = p * (1 - lr * wd) - (lr * (m / (1 - b1))) / (Math.sqrt(v / (1 - b2)) + eps)
        const p2 = p1 * (1 - lr * wd) - (lr * ((b1 * m) / (1 - b1 ** 2))) / (Math.sqrt((b2 * v) / (1 - b2 ** 2)) + eps)
        // Where the gradient is as small as its own rounding, its sign is noise.
        if (Math.abs(g) < 1e-6) return
        expect(Math.abs((one[i] as number) - p1)).toBeLessThan(1e-4)
        expect(Math.abs((two[i] as number) - p2)).toBeLessThan(1e-4)
      })
    })

    it('clips above the norm alone, and not at Infinity', async () => {
      const moved = async (max_grad_norm: number): Promise<Float64Array> => {
        await again()
        await engine.accumulate(batch, options, slopes)
        // ε dominates, so the step is as long as the gradient.
        await engine.optimizerStep({ ...ADAM, max_grad_norm, weight_decay: 0, adam_epsilon: 1e3, learning_rate: 1 })
        const after = vector(await engine.exportParameters())
        return vector(initial).map((p, i) => p - (after[i] as number))
      }
      const [free, loose, tight] = [await moved(Infinity), await moved(1e6), await moved(1)]
      expect(largest(free, loose)).toBe(0)
      expect(size(tight) / size(free)).toBeLessThan(0.02)
    })

    it('starts anew after an import', async () => {
      const step = async (): Promise<Float64Array> => {
        await engine.accumulate(batch, options, slopes)
        await engine.optimizerStep(ADAM)
        return vector(await engine.exportParameters())
      }
      await again()
      const first = await step()
      await step()
      await again()
      expect(await step()).toEqual(first)
    })
  })

  describe('a gradient that is not finite', () => {
    it.each([NaN, Infinity])('(%s) is said, and changes nothing', async (value) => {
      await again()
      const version = engine.version
      await engine.accumulate(batch, options, (indices, scores) => slopes(indices, scores).map(({ dLogprobs }) => ({ dLogprobs: dLogprobs.map(() => value) })))
      await expect(engine.optimizerStep(ADAM)).rejects.toMatchObject({ kind: 'non-finite', message: expect.stringContaining('not applied'), advice: expect.stringMatching(/\.$/) })
      expect(engine.version).toBe(version)
      expect(vector(await engine.exportParameters())).toEqual(vector(initial))
      // Nothing of it is left in the accumulator or in the moments.
      await engine.accumulate(batch, options, slopes)
      const { grad_norm } = await engine.optimizerStep(ADAM)
      expect(Number.isFinite(grad_norm)).toBe(true)
      const after = vector(await engine.exportParameters())
      await again()
      await engine.accumulate(batch, options, slopes)
      await engine.optimizerStep(ADAM)
      expect(vector(await engine.exportParameters())).toEqual(after)
    })
  })

  describe('adapters', () => {
    it('off is the base model: what a fresh LoRA is', async () => {
      const fresh = await start({ seed: 5 })
      const base = logprobs(await fresh.score(batch, options))
      await fresh.dispose()
      await again()
      expect(logprobs(await engine.score(batch, { ...options, adapter: 'off' }))).toEqual(base)
      expect(largest(logprobs(await engine.score(batch, options)), base)).toBeGreaterThan(0.01)
    })

    it('reference stays while the current one moves', async () => {
      await again()
      engine.freezeReference()
      const before = logprobs(await engine.score(batch, options))
      await engine.accumulate(batch, options, slopes)
      await engine.optimizerStep(ADAM)
      expect(logprobs(await engine.score(batch, { ...options, adapter: 'reference' }))).toEqual(before)
      expect(largest(logprobs(await engine.score(batch, options)), before)).toBeGreaterThan(1e-3)
      engine.freezeReference()
      expect(logprobs(await engine.score(batch, { ...options, adapter: 'reference' }))).not.toEqual(before)
    })

    it('reference before it was frozen, and any in full training, are refused', async () => {
      const fresh = await start()
      await expect(fresh.score(batch, { ...options, adapter: 'reference' })).rejects.toMatchObject({ kind: 'engine', message: expect.stringContaining('before it was frozen') })
      await fresh.dispose()
      const full = await start({ lora: null })
      for (const adapter of ['off', 'reference'] as const) {
        await expect(full.score(batch, { ...options, adapter })).rejects.toMatchObject({ kind: 'engine', message: expect.stringContaining(`'${adapter}'`) })
      }
      await expect(full.useAdapter('off')).rejects.toMatchObject({ kind: 'config', message: expect.stringContaining('the base model is gone') })
      await full.dispose()
    })
  })

  describe('resetAdapter', () => {
    it('is a new engine of that seed: parameters, moments, version, no reference', async () => {
      const run = async (one: EngineInstance): Promise<Float64Array> => {
        await one.accumulate(batch, options, slopes)
        await one.optimizerStep(ADAM)
        expect(one.version).toBe(1)
        return vector(await one.exportParameters())
      }
      const fresh = await start({ seed: 8 })
      const expected = await run(fresh)
      await fresh.dispose()
      await again()
      engine.freezeReference()
      await engine.accumulate(batch, options, slopes)
      await engine.optimizerStep(ADAM)
      engine.resetAdapter(8)
      expect(engine.version).toBe(0)
      await expect(engine.score(batch, { ...options, adapter: 'reference' })).rejects.toThrow(/before it was frozen/)
      expect(await run(engine)).toEqual(expected)
    })

    it('goes back to the weights as they were loaded where there is no adapter', async () => {
      const full = await start({ lora: null })
      const [before, scores] = [vector(await full.exportParameters()), logprobs(await full.score(batch, options))]
      await full.accumulate(batch, options, slopes)
      await full.optimizerStep(ADAM)
      expect(vector(await full.exportParameters())).not.toEqual(before)
      expect(logprobs(await full.score(batch, options))).not.toEqual(scores)
      full.resetAdapter(1)
      expect(full.version).toBe(0)
      expect(vector(await full.exportParameters())).toEqual(before)
      expect(logprobs(await full.score(batch, options))).toEqual(scores)
      await full.dispose()
    })
  })

  describe('parameters', () => {
    it('go out and in to the last bit, and count a version', async () => {
      const version = engine.version
      await again()
      expect(engine.version).toBe(version + 1)
      const out = await engine.exportParameters()
      expect(out.map(({ name, dims }) => ({ name, dims }))).toEqual(initial.map(({ name, dims }) => ({ name, dims })))
      expect(vector(out)).toEqual(vector(initial))
      // What was handed out is a copy.
      out[0]?.data.fill(9)
      expect(vector(await engine.exportParameters())).toEqual(vector(initial))
    })

    it('that do not fit are refused by name, and change nothing', async () => {
      await again()
      const name = initial[3]?.name as string
      const without = initial.filter((_, i) => i !== 3)
      await expect(engine.importParameters(without)).rejects.toMatchObject({ kind: 'config', message: expect.stringContaining(`no ${name}`) })
      const turned = initial.map((t, i) => (i === 3 ? { ...t, dims: [...t.dims].reverse() } : t))
      await expect(engine.importParameters(turned)).rejects.toMatchObject({ kind: 'config', message: expect.stringMatching(/shape \[\d+, \d+\].*\[\d+, \d+\] is needed/) })
      expect(vector(await engine.exportParameters())).toEqual(vector(initial))
    })
  })
})

it('the same seed gives the same bytes, another seed others', async () => {
  const run = async (seed: number): Promise<Float64Array> => {
    const engine = await start({ seed })
    for (let k = 0; k < 2; k++) {
      await engine.accumulate(batch, options, slopes)
      await engine.optimizerStep(ADAM)
    }
    const out = vector(await engine.exportParameters())
    await engine.dispose()
    return out
  }
  const one = await run(1)
  expect(await run(1)).toEqual(one)
  expect(await run(2)).not.toEqual(one)
})

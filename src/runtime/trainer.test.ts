/** Scores, gradients and AdamW of a small random model on WASM: what must not change them, and what must be refused. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoraConfig } from '../core/config'
import type { Engine, NamedTensor, SequenceScores, TrainSequence } from '../core/engine'
import { createEngine, type EngineInstance } from './create'
import { readGradients, slopes } from './testing/gradients'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter, randomModel, smallBatch } from './testing/random-model'

const options = { temperature: 0.8 }
const ADAM = { learning_rate: 1e-2, adam_beta1: 0.9, adam_beta2: 0.99, adam_epsilon: 1e-8, weight_decay: 0.1, max_grad_norm: 1 }
const batch = smallBatch()
const RS_LORA: LoraConfig = { ...LORA, use_rslora: true, target_modules: ['q_proj', 'down_proj'] }

function start(given: { lora?: LoraConfig | null; microBatchTokens?: number; config?: typeof CONFIG; seed?: number } = {}): Promise<EngineInstance> {
  const { lora = LORA, microBatchTokens, config = CONFIG, seed } = given
  return createEngine({ source: randomModel(config), lora, backend: 'wasm', threads: 1, slots: 2, contextLength: 48, modelName: 'random', microBatchTokens, seed })
}

const vector = (tensors: readonly NamedTensor[]): Float64Array => Float64Array.from(tensors.flatMap(({ data }) => [...data]))
const largest = (a: ArrayLike<number>, b: ArrayLike<number>): number => Math.max(...Array.from(a, (x, i) => Math.abs(x - (b[i] as number))))
const size = (a: ArrayLike<number>): number => Math.sqrt(Array.from(a).reduce((sum, x) => sum + x * x, 0))
const logprobs = (scores: readonly SequenceScores[]): number[] => scores.flatMap((s) => [...s.logprobs])

/** The whole gradient of the batch in a given order; slopes belong to sequences, not to places. */
async function gradientOf(engine: Engine, order: readonly number[]): Promise<Float64Array> {
  await engine.accumulate(order.map((i) => batch[i] as TrainSequence), options, (indices, scores) => slopes(indices.map((i) => order[i] as number), scores))
  return vector((await readGradients(engine)).gradients)
}

describe.each([
  ['a LoRA on Qwen3', LORA, CONFIG],
  ['a LoRA on Qwen2', RS_LORA, QWEN2_CONFIG],
  ['all parameters', null, CONFIG],
])('%s: results do not depend on', (_name, lora, config) => {
  let [whole, cut]: (EngineInstance | undefined)[] = []
  let initial: NamedTensor[]
  let expected: { scores: SequenceScores[]; gradient: Float64Array }
  const engines = (): [EngineInstance, EngineInstance] => [whole as EngineInstance, cut as EngineInstance]

  beforeAll(async () => {
    whole = await start({ lora, config })
    // One row a micro-batch.
    cut = await start({ lora, config, microBatchTokens: 1 })
    initial = await whole.exportParameters()
    if (lora) initial = randomAdapter(initial)
    await whole.importParameters(initial)
    const scores = await whole.score(batch, options)
    expected = { scores, gradient: await gradientOf(whole, [0, 1, 2]) }
    expect(size(expected.gradient)).toBeGreaterThan(1)
  })
  afterAll(async () => {
    await whole?.dispose()
    await cut?.dispose()
  })

  it('how the batch is cut into micro-batches', async () => {
    const [, engine] = engines()
    await engine.importParameters(initial)
    expect(largest(logprobs(await engine.score(batch, options)), logprobs(expected.scores))).toBeLessThan(1e-5)
    let calls = 0
    await engine.accumulate(batch, options, (indices, scores) => {
      calls++
      return slopes(indices, scores)
    })
    expect(calls).toBeGreaterThan(1)
    const gradient = vector((await readGradients(engine)).gradients)
    expect(largest(gradient, expected.gradient) / size(expected.gradient)).toBeLessThan(1e-5)
  })

  // Apart, the two sequences of a group share no row.
  it.each([[[0, 2, 1]], [[2, 1, 0]], [[1, 0, 2]]])('the order %j and who shares a row', async (order) => {
    const [engine] = engines()
    await engine.importParameters(initial)
    const scores = await engine.score(order.map((i) => batch[i] as TrainSequence), options)
    order.forEach((i, at) => {
      expect(largest(scores[at]?.logprobs ?? [], expected.scores[i]?.logprobs ?? [])).toBeLessThan(1e-5)
      expect(largest(scores[at]?.entropies ?? [], expected.scores[i]?.entropies ?? [])).toBeLessThan(1e-5)
      expect([...(scores[at]?.argmax ?? [])]).toEqual([...(expected.scores[i]?.argmax ?? [])])
    })
    const gradient = await gradientOf(engine, order)
    expect(largest(gradient, expected.gradient) / size(expected.gradient)).toBeLessThan(1e-5)
  })

  it('whether sequences come in one call or in several', async () => {
    const [engine] = engines()
    await engine.importParameters(initial)
    for (const i of [2, 0, 1]) {
      await engine.accumulate([batch[i] as TrainSequence], options, (_indices, scores) => slopes([i], scores))
    }
    const gradient = vector((await readGradients(engine)).gradients)
    expect(largest(gradient, expected.gradient) / size(expected.gradient)).toBeLessThan(1e-5)
  })
})

describe('one engine', () => {
  let engine: EngineInstance
  let initial: NamedTensor[]
  beforeAll(async () => {
    engine = await start()
    initial = randomAdapter(await engine.exportParameters())
  })
  afterAll(() => engine.dispose())
  const again = (): Promise<void> => engine.importParameters(initial)

  describe('scores', () => {
    it('are 0 and −1 where the mask is 0, log-probabilities where it is 1', async () => {
      await again()
      const scores = await engine.score(batch, options)
      scores.forEach((score, s) => {
        const { ids, mask } = batch[s] as TrainSequence
        for (const array of [score.logprobs, score.entropies, score.argmax]) expect(array).toHaveLength(ids.length)
        mask.forEach((m, t) => {
          if (m === 0) expect([score.logprobs[t], score.entropies[t], score.argmax[t]]).toEqual([0, 0, -1])
          else {
            expect(score.logprobs[t]).toBeLessThan(0)
            expect(score.entropies[t]).toBeGreaterThan(0)
            expect(score.argmax[t]).toBeGreaterThanOrEqual(0)
          }
        })
      })
    })

    it('of all continuations sum to one, at any temperature', async () => {
      const prompt = [5, 9, 13, 2, 40]
      const every = Array.from({ length: CONFIG.vocab_size }, (_, id): TrainSequence => ({ ids: [...prompt, id], mask: [0, 0, 0, 0, 0, 1] }))
      for (const temperature of [0.3, 1, 3]) {
        const scores = await engine.score(every, { temperature })
        const probs = scores.map((s) => Math.exp(s.logprobs[5] as number))
        expect(probs.reduce((a, b) => a + b)).toBeCloseTo(1, 5)
        const entropy = -probs.reduce((sum, p) => sum + p * Math.log(p), 0)
        expect(scores[0]?.entropies[5]).toBeCloseTo(entropy, 4)
        expect(scores[0]?.argmax[5]).toBe(probs.indexOf(Math.max(...probs)))
      }
    })

    it('do not see what comes later', async () => {
      const [first] = await engine.score([batch[0] as TrainSequence], options)
      const { ids, mask } = batch[0] as TrainSequence
      const changed = { ids: [...ids.slice(0, -1), (ids[ids.length - 1] as number) === 1 ? 2 : 1], mask }
      const [second] = await engine.score([changed], options)
      expect([...(second?.logprobs ?? [])].slice(0, -1)).toEqual([...(first?.logprobs ?? [])].slice(0, -1))
      expect(second?.logprobs[ids.length - 1]).not.toBe(first?.logprobs[ids.length - 1])
    })

    it('of nothing are nothing', async () => {
      expect(await engine.score([], options)).toEqual([])
      const [none] = await engine.score([{ ids: [1, 2, 3], mask: [0, 0, 0] }], options)
      expect([...(none?.logprobs ?? [])]).toEqual([0, 0, 0])
    })
  })

  describe('the loss', () => {
    it('is asked once a sequence, with the scores that score() gives', async () => {
      await again()
      const scores = await engine.score(batch, options)
      const seen: number[] = []
      await engine.accumulate(batch, options, (indices, own) => {
        indices.forEach((index, i) => {
          seen.push(index)
          expect(own[i]).toEqual(scores[index])
        })
        return slopes(indices, own)
      })
      engine.zeroGradients()
      expect(seen.sort()).toEqual([0, 1, 2])
    })

    it('without a slope adds nothing', async () => {
      await again()
      const flat = (indices: number[], scores: SequenceScores[]) => indices.map((_, i) => ({ dLogprobs: new Float64Array(scores[i]?.logprobs.length ?? 0) }))
      await engine.accumulate(batch, options, flat)
      expect(await engine.optimizerStep({ ...ADAM, weight_decay: 0 })).toEqual({ grad_norm: 0 })
      expect(vector(await engine.exportParameters())).toEqual(vector(initial))
    })

    it('on the entropy alone has a gradient', async () => {
      await again()
      await engine.accumulate(batch, options, (indices, scores) =>
        slopes(indices, scores).map(({ dLogprobs, dEntropies }) => ({ dLogprobs: dLogprobs.map(() => 0), dEntropies })),
      )
      expect((await readGradients(engine)).grad_norm).toBeGreaterThan(0.1)
    })

    it('is where a difference of the parameters shows it: gradient along itself', async () => {
      await again()
      const gradient = await gradientOf(engine, [0, 1, 2])
      const length = size(gradient)
      const loss = async (step: number): Promise<number> => {
        let at = 0
        await engine.importParameters(
          initial.map((tensor) => ({ ...tensor, data: tensor.data.map((value) => value + (step * (gradient[at++] as number)) / length) })),
        )
        const scores = await engine.score(batch, options)
        const s = slopes([0, 1, 2], scores)
        return scores.reduce((sum, { logprobs: l, entropies: e }, i) => {
          batch[i]?.mask.forEach((m, t) => {
            if (m === 1) sum += (s[i]?.dLogprobs[t] as number) * (l[t] as number) + (s[i]?.dEntropies?.[t] as number) * (e[t] as number)
          })
          return sum
        }, 0)
      }
      const h = 2e-3
      expect((await loss(h) - await loss(-h)) / (2 * h) / length).toBeCloseTo(1, 2)
    })
  })

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

    it('is refused where there is no adapter, instead of emptying the model', async () => {
      const full = await start({ lora: null })
      const before = vector(await full.exportParameters())
      expect(() => full.resetAdapter(1)).toThrow(/no adapter/)
      expect(vector(await full.exportParameters())).toEqual(before)
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

  it.each<[string, TrainSequence, RegExp]>([
    ['a mask of another length', { ids: [1, 2, 3], mask: [0, 1] }, /Sequence 1.*3 ids.*2 mask/],
    ['a trained first token', { ids: [1, 2], mask: [1, 1] }, /Sequence 1.*first token/],
    ['more tokens than the context', { ids: new Array<number>(49).fill(1), mask: new Array<number>(49).fill(0) }, /Sequence 1.*49.*48/],
    ['a token behind the vocabulary', { ids: [1, 64], mask: [0, 1] }, /Sequence 1.*64.*64/],
    ['a negative token', { ids: [-1, 2], mask: [0, 1] }, /Sequence 1.*-1/],
    ['a token that is no number', { ids: [NaN, 2], mask: [0, 1] }, /Sequence 1.*NaN/],
  ])('refuses %s', async (_name, sequence, message) => {
    const bad = [batch[0] as TrainSequence, sequence]
    await expect(engine.score(bad, options)).rejects.toMatchObject({ kind: 'engine', message: expect.stringMatching(message) })
    await expect(engine.accumulate(bad, options, slopes)).rejects.toThrow(message)
  })

  it('takes a sequence as long as the context', async () => {
    const ids = Array.from({ length: 48 }, (_, t) => (t * 5) % 64)
    const [score] = await engine.score([{ ids, mask: ids.map((_, t) => (t > 40 ? 1 : 0)) }], options)
    expect(score?.logprobs[47]).toBeLessThan(0)
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

/** Scores and gradients of a small random model on WASM: what must not change them, and what must be refused. */

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { LoraConfig } from '../core/config'
import type { NamedTensor, SequenceScores, TrainSequence } from '../core/engine'
import type { EngineInstance } from './create'
import type { Sessions } from './sessions'
import { readGradients, slopes } from './gradient-probe'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter } from './testing/random-model'
import { ADAM, batch, gradientOf, largest, logprobs, options, size, start, vector } from './testing/small-trainer'

const RS_LORA: LoraConfig = { ...LORA, use_rslora: true, target_modules: ['q_proj', 'down_proj'] }

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

  it('whether our kernels or graphs compute it, and whether the forward’s costly values are kept or computed again', async () => {
    const engine = await start({ lora, config, ownKernels: false })
    await engine.importParameters(initial)
    const { sessions } = (engine as unknown as { loaded: { sessions: Sessions } }).loaded
    expect(largest(logprobs(await engine.score(batch, options)), logprobs(expected.scores))).toBeLessThan(2e-5)
    const kept = await gradientOf(engine, [0, 1, 2])
    expect(largest(kept, expected.gradient) / size(expected.gradient)).toBeLessThan(1e-5)
    vi.spyOn(sessions, 'keptBytes').mockReturnValue(Infinity)
    const asked = vi.spyOn(sessions, 'get')
    await engine.importParameters(initial)
    const again = await gradientOf(engine, [0, 1, 2])
    const names = asked.mock.calls.map(([name]) => name)
    expect(names.some((name) => /^block_backward_\d/.test(name)) && !names.some((name) => name.includes('kept'))).toBe(true)
    expect(largest(again, kept) / size(kept)).toBeLessThan(1e-6)
    await engine.dispose()
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

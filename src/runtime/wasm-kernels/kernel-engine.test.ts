/** Our kernels against onnxruntime's graphs on random models, and against themselves when they work in other pieces. */

import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { LoraConfig } from '../../core/config'
import type { NamedTensor } from '../../core/engine'
import type { EngineInstance } from '../create'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter } from '../testing/random-model'
import { batch, gradientOf, largest, logprobs, options, size, start } from '../testing/small-trainer'
import { limits } from './limits'

const usual = { ...limits }
afterEach(() => Object.assign(limits, usual))

/** A rank that is no whole panel, and projections of a group apart. */
const ODD: LoraConfig = { ...LORA, r: 11, target_modules: ['k_proj', 'up_proj', 'o_proj'] }

describe.each([
  ['Qwen3', CONFIG, LORA],
  ['Qwen2 with another LoRA', QWEN2_CONFIG, ODD],
])('%s', (_, config, lora) => {
  let [ours, graphs]: (EngineInstance | undefined)[] = []
  let adapter: NamedTensor[]
  const both = (): [EngineInstance, EngineInstance] => [ours as EngineInstance, graphs as EngineInstance]

  beforeAll(async () => {
    ours = await start({ config, lora })
    graphs = await start({ config, lora, ownKernels: false })
    adapter = randomAdapter(await ours.exportParameters())
    for (const engine of both()) await engine.importParameters(adapter)
    return () => Promise.all(both().map((engine) => engine.dispose()))
  })

  it('scores and slopes are those of the graphs', async () => {
    const [mine, theirs] = both()
    const [a, b] = [await mine.score(batch, options), await theirs.score(batch, options)]
    expect(largest(logprobs(a), logprobs(b))).toBeLessThan(2e-5)
    a.forEach(({ entropies, argmax }, i) => {
      expect(largest(entropies, b[i]?.entropies ?? [])).toBeLessThan(2e-5)
      expect([...argmax]).toEqual([...(b[i]?.argmax ?? [])])
    })
    const [x, y] = [await gradientOf(mine, [0, 1, 2]), await gradientOf(theirs, [0, 1, 2])]
    expect(largest(x, y) / size(y)).toBeLessThan(1e-5)
  })

  it('without the adapter too', async () => {
    const [mine, theirs] = both()
    const off = { ...options, adapter: 'off' as const }
    expect(largest(logprobs(await mine.score(batch, off)), logprobs(await theirs.score(batch, off)))).toBeLessThan(2e-5)
    expect(largest(logprobs(await mine.score(batch, off)), logprobs(await mine.score(batch, options)))).toBeGreaterThan(1e-2)
  })

  it('slopes do not depend on what is kept, and on how many logits there are at once', async () => {
    const [mine] = both()
    await mine.importParameters(adapter)
    const whole = await gradientOf(mine, [0, 1, 2])
    Object.assign(limits, { keptBytes: 0, logitBytes: 0 })
    await mine.importParameters(adapter)
    expect(largest(await gradientOf(mine, [0, 1, 2]), whole)).toBe(0)
  })

  it('draws the graphs’ tokens, whose log-probs are those of a score', async () => {
    const drawn = await Promise.all(
      both().map(async (engine) => {
        await engine.importParameters(adapter)
        for (const slot of [0, 1]) engine.reset(slot)
        await engine.prefill(0, [3, 5, 7, 9, 11])
        await engine.copy(0, [1])
        await engine.prefill(1, [2, 4])
        const out = []
        for (let k = 0; k < 30; k++) {
          const draws = await engine.sample([0, 1].map((slot) => ({ slot, uniform: ((k * 37 + slot * 11) % 100) / 100 })), { temperature: 0.9, top_k: 0, top_p: 1, min_p: null })
          out.push(draws)
          await engine.decode(draws.map(({ id }, slot) => ({ slot, id })))
        }
        return out
      }),
    )
    const [mine, theirs] = drawn as [(typeof drawn)[0], (typeof drawn)[0]]
    expect(mine.map((draws) => draws.map(({ id, top }) => [id, ...top.map((t) => t.id)]))).toEqual(theirs.map((draws) => draws.map(({ id, top }) => [id, ...top.map((t) => t.id)])))
    expect(new Set(mine.flat().map(({ id }) => id)).size).toBeGreaterThan(10)
    const ids = [3, 5, 7, 9, 11, ...mine.map(([first]) => first?.id as number)]
    const [scores] = await both()[0].score([{ ids, mask: ids.map((_id, t) => (t > 4 ? 1 : 0)) }], { temperature: 0.9 })
    mine.forEach(([first], k) => {
      expect(Math.abs((scores?.logprobs[k + 5] as number) - (first?.logprob as number))).toBeLessThan(1e-5)
      expect(Math.abs((scores?.entropies[k + 5] as number) - (first?.entropy as number))).toBeLessThan(1e-5)
    })
  })
})

describe('where the browser refuses', () => {
  it('the memory, onnxruntime’s graphs run the layers', async () => {
    const memory = vi.spyOn(WebAssembly, 'Memory').mockImplementation(function () {
      throw new RangeError('no memory')
    })
    const engine = await start({})
    memory.mockRestore()
    expect((engine as unknown as { loaded: { kernels: unknown } }).loaded.kernels).toBeNull()
    expect((await engine.score(batch, options))[0]?.logprobs[12]).toBeLessThan(0)
    await engine.dispose()
  })

  it('a larger cache, nothing is kept of it and the smaller one goes on', async () => {
    const engine = await start({})
    await engine.prefill(0, [1, 2, 3])
    const { kernels } = (engine as unknown as { loaded: { kernels: { heap: { allocate(count: number): number }; makeCache(tokens: number): number[]; allocatedBytes: number } } }).loaded
    const before = kernels.allocatedBytes
    const allocate = kernels.heap.allocate.bind(kernels.heap)
    let calls = 0
    kernels.heap.allocate = (count) => {
      if (++calls > 1) throw new Error('no more')
      return allocate(count)
    }
    expect(() => kernels.makeCache(1000)).toThrow('no more')
    kernels.heap.allocate = allocate
    expect(kernels.allocatedBytes).toBe(before)
    await engine.decode([{ slot: 0, id: 4 }])
    expect(engine.length(0)).toBe(4)
    await engine.dispose()
  })
})

/** Slots, sampling and filters of a small random model on WASM, against the trainer's log-probs of the same tokens. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LoraConfig } from '../core/config'
import type { Engine, SampledToken, SamplingParams } from '../core/engine'
import { RandomStream } from '../core/random'
import { createEngine, type EngineInstance } from './create'
import { slopes } from './gradient-probe'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter, randomModel, smallBatch } from './testing/random-model'

const plain: SamplingParams = { temperature: 1, top_k: 0, top_p: 1, min_p: null }
const SLOTS = 4
const RS_LORA: LoraConfig = { ...LORA, use_rslora: true, target_modules: ['q_proj', 'v_proj', 'down_proj'] }

async function start(lora: LoraConfig | null = LORA, config: typeof CONFIG = CONFIG, contextLength = 160): Promise<EngineInstance> {
  const engine = await createEngine({ source: randomModel(config), lora, backend: 'wasm', threads: 1, slots: SLOTS, contextLength, modelName: 'random' })
  if (lora) await engine.importParameters(randomAdapter(await engine.exportParameters()))
  return engine
}

/** What a slot was told, token by token; NaN where the token was not sampled. */
interface Told {
  ids: number[]
  logprobs: number[]
  entropies: number[]
}

/** Largest difference between sampled and recomputed log-probs and entropies. */
async function mismatch(engine: Engine, told: readonly Told[], temperature: number): Promise<number> {
  const batch = told.map(({ ids, logprobs }) => ({ ids, mask: logprobs.map((l) => (Number.isNaN(l) ? 0 : 1)) }))
  const scores = await engine.score(batch, { temperature })
  let [worst, sampled] = [0, 0]
  told.forEach(({ logprobs, entropies }, s) =>
    logprobs.forEach((l, t) => {
      if (Number.isNaN(l)) return
      sampled++
      worst = Math.max(worst, Math.abs(l - (scores[s]?.logprobs[t] as number)), Math.abs((entropies[t] as number) - (scores[s]?.entropies[t] as number)))
    }),
  )
  expect(sampled).toBeGreaterThan(0)
  return worst
}

/** A player over the slots: remembers all it does. */
class Player {
  readonly told: Told[] = Array.from({ length: SLOTS }, () => ({ ids: [], logprobs: [], entropies: [] }))
  readonly random = new RandomStream(23)
  constructor(private readonly engine: Engine) {
    for (let slot = 0; slot < SLOTS; slot++) engine.reset(slot)
  }

  tokens(n: number): number[] {
    return Array.from({ length: n }, () => this.random.int(CONFIG.vocab_size))
  }

  async prefill(slot: number, ids: readonly number[]): Promise<void> {
    await this.engine.prefill(slot, ids)
    for (const id of ids) this.note(slot, id, NaN, NaN)
  }

  async copy(from: number, to: readonly number[]): Promise<void> {
    await this.engine.copy(from, to)
    for (const slot of to) this.told[slot] = structuredClone(this.told[from] as Told)
  }

  /** Draws and appends one token in each slot. */
  async step(slots: readonly number[], params: SamplingParams): Promise<void> {
    const drawn = await this.engine.sample(slots.map((slot) => ({ slot, uniform: this.random.next() })), params)
    await this.engine.decode(slots.map((slot, i) => ({ slot, id: drawn[i]?.id as number })))
    drawn.forEach(({ id, logprob, entropy }, i) => this.note(slots[i] as number, id, logprob, entropy))
  }

  private note(slot: number, id: number, logprob: number, entropy: number): void {
    this.told[slot]?.ids.push(id)
    this.told[slot]?.logprobs.push(logprob)
    this.told[slot]?.entropies.push(entropy)
  }
}

/** Ragged slots, copies, an observation after some turns, slots that rest. */
async function episode(engine: Engine, params: SamplingParams): Promise<Told[]> {
  const player = new Player(engine)
  await player.prefill(0, player.tokens(7))
  await player.copy(0, [1, 2])
  await player.prefill(3, player.tokens(1))
  await player.prefill(2, player.tokens(3))
  for (let k = 0; k < 3; k++) await player.step([0, 1, 2, 3], params)
  await player.step([3, 1], params)
  await player.prefill(1, player.tokens(5))
  for (let k = 0; k < 2; k++) await player.step([1, 2], params)
  await player.prefill(0, player.tokens(1))
  await player.copy(1, [3])
  for (let k = 0; k < 3; k++) await player.step([0, 3], params)
  player.told.forEach(({ ids }, slot) => expect(engine.length(slot)).toBe(ids.length))
  return player.told
}

describe.each([
  ['a LoRA on Qwen3', LORA, CONFIG],
  ['a LoRA on Qwen2', RS_LORA, QWEN2_CONFIG],
  ['all parameters of a Qwen3', null, CONFIG],
  ['all parameters of a Qwen2', null, QWEN2_CONFIG],
])('%s: what was sampled is what is recomputed', (_name, lora, config) => {
  let engine: EngineInstance
  beforeAll(async () => {
    engine = await start(lora, config)
  })
  afterAll(() => engine.dispose())

  it.each<[string, SamplingParams]>([
    ['temperature 1', plain],
    ['temperature 0.7', { ...plain, temperature: 0.7 }],
    ['top-k', { ...plain, temperature: 0.7, top_k: 5 }],
    ['top-p', { ...plain, temperature: 1.3, top_p: 0.5 }],
    ['min-p', { ...plain, temperature: 0.7, min_p: 0.2 }],
    ['all three', { temperature: 0.9, top_k: 20, top_p: 0.9, min_p: 0.05 }],
  ])('%s', async (_filter, params) => {
    expect(await mismatch(engine, await episode(engine, params), params.temperature)).toBeLessThan(1e-4)
  })

  it('after an optimizer step too, by the new weights', async () => {
    const [before] = await engine.score(smallBatch(), { temperature: 1 })
    await engine.accumulate(smallBatch(), { temperature: 1 }, slopes)
    await engine.optimizerStep({ learning_rate: 0.02, adam_beta1: 0.9, adam_beta2: 0.99, adam_epsilon: 1e-8, weight_decay: 0, max_grad_norm: 1 })
    const [after] = await engine.score(smallBatch(), { temperature: 1 })
    expect(Math.abs((after?.logprobs[12] as number) - (before?.logprobs[12] as number))).toBeGreaterThan(1e-3)
    expect(await mismatch(engine, await episode(engine, plain), 1)).toBeLessThan(1e-4)
  })
})

describe('one engine', () => {
  let engine: EngineInstance
  beforeAll(async () => {
    engine = await start()
  })
  afterAll(() => engine.dispose())
  beforeEach(() => {
    for (let slot = 0; slot < SLOTS; slot++) engine.reset(slot)
  })
  const ids = Array.from({ length: 150 }, (_, i) => (11 * i + 5) % CONFIG.vocab_size)
  const numbers = ({ logprob, entropy, top }: SampledToken): number[] => [logprob, entropy, ...top.map(({ prob }) => prob)]
  const differ = (a: readonly SampledToken[], b: readonly SampledToken[]): number =>
    Math.max(...a.flatMap((token, i) => numbers(token).map((x, k) => Math.abs(x - (numbers(b[i] as SampledToken)[k] as number)))))

  describe('a slot', () => {
    it('does not depend on what the others do', async () => {
      const script = async (others: (step: number) => Promise<unknown>): Promise<SampledToken[]> => {
        const out: SampledToken[] = []
        await engine.prefill(1, ids.slice(0, 6))
        for (let k = 0; k < 6; k++) {
          await others(k)
          out.push(...(await engine.sample([{ slot: 1, uniform: 0.31 }], plain)))
          await engine.decode([{ slot: 1, id: ids[6 + k] as number }])
        }
        return out
      }
      const alone = await script(async () => undefined)
      for (let slot = 0; slot < SLOTS; slot++) engine.reset(slot)
      const among = await script(async (step) => {
        if (step === 0) await engine.prefill(0, ids.slice(20, 60))
        if (step === 1) await engine.prefill(3, ids.slice(3, 5))
        if (step === 2) await engine.copy(0, [2])
        // Over the first 64 tokens of the cache.
        if (step === 3) await engine.prefill(2, ids.slice(0, 40))
        if (step >= 1) await engine.decode([{ slot: 0, id: 9 }, { slot: 3, id: 8 }])
        if (step === 5) engine.reset(0)
        await engine.sample([{ slot: 3, uniform: 0.9 }], { ...plain, temperature: 0.5, top_k: 2 })
      })
      expect(among.map(({ id }) => id)).toEqual(alone.map(({ id }) => id))
      expect(differ(among, alone)).toBeLessThan(1e-5)
    })

    it.each([63, 64, 65, 127, 128, 129])('of %i tokens keeps them while it rests and others go on', async (length) => {
      const player = new Player(engine)
      await player.prefill(0, ids.slice(0, length))
      await player.prefill(1, ids.slice(0, 3))
      for (let k = 0; k < 3; k++) await player.step([1], plain)
      for (let k = 0; k < 2; k++) await player.step([0, 1], plain)
      expect(await mismatch(engine, player.told.slice(0, 2), 1)).toBeLessThan(1e-4)
    })

    it('that is reset is as new', async () => {
      const fresh = await engine.prefill(2, ids.slice(4, 10)).then(() => engine.sample([{ slot: 2, uniform: 0.4 }], plain))
      await engine.prefill(2, ids.slice(0, 30))
      engine.reset(2)
      expect(engine.length(2)).toBe(0)
      await engine.prefill(2, ids.slice(4, 10))
      expect(differ(await engine.sample([{ slot: 2, uniform: 0.4 }], plain), fresh)).toBeLessThan(1e-6)
    })

    it('without the adapter is the base model, and with it again as before', async () => {
      const [ids, uniform] = [[3, 9, 27], 0.4]
      const draw = async (): Promise<SampledToken> => {
        engine.reset(0)
        await engine.prefill(0, ids)
        return (await engine.sample([{ slot: 0, uniform }], plain))[0] as SampledToken
      }
      const trained = await draw()
      await engine.prefill(1, ids)
      await engine.useAdapter('off')
      expect(engine.length(1)).toBe(0)
      const base = await draw()
      const [scores] = await engine.score([{ ids: [...ids, base.id], mask: [0, 0, 0, 1] }], { temperature: 1, adapter: 'off' })
      expect(base.logprob).toBeCloseTo(scores?.logprobs[3] as number, 4)
      expect(base.entropy).not.toBeCloseTo(trained.entropy, 4)
      await engine.useAdapter('current')
      expect(await draw()).toEqual(trained)
    })

    it('copied over others takes nothing with it, and goes its own way', async () => {
      await engine.prefill(0, ids.slice(0, 9))
      await engine.prefill(3, ids.slice(50, 70))
      await engine.copy(0, [3, 0, 1])
      expect([0, 1, 2, 3].map((slot) => engine.length(slot))).toEqual([9, 9, 0, 9])
      const all = await engine.sample([0, 1, 3].map((slot) => ({ slot, uniform: 0.6 })), plain)
      expect(all[1]).toEqual(all[0])
      expect(all[2]).toEqual(all[0])
      await engine.decode([{ slot: 0, id: 1 }, { slot: 1, id: 2 }])
      const apart = await engine.sample([0, 1, 3].map((slot) => ({ slot, uniform: 0.6 })), plain)
      expect(differ([apart[2] as SampledToken], [all[0] as SampledToken])).toBe(0)
      expect(differ([apart[0] as SampledToken], [apart[1] as SampledToken])).toBeGreaterThan(1e-3)
    })

    it('is the same whether its tokens come at once, in parts or one by one', async () => {
      await engine.prefill(0, ids.slice(0, 40))
      await engine.prefill(1, ids.slice(0, 1))
      await engine.prefill(1, ids.slice(1, 33))
      await engine.prefill(1, ids.slice(33, 40))
      await engine.prefill(2, ids.slice(0, 38))
      for (const id of ids.slice(38, 40)) await engine.decode([{ slot: 2, id }])
      const [at, parts, single] = await engine.sample([0, 1, 2].map((slot) => ({ slot, uniform: 0.2 })), plain)
      expect(differ([at as SampledToken], [parts as SampledToken])).toBeLessThan(1e-5)
      expect(differ([at as SampledToken], [single as SampledToken])).toBeLessThan(1e-5)
    })
  })

  describe('the draw', () => {
    const prompt = ids.slice(0, 12)
    /** softmax over the whole vocabulary, from the training graphs. */
    async function distribution(temperature: number): Promise<number[]> {
      const every = Array.from({ length: CONFIG.vocab_size }, (_, id) => ({ ids: [...prompt, id], mask: [...prompt.map(() => 0), 1] }))
      return (await engine.score(every, { temperature })).map(({ logprobs }) => Math.exp(logprobs[prompt.length] as number))
    }
    async function draws(uniforms: readonly number[], params: SamplingParams): Promise<SampledToken[]> {
      engine.reset(0)
      await engine.prefill(0, prompt)
      await engine.copy(0, [1, 2, 3])
      const out: SampledToken[] = []
      for (let at = 0; at < uniforms.length; at += SLOTS) {
        out.push(...(await engine.sample(uniforms.slice(at, at + SLOTS).map((uniform, slot) => ({ slot, uniform })), params)))
      }
      return out
    }

    it.each([0.7, 1])('follows the softmax at temperature %f: chi-square over 2000 fixed uniforms', async (temperature) => {
      const random = new RandomStream(41)
      const probs = await distribution(temperature)
      const drawn = await draws(Array.from({ length: 2000 }, () => random.next()), { ...plain, temperature })
      // Tokens that are expected fewer than five times are one class.
      let [chi, classes, rare, rareSeen] = [0, 0, 0, 0]
      probs.forEach((p, id) => {
        const seen = drawn.filter((token) => token.id === id).length
        if (2000 * p < 5) [rare, rareSeen] = [rare + 2000 * p, rareSeen + seen]
        else [chi, classes] = [chi + (seen - 2000 * p) ** 2 / (2000 * p), classes + 1]
      })
      if (rare > 0) chi += (rareSeen - rare) ** 2 / rare
      expect(classes).toBeGreaterThan(10)
      // Mean `classes`, deviation √(2·classes): four deviations.
      expect(chi).toBeLessThan(classes + 4 * Math.sqrt(2 * classes))
    })

    it('is the inverse of the cumulative distribution, ends included', async () => {
      const probs = await distribution(1)
      const cumulative = probs.map((_, i) => probs.slice(0, i + 1).reduce((a, b) => a + b))
      const uniforms = [0, ...Array.from({ length: 46 }, (_, i) => (i + 0.5) / 46), 1 - 2 ** -32]
      const drawn = await draws(uniforms, plain)
      uniforms.forEach((u, i) => {
        const expected = cumulative.findIndex((c) => c > u)
        const id = drawn[i]?.id as number
        // At a border the last bit decides.
        const near = Math.min(...cumulative.map((c) => Math.abs(c - u))) < 1e-5
        if (near) expect(Math.abs(id - (expected < 0 ? CONFIG.vocab_size - 1 : expected))).toBeLessThanOrEqual(1)
        else expect(id).toBe(expected)
        expect(drawn[i]?.logprob).toBeCloseTo(Math.log(probs[id] as number), 3)
      })
    })

    it('carries the five likeliest tokens', async () => {
      const probs = await distribution(1)
      const order = [...probs.keys()].sort((a, b) => (probs[b] as number) - (probs[a] as number)).slice(0, 5)
      for (const params of [plain, { ...plain, top_k: 1 }, { ...plain, temperature: 0 }]) {
        const [token] = await draws([0.5], params)
        expect(token?.top.map(({ id }) => id)).toEqual(order)
        token?.top.forEach(({ prob }, k) => expect(prob).toBeCloseTo(probs[order[k] as number] as number, 4))
      }
    })

    it.each([{ top_k: 1 }, { top_p: 1e-6 }, { min_p: 1 }])('with %j is greedy, whatever the uniform', async (filter) => {
      const [greedy] = await draws([0.123], { ...plain, temperature: 0 })
      const drawn = await draws([0, 0.25, 0.5, 1 - 2 ** -32], { ...plain, ...filter })
      for (const token of drawn) {
        expect(token.id).toBe(greedy?.id)
        expect(token.logprob).toBeCloseTo(greedy?.logprob as number, 5)
      }
    })

    it('when greedy has the log-prob of temperature 1', async () => {
      const probs = await distribution(1)
      const [token] = await draws([0.9], { ...plain, temperature: 0 })
      expect(token?.id).toBe(probs.indexOf(Math.max(...probs)))
      expect(token?.logprob).toBeCloseTo(Math.log(Math.max(...probs)), 5)
    })

    it('of no slot is nothing, and does not append', async () => {
      await engine.prefill(0, prompt)
      expect(await engine.sample([], plain)).toEqual([])
      await engine.sample([{ slot: 0, uniform: 0.5 }], plain)
      expect(engine.length(0)).toBe(prompt.length)
    })
  })

  it('calls that are not waited for happen in their order', async () => {
    const [first] = await (async () => {
      await engine.prefill(0, ids.slice(0, 8))
      await engine.copy(0, [1])
      await engine.decode([{ slot: 1, id: 4 }])
      await engine.prefill(1, ids.slice(8, 11))
      return engine.sample([{ slot: 1, uniform: 0.5 }], plain)
    })()
    engine.reset(0)
    engine.reset(1)
    const calls = [
      engine.prefill(0, ids.slice(0, 8)),
      engine.copy(0, [1]),
      engine.score(smallBatch(), { temperature: 1 }),
      engine.decode([{ slot: 1, id: 4 }]),
      engine.prefill(1, ids.slice(8, 11)),
      engine.exportParameters(),
    ]
    const [second] = await engine.sample([{ slot: 1, uniform: 0.5 }], plain)
    await Promise.all(calls)
    expect(second).toEqual(first)
    expect([engine.length(0), engine.length(1)]).toEqual([8, 12])
  })

  describe('refuses', () => {
    it.each([-1, SLOTS, 0.5, NaN])('slot %d', async (slot) => {
      await engine.prefill(0, [1])
      const expected = { kind: 'engine', message: expect.stringContaining(`no slot ${slot}; there are ${SLOTS}`) }
      await expect(engine.prefill(slot, [1])).rejects.toMatchObject(expected)
      await expect(engine.decode([{ slot, id: 1 }])).rejects.toMatchObject(expected)
      await expect(engine.sample([{ slot, uniform: 0 }], plain)).rejects.toMatchObject(expected)
      await expect(engine.copy(slot, [0])).rejects.toMatchObject(expected)
      await expect(engine.copy(0, [1, slot])).rejects.toMatchObject(expected)
      expect(() => engine.length(slot)).toThrow(`no slot ${slot}`)
      expect(() => engine.reset(slot)).toThrow(`no slot ${slot}`)
      // The other slots of a refused call are as they were.
      expect([0, 1].map((s) => engine.length(s))).toEqual([1, 0])
    })

    it('more tokens than the context, and leaves the slot as it was', async () => {
      await engine.prefill(0, ids)
      const [before] = await engine.sample([{ slot: 0, uniform: 0.5 }], plain)
      await expect(engine.prefill(0, ids.slice(0, 11))).rejects.toMatchObject({ kind: 'engine', message: expect.stringMatching(/161 tokens.*160/), advice: expect.stringContaining('max_completion_length') })
      expect(engine.length(0)).toBe(150)
      expect(await engine.sample([{ slot: 0, uniform: 0.5 }], plain)).toEqual([before])
      await engine.prefill(0, ids.slice(0, 10))
      await engine.prefill(1, [1])
      await expect(engine.decode([{ slot: 1, id: 1 }, { slot: 0, id: 1 }])).rejects.toThrow(/161 tokens.*160/)
      expect([engine.length(0), engine.length(1)]).toEqual([160, 1])
      // A full slot can be sampled from, and does not stop the others.
      await engine.decode([{ slot: 1, id: 1 }])
      expect((await engine.sample([{ slot: 0, uniform: 0.5 }], plain))[0]?.logprob).toBeLessThan(0)
    })

    it('an empty prefill and one slot twice; does nothing where there is nothing to do', async () => {
      await expect(engine.prefill(0, [])).rejects.toMatchObject({ kind: 'engine', message: expect.stringContaining('no tokens') })
      await engine.prefill(0, [1])
      await expect(engine.decode([{ slot: 0, id: 1 }, { slot: 0, id: 2 }])).rejects.toThrow(/one slot twice/)
      await engine.decode([])
      await engine.copy(0, [])
      expect(engine.length(0)).toBe(1)
    })
  })
})

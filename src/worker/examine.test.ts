/** Examining and comparing over the bandit and a policy of three replies: what each policy thinks, what is refused, what stays as it was. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_LORA } from '../core/config'
import type { PolicyComparison } from '../core/examination'
import { bandit, banditConfig, banditEngine, chat, type BanditOptions } from '../train/testing/bandit'
import type { ReplyEngine } from '../train/testing/engine'
import { GrpoTrainer } from '../train/grpo'
import { answerComparison, comparePolicies } from './compare-policies'
import { answerExamination, type Doing, examine } from './examine'
import type { Message } from './protocol'

/** A policy with a LoRA: its logits count while the adapter is on. */
function adapted() {
  const engine = Object.assign(banditEngine() as Omit<ReplyEngine, 'lora'>, { lora: DEFAULT_LORA })
  const own = Float64Array.from(engine.theta)
  const used: string[] = []
  engine.useAdapter = async (adapter: 'current' | 'off' = 'current') => {
    used.push(adapter)
    if (adapter === 'off') own.set(engine.theta)
    engine.theta.set(adapter === 'off' ? new Float64Array(engine.theta.length) : own)
  }
  return { engine, used }
}

async function run(options: BanditOptions = {}, favourite = 5) {
  const { engine, used } = adapted()
  const config = banditConfig()
  // Arm B, so that the two policies part.
  engine.theta[1] = favourite
  const setup = { engine, environment: bandit(options), chat, config }
  const trainer = new GrpoTrainer({ ...setup, onEvent: () => undefined })
  return { ...setup, used, trainer }
}

const wanted = { seed: 3, split: 'heldout', temperature: 0 } as const

describe('an examination', () => {
  it('gives both policies’ log-probs and entropies of the model’s tokens', async () => {
    const { engine } = await run()
    const { lora: reply } = await comparisonOf()
    const { version } = engine
    const [found] = await examine(engine, [{ ids: reply.ids, mask: reply.mask }], 1)
    const first = reply.mask.indexOf(1)
    const p = engine.probabilities()
    expect(found?.logprobs[first]).toBeCloseTo(Math.log(p[1] as number), 10)
    expect(found?.baseLogprobs[first]).toBeCloseTo(Math.log(1 / p.length), 10)
    expect(found?.baseEntropies[first]).toBeCloseTo(Math.log(p.length), 10)
    expect(found?.entropies[first]).toBeLessThan(0.1)
    expect(found?.logprobs.filter((_, i) => reply.mask[i] === 0).every((value) => value === 0)).toBe(true)
    expect([found?.version, engine.version]).toEqual([version, version])
  })

  it.each<[string, Doing, { empties?: boolean; loaded?: boolean; lora?: null }, RegExp]>([
    ['before a model is there', 'nothing', { loaded: false }, /no model to ask yet/],
    ['while a step is computed', 'working', {}, /Press Pause first/],
    ['in mid-step where it would empty the slots', 'held', { empties: true }, /press it, to finish the step/],
    ['where no base is left', 'nothing', { lora: null }, /All parameters are trained/],
  ])('is refused %s', async (_, doing, { empties, loaded = true, lora }, why) => {
    const { engine, config } = await run()
    const asked = Object.assign(engine, { scoringEmptiesSlots: empties ?? false }, lora === null ? { lora: null } : {})
    const said: Message[] = []
    await answerExamination(loaded ? { engine: asked, config } : null, doing, { type: 'examine', requestId: 4, sequences: [] }, (message) => said.push(message))
    expect(said).toEqual([{ type: 'examined', requestId: 4, result: { ok: false, error: expect.stringMatching(why) as string } }])
  })

  it('is made in a pause in mid-step where the slots stay', async () => {
    const { engine, config } = await run()
    const said: Message[] = []
    await answerExamination({ engine, config }, 'held', { type: 'examine', requestId: 1, sequences: [] }, (message) => said.push(message))
    expect(said).toEqual([{ type: 'examined', requestId: 1, result: { ok: true, examinations: [] } }])
  })
})

async function comparisonOf(options: BanditOptions = {}, temperature = 0): Promise<PolicyComparison> {
  return comparePolicies(await run(options), { ...wanted, temperature }, () => undefined)
}

describe('a comparison', () => {
  it('is the same scenario, by the base and by the LoRA, each token under both', async () => {
    const { base, lora, ...rest } = await comparisonOf()
    expect(rest).toEqual({ ...wanted, step: 0 })
    expect(lora.texts.join('')).toContain('"arm": "B"')
    expect([lora.reward, lora.success, lora.exit]).toEqual([1, true, 'env_done'])
    expect(base.ids.slice(0, base.promptLength)).toEqual(lora.ids.slice(0, lora.promptLength))
    const first = lora.promptLength
    expect(lora.logprobs[first]).toBeGreaterThan(-0.1)
    expect(lora.otherLogprobs[first]).toBeCloseTo(-Math.log(3), 10)
    expect(base.logprobs[first]).toBeCloseTo(-Math.log(3), 10)
    expect(lora.turns).toEqual([{ start: first, end: lora.ids.length, resultEnd: lora.ids.length, reward: 1 }])
    expect(lora.alternatives[first]?.[0]).toMatchObject({ text: 'B' })
    expect(structuredClone({ base, lora })).toEqual({ base, lora })
  })

  it('draws with the same random numbers: an adapter that changes nothing plays as the base does', async () => {
    const same = await run({}, 0)
    for (const seed of [1, 2, 3, 4]) {
      const { base, lora } = await comparePolicies(same, { seed, split: 'train', temperature: 1 }, () => undefined)
      expect(lora).toEqual(base)
      expect(lora.logprobs).toEqual(lora.otherLogprobs)
    }
  })

  it('gives the adapter back, also when the environment fails, and says why', async () => {
    const failing = await run({ fails: () => true })
    await expect(comparePolicies(failing, wanted, () => undefined)).rejects.toThrow('The environment "Bandit" failed: The bandit is out of order.')
    expect(failing.used).toEqual(['off', 'current'])
  })

  it('changes nothing of the run after it', async () => {
    const steps = async (between: boolean) => {
      const page = await run()
      const first = await page.trainer.step()
      if (between) await comparePolicies(page, { ...wanted, temperature: 1 }, () => undefined)
      const second = await page.trainer.step()
      return { ids: [first, second].map(({ episodes }) => episodes.map(({ ids }) => ids)), theta: [...page.engine.theta], version: page.engine.version }
    }
    expect(await steps(true)).toEqual(await steps(false))
  })

  it.each<[string, Doing, Partial<{ seed: number; temperature: number; stopped: boolean; loaded: boolean }>, RegExp]>([
    ['before a model is there', 'nothing', { loaded: false }, /no model to play yet/],
    ['in mid-step', 'held', {}, /paused in the middle of a step/],
    ['while a step is computed', 'working', {}, /Press Pause first/],
    ['with a seed that is none', 'nothing', { seed: -1 }, /seed must be a whole number.*it is -1/],
    ['with a temperature that is none', 'nothing', { temperature: NaN }, /temperature must be a number from 0; it is NaN/],
    ['when the run needs the model', 'nothing', { stopped: true }, /something else needed the model/],
  ])('is refused %s', async (_, doing, { stopped, loaded = true, ...change }, why) => {
    const page = await run()
    const stop = new AbortController()
    if (stopped) stop.abort()
    const said: Message[] = []
    await answerComparison(loaded ? page : null, doing, { type: 'compare', requestId: 2, ...wanted, ...change }, (message) => said.push(message), stop.signal)
    expect(said).toEqual([{ type: 'compared', requestId: 2, result: { ok: false, error: expect.stringMatching(why) as string } }])
  })
})

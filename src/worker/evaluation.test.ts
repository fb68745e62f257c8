/** An evaluation of the policy as it is and of the base model alone, drawn or greedy, over a bandit. */
import { expect, it } from 'vitest'
import { DEFAULT_LORA } from '../core/config'
import { bandit, banditConfig, banditEngine, chat } from '../train/testing/bandit'
import type { ReplyEngine } from '../train/testing/engine'
import { answerEvaluation } from './evaluation'
import type { Message } from './protocol'

/** A policy whose LoRA likes arm B; without it all arms are alike. */
function run(lora: typeof DEFAULT_LORA | null = DEFAULT_LORA) {
  const engine = Object.assign(banditEngine() as Omit<ReplyEngine, 'lora'>, { lora, resetAdapter: () => undefined })
  engine.theta[1] = 2
  const own = Float64Array.from(engine.theta)
  const used: string[] = []
  engine.useAdapter = async (adapter: 'current' | 'off' = 'current') => {
    used.push(adapter)
    engine.theta.set(adapter === 'off' ? new Float64Array(own.length) : own)
  }
  const environment = { ...bandit(), heldOut: true }
  return { used, own, engine, setup: { engine, environment, chat, config: banditConfig(), sha: null, selfTest: null, trainer: { stepNumber: 3 } } }
}

const ask = async (made: ReturnType<typeof run>, how: { base?: true; greedy?: true } = {}) => {
  const messages: Message[] = []
  const result = await answerEvaluation(made.setup, false, { requestId: 1, episodes: 60, ...how }, (message) => messages.push(message))
  return { result, last: messages.at(-1) }
}

it('measures the base beside the LoRA on the same scenarios, and gives the LoRA back', async () => {
  const made = run()
  const { result } = await ask(made, { base: true })
  expect(result?.records.map(({ split, policy, scorable }) => [split, policy, scorable])).toEqual([
    ['train', undefined, 60],
    ['heldout', undefined, 60],
    ['train', 'base', 60],
    ['heldout', 'base', 60],
  ])
  const [lora, , base] = result?.records ?? []
  // e² of e² + 2, against a third.
  expect((lora?.solved ?? 0) / 60).toBeGreaterThan(0.6)
  expect((base?.solved ?? 0) / 60).toBeLessThan(0.55)
  expect(result?.train).toBe((lora?.solved ?? 0) / 60)
  expect(made.used).toEqual(['off', 'current'])
  expect([...made.engine.theta]).toEqual([...made.own])
})

it('greedy asks for the likeliest token each time, and says so', async () => {
  const temperatures = async (how: { greedy?: true }) => {
    const made = run()
    const seen = new Set<number>()
    const sample = made.engine.sample.bind(made.engine)
    made.engine.sample = (requests, params) => {
      seen.add(params.temperature)
      return sample(requests, params)
    }
    const { result } = await ask(made, how)
    return { seen: [...seen], marked: result?.records.map(({ greedy }) => greedy) }
  }
  expect(await temperatures({ greedy: true })).toEqual({ seen: [0], marked: [true, true] })
  expect(await temperatures({})).toEqual({ seen: [1], marked: [undefined, undefined] })
  expect((await ask(run())).result?.records.some((record) => 'greedy' in record || 'policy' in record)).toBe(false)
})

it('refuses the base where none is left', async () => {
  expect((await ask(run(null), { base: true })).last).toMatchObject({ type: 'evaluation-failed', error: expect.stringContaining('All parameters are trained') })
})

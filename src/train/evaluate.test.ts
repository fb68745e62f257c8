/** Evaluation on fixed scenarios. */
import { describe, expect, it } from 'vitest'
import type { TrainEvent } from '../core/events'
import { promptsEnvironment } from '../env/prompts/environment'
import { evaluate, type EvaluationRequest } from './evaluate'
import { bandit, banditConfig, banditEngine, chat } from './testing/bandit'

function request(change: Partial<EvaluationRequest> = {}) {
  const events: TrainEvent[] = []
  const made: EvaluationRequest = {
    engine: banditEngine(),
    environment: bandit(),
    chat,
    config: banditConfig(),
    split: 'heldout',
    episodes: 64,
    onEvent: (event) => events.push(event),
    ...change,
  }
  return { made, events }
}

describe('evaluate', () => {
  it('measures the policy’s success rate', async () => {
    const engine = banditEngine()
    const fresh = await evaluate(request({ engine }).made)
    expect(fresh).toMatchObject({ episodes: 64, unscorable: 0, reward: fresh.success })
    expect(Math.abs(fresh.success - 1 / 3)).toBeLessThan(0.2)
    engine.theta.set([0, 30, 0, 0])
    expect((await evaluate(request({ engine }).made)).success).toBe(1)
    expect(engine.version).toBe(0)
  })

  it('plays the same scenarios whatever the run’s seed and sampling settings, and others on the other split', async () => {
    const scenarios = async (change: Partial<EvaluationRequest>) => {
      const seen: number[] = []
      const environment = bandit({ reward: (arm, seed) => (seen.push(seed), arm === 'B' ? 1 : 0) })
      const { success } = await evaluate(request({ environment, ...change }).made)
      return { seen: seen.toSorted((a, b) => a - b), success }
    }
    const first = await scenarios({})
    expect(new Set(first.seen).size).toBe(64)
    expect(await scenarios({ config: banditConfig({ seed: 7, temperature: 0.1, top_k: 1 }) })).toEqual(first)
    expect((await scenarios({ split: 'train' })).seen).not.toEqual(first.seen)
  })

  it('plays each row of a dataset once, and no more than there are: a row again would make the interval too narrow', async () => {
    const rows = (count: number, from: number) => Array.from({ length: count }, (_, i) => ({ place: `line ${i + 1}`, row: { prompt: `Question ${from + i}` } }))
    const environment = promptsEnvironment({ name: 'rows', seed: 1, system_prompt: '', read: () => Promise.resolve({ rows: rows(5, 0), heldout: rows(3, 5), problems: [], more: false }) })
    await environment.connect()
    const config = banditConfig({ reward_funcs: [{ name: 'custom', called: 'mine', code: '' }] })
    const asked: string[] = []
    const callCustom: NonNullable<EvaluationRequest['callCustom']> = (_, { prompts }) => {
      asked.push(...prompts.map((messages) => messages.at(-1)?.content ?? ''))
      return Promise.resolve({ rewards: prompts.map(() => 1) })
    }
    const played = async (split: EvaluationRequest['split'], episodes: number) => {
      asked.length = 0
      const result = await evaluate(request({ environment, config, callCustom, split, episodes, greedy: true }).made)
      expect(new Set(asked).size).toBe(asked.length)
      return [result.episodes, asked.length]
    }
    expect(await played('heldout', 64)).toEqual([3, 3])
    expect(await played('train', 64)).toEqual([5, 5])
    expect(await played('train', 2)).toEqual([2, 2])
  })

  it('reports progress and no training events', async () => {
    const { made, events } = request({ episodes: 3 })
    await evaluate(made)
    expect(events).toEqual([0, 1, 2, 3].map((done) => ({ type: 'evaluation', split: 'heldout', done, total: 3 })))
  })

  it('leaves unscorable episodes out of the rate', async () => {
    const engine = banditEngine()
    engine.theta.set([0, 30, 0, 0])
    const { made, events } = request({ engine, episodes: 10, environment: bandit({ fails: (session) => session < 4 }) })
    expect(await evaluate(made)).toMatchObject({ success: 1, reward: 1, episodes: 10, unscorable: 4 })
    expect(events.flatMap((e) => (e.type === 'notice' ? [e.text] : []))).toEqual([
      '4 of 10 evaluation episodes could not be scored (The bandit is out of order): the rate is of the other 6.',
    ])
  })

  it('says why nothing could be scored', async () => {
    const { made } = request({ episodes: 4, environment: bandit({ fails: () => true }) })
    await expect(evaluate(made)).rejects.toMatchObject({ kind: 'environment', message: expect.stringContaining('out of order') as string })
  })

  it('can be stopped', async () => {
    const controller = new AbortController()
    controller.abort()
    await expect(evaluate(request({ signal: controller.signal }).made)).rejects.toMatchObject({ kind: 'stopped' })
  })
})

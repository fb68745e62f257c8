/** What reward functions log: means of all that was played, beside the run's own metrics and never in their place. */
import { describe, expect, it } from 'vitest'
import type { GrpoConfig } from '../core/config'
import type { TrainEvent } from '../core/events'
import { byEnvironment, rewardMetrics } from '../rl'
import { evaluate } from './evaluate'
import { GrpoTrainer } from './grpo'
import { Logged, toldApart } from './logged'
import { type CallCustom, scoreEpisodes } from './scoring'
import { bandit, banditConfig, banditEngine, chat } from './testing/bandit'
import { replyEpisode } from './testing/episodes'

const FUNCS: Partial<GrpoConfig> = { reward_funcs: ['one', 'two'].map((called) => ({ name: 'custom', called, code: '' })) }

async function play(grpo: Partial<GrpoConfig>, callCustom: CallCustom, steps = 1) {
  const events: TrainEvent[] = []
  const config = banditConfig({ prompts_per_step: 2, num_generations: 4, max_steps: steps, ...FUNCS, ...grpo })
  const trainer = new GrpoTrainer({ config, engine: banditEngine(), environment: bandit(), chat, onEvent: (event) => events.push(event), callCustom })
  const records = []
  for (let i = 0; i < steps; i++) records.push(await trainer.step())
  return { records, notices: events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])) }
}

describe('what is logged', () => {
  it('is the mean of all values, whoever logged them', () => {
    const logged = new Logged()
    logged.add({ a: 1, b: 0.1 }, { a: 3 })
    logged.add({ a: 5, constructor: 2 })
    expect(logged.means()).toEqual({ a: 2, b: 0.1, constructor: 2 })
  })

  it('of two functions under one name is averaged', async () => {
    const { records } = await play({}, ({ called }, { environments }) => Promise.resolve({ rewards: environments.map((_, i) => i % 2), metrics: { len: called === 'one' ? 1 : 3 } }))
    expect(records[0]?.metrics['len']).toBe(2)
  })

  it('is of every draw, groups that were sampled again included', async () => {
    let group = 0
    const callCustom: CallCustom = ({ called }, { environments }) => {
      if (called === 'two') return Promise.resolve({ rewards: environments.map(() => 0) })
      const groups = environments.length / 4
      const silent = Array.from({ length: groups }, () => group++ < 3)
      return Promise.resolve({
        rewards: environments.map((_, i) => (silent[i >> 2] ? 1 : i % 2)),
        metrics: { silent: silent.filter((each) => each).length / groups },
        counts: { silent: groups },
      })
    }
    const { records } = await play({ dynamic_sampling: true, max_resampled_groups: 8 }, callCustom)
    // Two silent groups, then one more beside one with a signal, then the last.
    expect(records[0]?.groups).toHaveLength(5)
    expect(records[0]?.metrics['silent']).toBeCloseTo(3 / 5, 12)
  })

  it('never takes the place of a metric of the run, which is told once', async () => {
    const metrics = { reward: 99, loss: 7, kl: 3, 'rewards/one/mean': 5, mine: 2 }
    const { records, notices } = await play({}, (_, { environments }) => Promise.resolve({ rewards: environments.map((_each, i) => i % 2), metrics }), 2)
    for (const { metrics: found } of records) {
      expect(found).toMatchObject({ reward: 1, mine: 2, 'rewards/one/mean': 0.5, 'log_metric/reward': 99, 'log_metric/loss': 7, 'log_metric/kl': 3, 'log_metric/rewards/one/mean': 5 })
      expect(found).not.toHaveProperty('kl')
      expect(Math.abs(found['loss'] ?? 9)).toBeLessThan(1)
    }
    expect(notices).toEqual([toldApart(['reward', 'loss', 'kl', 'rewards/one/mean'])])
    expect(notices[0]).toContain('stands under log_metric/reward, log_metric/loss')
  })

  it('nor in an evaluation', async () => {
    const callCustom: CallCustom = (_, { environments }) => Promise.resolve({ rewards: environments.map(() => 0.5), metrics: { reward: 99, mine: 2 } })
    const { metrics } = await evaluate({ engine: banditEngine(), environment: bandit(), chat, config: banditConfig(FUNCS), split: 'train', episodes: 4, callCustom, onEvent: () => {} })
    expect(metrics).toMatchObject({ eval_reward: 1, eval_mine: 2, 'eval_log_metric/reward': 99 })
  })
})

it('a function that is called like one of several environments is measured under a name of its own', async () => {
  const episodes = [0, 1].map((i) => ({ ...replyEpisode(i, 0, i), environment: i === 0 ? 'lane' : 'catch' }))
  const reward_funcs: GrpoConfig['reward_funcs'] = [{ name: 'custom', called: 'lane', code: '' }]
  const callCustom: CallCustom = (_, { environments }) => Promise.resolve({ rewards: environments.map((_each, i) => 100 + i) })
  await scoreEpisodes(episodes, { grpo: { reward_funcs, reward_weights: [0.5], max_steps: 1 }, environment: 'lane + catch', chosen: { lane: 'lane', catch: 'catch' }, step: 1, callCustom })
  const metrics = { ...rewardMetrics(episodes, [], [], { name: 'lane + catch', scale_rewards: 'group', isSuccess: () => true }), ...byEnvironment(episodes) }
  expect(metrics).toMatchObject({ 'rewards/lane_2/mean': 100.5, 'rewards/lane/mean': 50, 'rewards/catch/mean': 50.5 })
})

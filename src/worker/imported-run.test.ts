/** What an imported run shows of its steps. */

import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type GrpoConfig } from '../core/config'
import type { StepRecord } from '../core/events'
import { oneByOne, sampleRun, sampleSteps } from '../hub/testing/episodes'
import { trajectoriesParquet } from '../hub/trajectories'
import { GrpoTrainer } from '../train/grpo'
import { bandit, banditConfig, banditEngine, chat } from '../train/testing/bandit'
import { importTrajectories } from './imported-run'
import { keptEpisode } from './kept-episode'

it('measures the steps again from the episodes', async () => {
  const file = await trajectoriesParquet(sampleRun(), oneByOne(sampleSteps()))
  const { run, history, episodes, notices } = await importTrajectories(file, 'x')
  expect({ id: run.id, notices }).toEqual({ id: 'run-1', notices: [] })
  expect(episodes).toEqual(sampleSteps())
  expect(history.map(({ step, episodes, unscorable, rewardMin, rewardMax, groups }) => ({ step, episodes, unscorable, rewardMin, rewardMax, groups }))).toEqual([
    { step: 1, episodes: 2, unscorable: 1, rewardMin: 0.25, rewardMax: 0.25, groups: [{ group: 0, mean: 0.25, std: null, unscorable: 1, signal: false }] },
    { step: 2, episodes: 2, unscorable: 0, rewardMin: 0, rewardMax: 1, groups: [{ group: 0, mean: 0.5, std: Math.SQRT1_2, unscorable: 0, signal: true }] },
  ])
  expect(history[1]?.metrics).toMatchObject({
    reward: 0.5,
    'rewards/echo_env/mean': 0.5,
    success: 0.5,
    'completions/mean_length': 4,
    'exit/env_done': 0.5,
    num_tokens: 28,
  })
  expect(history[1]?.metrics).not.toHaveProperty('loss')
  expect(history[1]?.metrics['sampling/sampling_logp_difference/max']).toBeCloseTo(0.0001 / 7, 10)
})

it('claims nothing about tokens or success where the file has only texts', async () => {
  const file = new Blob(['{"step": 1, "prompt": "a", "completion": "b", "r": 1, "advantage": 0}\n{"step": 1, "prompt": "c", "completion": "d", "r": null, "advantage": 0}'])
  const { history, notices } = await importTrajectories(file, 'c.jsonl')
  expect(notices).toHaveLength(1)
  expect(history[0]?.metrics).toMatchObject({ reward: 1, 'rewards/r/mean': 1, success: null })
  expect(Object.keys(history[0]?.metrics ?? {}).filter((name) => /completions\/mean|exit|verdict|tokens/.test(name))).toEqual([])
  expect(history[0]?.groups.map(({ group }) => group)).toEqual([0, 1])
})

/** What no episode tells: how long it took, and what the update alone measured. */
const OF_UPDATE = ['loss', 'grad_norm', 'learning_rate', 'step_time', 'tokens_per_second/sampling', 'tokens_per_second/training', 'sampling/staleness', 'groups/resampled']

describe('a run that is taken away and opened again has the metrics that it had', () => {
  it.each<[string, Partial<GrpoConfig>]>([
    ['', {}],
    ['sampled ahead', { max_staleness: 1 }],
    ['sampled ahead, with the correction by sequence', { max_staleness: 1, vllm_importance_sampling_mode: 'sequence_truncate' }],
    ['with several optimizer steps on a batch', { num_iterations: 2, steps_per_generation: 2, vllm_importance_sampling_mode: 'sequence_mask' }],
    ['without the correction, and with groups sampled again', { vllm_importance_sampling_correction: false, dynamic_sampling: true, num_generations: 2 }],
  ])('%s', async (_, grpo) => {
    const config = banditConfig({ learning_rate: 0.3, max_steps: 3, ...grpo })
    const engine = banditEngine()
    // A sampler that is a little beside the training graph.
    engine.corrupt = (logprobs) => logprobs.forEach((value, t) => (logprobs[t] = value - (t % 3) / 50))
    const trainer = new GrpoTrainer({ config, engine, environment: bandit(), chat, onEvent: () => {} })
    const records: StepRecord[] = []
    for (let step = 0; step < 3; step++) records.push(await trainer.step())
    if (grpo.max_staleness) expect(records[1]?.metrics['sampling/sampling_logp_difference/max']).toBeGreaterThan(0.01)
    const kept = records.map(({ episodes, groups }) => episodes.map((episode) => ({ ...keptEpisode(episode, chat), ...(groups[episode.group]?.discarded && { discarded: true as const }) })))
    const record = sampleRun({ config: { ...config, grpo: { ...DEFAULT_GRPO, ...config.grpo } }, environment: { ...sampleRun().environment, name: 'Bandit' } })
    const { history } = await importTrajectories(await trajectoriesParquet(record, oneByOne(kept)), 'x')
    for (const [i, { metrics }] of history.entries()) {
      const live = Object.entries(records[i]?.metrics ?? {}).filter(([name]) => !OF_UPDATE.includes(name) && !name.startsWith('clip_ratio/') && !(name === 'entropy' && grpo.num_iterations))
      expect(live.length).toBeGreaterThan(30)
      // Of several optimizer steps it is a mean over all of them, and the episodes hold what was before.
      expect('entropy' in metrics).toBe(!grpo.num_iterations)
      for (const [name, value] of live) {
        if (value === null) expect(metrics[name], name).toBeNull()
        else expect(metrics[name], `${name} of step ${i + 1}`).toBeCloseTo(value, 12)
      }
    }
  })
})

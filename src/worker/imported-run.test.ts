/** What an imported run shows of its steps. */

import { expect, it } from 'vitest'
import { oneByOne, sampleRun, sampleSteps } from '../hub/testing/episodes'
import { trajectoriesParquet } from '../hub/trajectories'
import { importTrajectories } from './imported-run'

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

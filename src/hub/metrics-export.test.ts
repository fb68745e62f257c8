/** Curves for other programs. */

import { expect, it } from 'vitest'
import { metricsCsv, trackioFiles, trainerState } from './metrics-export'
import { sampleHistory, sampleRun } from './testing/episodes'

it('writes TRL’s names as columns, step first, every digit, and nothing where nothing is defined', () => {
  expect(metricsCsv(sampleHistory())).toBe(
    'step,reward,rewards/echo_env/mean,loss,kl\n1,0.3333333333333333,0,,\n2,0.6666666666666666,0.3333333333333333,-1e-8,0.5\n',
  )
})

it('quotes names and leaves out what is no number', () => {
  const [step] = sampleHistory(1)
  if (!step) throw new Error('no step')
  expect(metricsCsv([{ ...step, metrics: { 'rewards/a, "b"\n/mean': 1, x: Number.NaN, y: Infinity } }])).toBe('step,"rewards/a, ""b""\n/mean",x,y\n1,1,,\n')
  expect(metricsCsv([])).toBe('step\n')
})

it('writes trainer_state.json with the steps and the evaluations', () => {
  const evaluations = [{ ...sampleRun().evaluations[0], step: 0, split: 'train', solved: 0, scorable: 0 }, ...sampleRun().evaluations]
  const state = JSON.parse(trainerState(sampleRun({ evaluations } as never), sampleHistory()))
  expect(state).toMatchObject({ global_step: 2, max_steps: 2, epoch: 1, train_batch_size: 2, logging_steps: 1 })
  expect(state.log_history).toEqual([
    { epoch: 0, step: 0, eval_train_success: null, eval_train_reward: null },
    { epoch: 0.5, step: 1, reward: 1 / 3, 'rewards/echo_env/mean': 0, loss: null },
    { epoch: 1, step: 2, reward: 2 / 3, 'rewards/echo_env/mean': 1 / 3, loss: -1e-8, kl: 0.5 },
    { epoch: 1, step: 2, eval_heldout_success: 7 / 8, eval_heldout_reward: 0.9 },
  ])
})

it('names metrics for trackio as the Trainer does there, one row a step, and gives no token away', () => {
  const config = { ...sampleRun().config, environment: { kind: 'openenv' as const, url: `https://a.b/?t=hf_${'x'.repeat(34)}` } }
  const files = new Map(trackioFiles(sampleRun({ config }), sampleHistory()).map(({ path, content }) => [path, content as string]))
  expect([...files.keys()]).toEqual(['metrics.csv', 'run.json', 'open_in_trackio.py', 'README.md'])
  expect(files.get('metrics.csv')?.split('\n')).toEqual([
    'step,train/reward,train/rewards/echo_env/mean,train/loss,train/kl,eval/heldout_success,eval/heldout_reward',
    '1,0.3333333333333333,0,,,,',
    '2,0.6666666666666666,0.3333333333333333,-1e-8,0.5,0.875,0.9',
    '',
  ])
  const settings = JSON.parse(files.get('run.json') ?? '')
  expect(settings).toMatchObject({ project: 'grpo-playground', name: 'Echo: "quotes", #1', config: { model: 'Qwen/Qwen3-0.6B', environment: 'https://a.b/?t=hf_…', learning_rate: 2e-5, peft_config: { r: 16 } } })
  expect(files.get('README.md')).toContain(`--project ${settings.project}`)
  expect(files.get('open_in_trackio.py')).toContain('trackio.log(')
})

it('gives what the run evaluated itself the Trainer’s own names, before the first step too', () => {
  const evaluation = (step: number) => ({ ...sampleRun().evaluations[0]!, step, greedy: true as const, metrics: { eval_reward: step, eval_success: null } })
  const run = sampleRun({ evaluations: [evaluation(0), evaluation(2)], config: { ...sampleRun().config, grpo: { ...sampleRun().config.grpo, eval_strategy: 'steps', eval_steps: 7 } } })
  expect(metricsCsv(sampleHistory(), run.evaluations)).toBe('step,eval_reward,eval_success,reward,rewards/echo_env/mean,loss,kl\n0,0,,,,,\n1,,,0.3333333333333333,0,,\n2,2,,0.6666666666666666,0.3333333333333333,-1e-8,0.5\n')
  const state = JSON.parse(trainerState(run, sampleHistory()))
  expect(state.eval_steps).toBe(7)
  expect(state.log_history.map(({ step, eval_reward, reward }: Record<string, number>) => [step, eval_reward, reward])).toEqual([[0, 0, undefined], [1, undefined, 1 / 3], [2, undefined, 2 / 3], [2, 2, undefined]])
  const trackio = trackioFiles(run, sampleHistory())[0]?.content as string
  expect(trackio.split('\n')[0]).toBe('step,eval/reward,eval/success,train/reward,train/rewards/echo_env/mean,train/loss,train/kl')
})

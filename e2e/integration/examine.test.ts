/** On the shipped model: a run whose tokens are examined in mid-step, whose policies are compared and that evaluates itself between steps is bit for bit the run without. */

import { expect, it } from 'vitest'
import { builtinEnvironment } from '../../src/env/builtin'
import { GrpoTrainer } from '../../src/train/grpo'
import { comparePolicies } from '../../src/worker/compare-policies'
import type { EvaluationRecord } from '../../src/core/evaluation'
import { Evaluating } from '../../src/worker/evaluating'
import { examine } from '../../src/worker/examine'
import { configOf, flat, tinyChat, tinyEngine } from './grpo-run'

const CONFIG = configOf('echo', { num_generations: 4, prompts_per_step: 1, beta: 0.1, eval_steps: 1, eval_episodes: 6 })

async function train(watched: boolean) {
  const config = watched ? { ...CONFIG, grpo: { ...CONFIG.grpo, eval_strategy: 'steps' as const } } : CONFIG
  const environment = builtinEnvironment('echo')
  await environment.connect()
  const [engine, chat] = [await tinyEngine(config), await tinyChat()]
  try {
    const run = { config, engine, environment, chat, trainer: new GrpoTrainer({ config, engine, environment, chat, onEvent: () => undefined }) }
    const sequence = { ids: chat.prompt([{ role: 'user', content: 'Say it.' }], []).ids, mask: [] as number[] }
    sequence.mask = sequence.ids.map((_, i) => (i > 0 ? 1 : 0))
    let ticks = 0
    const versions: number[] = []
    const look = async () => {
      if (!watched || ++ticks % 5 !== 0) return
      const [found] = await examine(engine, [sequence], config.grpo.temperature)
      versions.push(found?.version ?? -1)
    }
    const evaluations: EvaluationRecord[] = []
    const evaluating = new Evaluating(
      () => undefined,
      async (records) => void evaluations.push(...records),
    )
    const evaluate = () => evaluating.catchUp({ ...run, sha: null, selfTest: null }, run.trainer.stepNumber === 2, () => Promise.resolve(), new AbortController().signal)
    await evaluate()
    const first = await run.trainer.step(look)
    await evaluate()
    const compared = watched ? await comparePolicies(run, { seed: 5, split: 'heldout', temperature: 1 }, () => undefined) : null
    const second = await run.trainer.step(look)
    await evaluate()
    return { evaluations, records: [first, second], adapter: flat(await engine.exportParameters()), versions, compared }
  } finally {
    await engine.dispose()
  }
}

it('watching changes nothing', async () => {
  const [watched, straight] = [await train(true), await train(false)]
  expect(new Set(watched.versions)).toEqual(new Set([0, 1]))
  expect(watched.compared).toMatchObject({ step: 1, seed: 5 })
  expect([watched, straight].map(({ evaluations }) => evaluations.map(({ step, split, scorable }) => [step, split, scorable]))).toEqual([[0, 1, 2].map((step) => [step, 'heldout', 6]), []])
  expect(watched.adapter).toEqual(straight.adapter)
  const numbers = ({ records }: typeof watched) => records.map(({ episodes, version }) => ({ version, episodes: episodes.map(({ ids, logprobs, trainLogprobs }) => ({ ids, logprobs, trainLogprobs })) }))
  expect(numbers(watched)).toEqual(numbers(straight))
})

/** On the shipped model: a stage that ends before its first step is done, and another engine that goes on from a checkpoint, change no bit of a run. */

import { expect, it } from 'vitest'
import type { StepRecord } from '../../src/core/events'
import { DEFAULT_STAGE, type StageKind } from '../../src/core/stage'
import { builtinEnvironment } from '../../src/env/builtin'
import { GrpoTrainer, type GrpoTrainerOptions } from '../../src/train/grpo'
import type { Checkpoint } from '../../src/worker/archive'
import { checkpointOf, restoreInto } from '../../src/worker/kept-run'
import type { StageState } from '../../src/worker/protocol'
import { StageDesk, type Staged } from '../../src/worker/stage-desk'
import { configOf, flat, rewardedByPlace, tinyChat, tinyEngine } from './grpo-run'

/** What a later step depends on beside the LoRA: the reference, AdamW's moments, the entropy bonus. */
const CONFIG = configOf('echo', { num_generations: 4, prompts_per_step: 1, beta: 0.1, use_adaptive_entropy: true, entropy_coef: 0.01, entropy_coef_delta: 0.05, entropy_target: 9 })

async function made(resume?: GrpoTrainerOptions['resume']) {
  const environment = builtinEnvironment('echo')
  await environment.connect()
  const [engine, chat] = [await tinyEngine(CONFIG), await tinyChat()]
  const trainer = new GrpoTrainer({ config: CONFIG, engine, environment: rewardedByPlace(environment), chat, onEvent: () => undefined, ...(resume && { resume }) })
  return { config: CONFIG, engine, chat, trainer, at: { sha: null, start: null } }
}

const user = { role: 'user', content: 'Say it.' }
const answer = (content: string) => [{ role: 'assistant', content }]
const ROWS = { sft: { prompt: [user], completion: answer('yes') }, dpo: { prompt: [user], chosen: answer('yes'), rejected: answer('no') } }

/** Trains a stage and presses Stop while the gradient of its first step is computed. */
async function stoppedStage(run: Staged, kind: StageKind, kept: Checkpoint | null): Promise<StageState> {
  const host = { run: () => run, material: null, doing: () => 'nothing' as const, kept: () => kept, makeRoom: () => Promise.resolve(), enqueue: (work: () => Promise<void>) => void work() }
  const never = () => Promise.reject(new Error('nothing was trained'))
  const { engine } = run
  const accumulate = engine.accumulate.bind(engine)
  const end = await new Promise<StageState>((resolve) => {
    const desk = new StageDesk({ ...host, ended: never, lost: never }, (message) => {
      if (message.type === 'stage-state' && message.state.state === 'ended') resolve(message.state)
    })
    engine.accumulate = (...all) => {
      desk.handle({ type: 'stage-control', do: 'stop' })
      return accumulate(...all)
    }
    desk.handle({ type: 'stage', kind, dataset: { name: 'one row', text: JSON.stringify(ROWS[kind]) }, settings: DEFAULT_STAGE[kind] })
  })
  engine.accumulate = accumulate
  return end
}

const numbers = ({ step, metrics, episodes }: StepRecord) => ({
  step,
  metrics: Object.fromEntries(['loss', 'kl', 'grad_norm', 'entropy', 'entropy_coef', 'num_tokens'].map((name) => [name, metrics[name]])),
  episodes: episodes.map(({ ids, trainLogprobs, refLogprobs }) => ({ ids, trainLogprobs, refLogprobs })),
})

it('stages without a step, and a resumed run', async () => {
  const straight = await made()
  await straight.trainer.step()
  const checkpoint = await checkpointOf(straight)
  const second = numbers(await straight.trainer.step())
  const adapter = flat(await straight.engine.exportParameters())
  await straight.engine.dispose()
  expect(second.metrics).toMatchObject({ kl: expect.any(Number), entropy_coef: expect.closeTo(0.11, 12) })
  expect(second.metrics['kl']).toBeGreaterThan(0)

  const staged = await made()
  await staged.trainer.step()
  expect(await stoppedStage(staged, 'dpo', null)).toEqual({ state: 'ended', steps: 0, error: '' })
  expect(await stoppedStage(staged, 'sft', checkpoint)).toEqual({ state: 'ended', steps: 0, error: '' })
  expect(numbers(await staged.trainer.step())).toEqual(second)
  expect(flat(await staged.engine.exportParameters())).toEqual(adapter)
  await staged.engine.dispose()

  const resumed = await made(checkpoint)
  await restoreInto(resumed.engine, checkpoint)
  expect(numbers(await resumed.trainer.step())).toEqual(second)
  expect(flat(await resumed.engine.exportParameters())).toEqual(adapter)
  await resumed.engine.dispose()
})

/** The pretraining run: demonstrations in, weights out, with the success rates on the way. */

import type { Engine } from '../../src/core/engine'
import { builtinEnvironment } from '../../src/env/builtin/index'
import { presetById, presetConfig } from '../../src/env/presets'
import type { ChatFormat } from '../../src/rollout/chat'
import type { ChatTokenizer } from '../../src/rollout/tokens'
import { evaluate } from '../../src/train/evaluate'
import { trainSft } from '../../src/train/sft'
import { underCue } from './cue'
import { DemonstrationWriter, type Demonstration } from './demos'
import type { TaughtName } from './players'
import { learningRate, OPTIMIZER, type Phase } from './recipe'

export interface PretrainOptions {
  /** In full-parameter mode. */
  engine: Engine
  tokenizer: ChatTokenizer
  chat: ChatFormat
  phases: readonly Phase[]
  seed: number
  /** Steps between two lines of the log. */
  logEvery: number
  /** Steps between two measurements; 0 = only after the last step. */
  evaluateEvery: number
  evaluation: { tasks: readonly TaughtName[]; episodes: number }
  log: (line: string) => void
}

/** Success with and without the cue. */
export interface Measurement {
  task: TaughtName
  split: 'train' | 'heldout'
  cued: number
  uncued: number
}

/** All games of one step. The step counts over all phases, so no two steps show the same batch. */
export function demonstrations(writer: DemonstrationWriter, phase: Phase, seed: number, step: number): Demonstration[] {
  return phase.portions.flatMap((portion, i) => writer.portion(portion, seed, step, i))
}

/** Plays every task on both splits, sampled at temperature 1, under the cue and without it. */
export async function measure({ engine, chat, evaluation, log }: PretrainOptions): Promise<Measurement[]> {
  const out: Measurement[] = []
  for (const task of evaluation.tasks) {
    const config = presetConfig(presetById(task))
    for (const split of ['train', 'heldout'] as const) {
      const success = async (cued: boolean): Promise<number> => {
        const plain = builtinEnvironment(task)
        const environment = cued ? underCue(plain) : plain
        const { episodes } = evaluation
        return (await evaluate({ engine, environment, chat, config, split, episodes, onEvent: () => undefined })).success
      }
      const result = { task, split, cued: await success(true), uncued: await success(false) }
      out.push(result)
      log(`  ${task} ${split}: success ${result.cued.toFixed(3)} under the cue, ${result.uncued.toFixed(3)} without`)
    }
  }
  return out
}

/**
 * Trains the engine's parameters through all phases: in each step the token means of the tasks are added up. Returns the
 * success rates after the last step.
 * @throws PlaygroundError('non-finite') when the loss explodes
 */
export async function pretrain(options: PretrainOptions): Promise<Measurement[]> {
  const { engine, tokenizer, chat, phases, seed, logEvery, evaluateEvery, log } = options
  const writer = new DemonstrationWriter(tokenizer, chat)
  const total = phases.reduce((sum, phase) => sum + phase.steps, 0)
  const started = performance.now()
  let step = 0
  let tokens = 0
  for (const phase of phases) {
    for (let inPhase = 0; inPhase < phase.steps; inPhase++, step++) {
      const record = await trainSft({
        engine,
        ...OPTIMIZER,
        learning_rate: learningRate(phase, step, inPhase),
        lr_scheduler_type: 'constant',
        warmup_steps: 0,
        max_steps: 1,
        batch: () => demonstrations(writer, phase, seed, step),
      })
      tokens += record.tokens
      const done = step + 1
      if (done % logEvery === 0 || done === total) {
        const losses = Object.entries(record.taskLoss).map(([task, loss]) => `${task} ${loss.toFixed(4)}`)
        const seconds = (performance.now() - started) / 1000
        log(
          `${phase.name} ${done}/${total}: ${losses.join(', ')}, grad ${record.grad_norm.toFixed(2)}, ` +
            `lr ${record.learning_rate.toExponential(1)}, ${tokens} trained tokens, ${seconds.toFixed(0)} s`,
        )
      }
      if (evaluateEvery > 0 && done % evaluateEvery === 0 && done < total) await measure(options)
    }
  }
  return measure(options)
}

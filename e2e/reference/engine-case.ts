/** What engine_cases.py writes of a model, an engine on that model, and the loss that both sides differentiate. */

import { join } from 'node:path'
import type { LoraConfig } from '../../src/core/config'
import type { Engine, OptimizerParams, SequenceGradient, SequenceScores, TrainSequence } from '../../src/core/engine'
import { createEngine } from '../../src/runtime/create'
import { fileSource } from '../tools/file-source'
import type { ListedScores } from './compare'
import { REFERENCE, referenceJson } from './reference'

export interface CaseSequence extends TrainSequence {
  /** d loss / d log-prob and d loss / d entropy before `scale / trained tokens`; [tokens] */
  c: number[]
  e: number[]
}

export interface EngineCase {
  /** 'all': a LoRA on all seven targets; 'qv': on two, with rslora; 'none': all parameters. */
  name: string
  folder: string
  lora: LoraConfig | null
  temperature: number
  scale: number
  scores: ListedScores[]
  optimizer: OptimizerParams
  /** Loss before and gradient norm (unclipped) at each of the steps. */
  losses: number[]
  norms: number[]
}

export interface ModelCases {
  model: string
  batch: CaseSequence[]
  /** The model without a LoRA, by temperature ('1.0'). */
  base: Record<string, ListedScores[]>
  cases: EngineCase[]
  sampler: { ids: number[]; file: string }
}

/** Models that make.py made references for. */
export const models = referenceJson<{ models: string[] }>('manifest.json').models

export function modelCases(model: string): ModelCases {
  return referenceJson<ModelCases>(`cases/${model}.json`)
}

/** An engine on the saved model; null trains all parameters. */
export function referenceEngine(model: string, lora: LoraConfig | null): Promise<Engine> {
  const source = fileSource(join(REFERENCE, 'models', model))
  return createEngine({ source, lora, backend: 'wasm', threads: 1, slots: 4, contextLength: 64, modelName: model })
}

/** The case's loss Σ(c·logp + e·H)·scale/tokens of the whole batch; adds its gradient to the accumulator. */
export async function accumulateLoss(
  engine: Engine,
  batch: readonly CaseSequence[],
  options: Pick<EngineCase, 'temperature' | 'scale'>,
): Promise<number> {
  const tokens = batch.reduce((count, sequence) => count + sequence.mask.reduce((sum, m) => sum + m, 0), 0)
  const factor = options.scale / tokens
  let loss = 0
  await engine.accumulate(batch, { temperature: options.temperature }, (indices, scores) =>
    indices.map((index, at): SequenceGradient => {
      const { c, e } = batch[index] as CaseSequence
      const { logprobs, entropies } = scores[at] as SequenceScores
      c.forEach((_, t) => (loss += factor * ((c[t] as number) * (logprobs[t] as number) + (e[t] as number) * (entropies[t] as number))))
      return { dLogprobs: Float64Array.from(c, (x) => factor * x), dEntropies: Float64Array.from(e, (x) => factor * x) }
    }),
  )
  return loss
}

/** Scores sequences, accumulates gradients micro-batch by micro-batch, and applies AdamW. */

import type { Adapter, NamedTensor, OptimizerParams, SequenceGradient, SequenceScores, Trainer, TrainerState, TrainSequence } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { BATCH_SIZES } from '../artifacts/spec'
import { countLayerParameters } from '../model/parameters'
import { backward } from './backward'
import type { DeviceTensor } from './device'
import { forward, type ForwardPass } from './forward'
import { type LoadedModel, Scope } from './model'
import { packBatch, type PackingOptions, ROW_MULTIPLE } from './packing'
import { freshLora } from './parameters'

export class EngineTrainer implements Trainer {
  version = 0
  private optimizerSteps = 0
  private reference: DeviceTensor[] | null = null

  constructor(
    private readonly model: LoadedModel,
    /** Most tokens in a micro-batch; results do not depend on it. */
    readonly microBatchTokens: number,
  ) {}

  async score(batch: readonly TrainSequence[], { temperature, adapter = 'current' }: { temperature: number; adapter?: Adapter }): Promise<SequenceScores[]> {
    const out = batch.map((sequence) => emptyScores(sequence.ids.length))
    const tensors = this.adapterTensors(adapter)
    for (const micro of packBatch(this.checked(batch), this.packing())) {
      await this.scoped(async (scope) => fillScores(out, await forward(this.model, scope, micro, temperature, tensors)))
    }
    return out
  }

  async accumulate(
    batch: readonly TrainSequence[],
    { temperature }: { temperature: number },
    loss: (indices: number[], scores: SequenceScores[]) => SequenceGradient[],
  ): Promise<void> {
    for (const micro of packBatch(this.checked(batch), this.packing())) {
      await this.scoped(async (scope) => {
        const pass = await forward(this.model, scope, micro, temperature, undefined, true)
        const scores = new Map(micro.sequences.map((i) => [i, emptyScores((batch[i] as TrainSequence).ids.length)]))
        fillScores(scores, pass)
        const gradients = loss(micro.sequences, [...scores.values()])
        const bySequence = new Map(micro.sequences.map((sequence, i) => [sequence, gradients[i] as SequenceGradient]))
        let any = false
        for (const { rows } of pass.chunks) {
          for (const { sequence, token } of rows) {
            const g = bySequence.get(sequence) as SequenceGradient
            any ||= g.dLogprobs[token] !== 0 || (g.dEntropies?.[token] ?? 0) !== 0
          }
        }
        // A micro-batch whose loss has no slope adds exactly nothing.
        if (!any) return
        await backward(this.model, scope, pass, temperature, (sequence, token) => {
          const g = bySequence.get(sequence) as SequenceGradient
          return { dLogprob: g.dLogprobs[token] ?? 0, dEntropy: g.dEntropies?.[token] ?? 0 }
        })
        await this.model.optimizer.accumulate()
      })
    }
  }

  async optimizerStep(params: OptimizerParams): Promise<{ grad_norm: number }> {
    const { parameters, optimizer } = this.model
    const grad_norm = Math.sqrt(await optimizer.sumOfSquares())
    if (!Number.isFinite(grad_norm)) {
      parameters.zeroGradients()
      throw new PlaygroundError('non-finite', 'The gradient is not a finite number; this step was not applied.', 'Lower learning_rate, or raise temperature if it is below 0.5.')
    }
    const t = this.optimizerSteps + 1
    const { learning_rate: lr, adam_beta1: beta1, adam_beta2: beta2 } = params
    await optimizer.step({
      // torch.nn.utils.clip_grad_norm_'s factor.
      clip: Math.min(1, params.max_grad_norm / (grad_norm + 1e-6)),
      decay: 1 - lr * params.weight_decay,
      beta1,
      one_minus_beta1: 1 - beta1,
      beta2,
      one_minus_beta2: 1 - beta2,
      step_size: lr / (1 - beta1 ** t),
      bias2: Math.sqrt(1 - beta2 ** t),
      epsilon: params.adam_epsilon,
    })
    parameters.distribute()
    parameters.zeroGradients()
    this.optimizerSteps = t
    this.version++
    return { grad_norm }
  }

  zeroGradients(): void {
    this.model.parameters.zeroGradients()
  }

  freezeReference(): void {
    this.model.device.free(...(this.reference ?? []))
    this.reference = this.model.parameters.copyTensors()
  }

  exportParameters(): Promise<NamedTensor[]> {
    return this.model.parameters.exportTensors()
  }

  importParameters(tensors: readonly NamedTensor[]): Promise<void> {
    this.model.parameters.importTensors(tensors)
    this.optimizerSteps = 0
    this.version++
    return Promise.resolve()
  }

  async exportState(): Promise<TrainerState> {
    const { parameters } = this.model
    const tensors = await parameters.exportTensors()
    return { parameters: tensors, ...(await parameters.exportMoments()), optimizerSteps: this.optimizerSteps, version: this.version }
  }

  importState({ parameters, m, v, optimizerSteps, version }: TrainerState): Promise<void> {
    this.model.parameters.importTensors(parameters, { m, v })
    this.optimizerSteps = optimizerSteps
    this.version = version
    return Promise.resolve()
  }

  /** Back to the starting adapter, or a fresh LoRA drawn from `seed`; in full training to the weights as they were loaded. Version 0, no optimizer state, no reference. */
  resetAdapter(seed: number): void {
    const { parameters, device, startingAdapter } = this.model
    if (startingAdapter) parameters.importTensors(startingAdapter)
    else parameters.load(freshLora(parameters.layout, seed))
    device.free(...(this.reference ?? []))
    this.reference = null
    this.optimizerSteps = 0
    this.version = 0
  }

  private adapterTensors(adapter: Adapter): readonly DeviceTensor[] | undefined {
    if (adapter === 'current') return undefined
    if (!this.model.spec.lora) throw new PlaygroundError('engine', `There is no adapter '${adapter}' in full-parameter training.`, 'Train a LoRA to use a reference policy.')
    if (adapter === 'off') return this.model.parameters.zeroTensors()
    if (!this.reference) throw new PlaygroundError('engine', 'The reference policy was asked for before it was frozen.', 'Press Reset.')
    return this.reference
  }

  private checked(batch: readonly TrainSequence[]): readonly TrainSequence[] {
    const { vocab_size: vocab } = this.model.spec.config
    batch.forEach(({ ids, mask }, i) => {
      if (ids.length !== mask.length) throw new PlaygroundError('engine', `Sequence ${i} has ${ids.length} ids and ${mask.length} mask entries.`)
      if (mask[0] === 1) throw new PlaygroundError('engine', `Sequence ${i} asks for the log-prob of its first token, which nothing predicts.`)
      if (ids.length > this.model.contextLength) throw new PlaygroundError('engine', `Sequence ${i} has ${ids.length} tokens; the context holds ${this.model.contextLength}.`, 'Lower max_completion_length.')
      const bad = ids.find((id) => !(id >= 0 && id < vocab))
      if (bad !== undefined) throw new PlaygroundError('engine', `Sequence ${i} holds token ${bad}; the vocabulary has ${vocab}.`, 'Tokenizer and model do not belong together.')
    })
    return batch
  }

  private packing(): PackingOptions {
    const { config } = this.model.spec
    const perLayer = countLayerParameters(config)
    // FLOPs of attention's two products per pair of tokens; measured, a row's time has the same shape.
    const perPair = 4 * config.num_attention_heads * config.head_dim
    return {
      tokenBudget: this.microBatchTokens,
      multiple: ROW_MULTIPLE[this.model.device.backend],
      batchSizes: BATCH_SIZES,
      cost: (tokens) => tokens * 2 * perLayer + tokens * tokens * perPair,
    }
  }

  private async scoped<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
    const scope = new Scope(this.model.device)
    try {
      return await work(scope)
    } finally {
      scope.release()
    }
  }
}

function emptyScores(tokens: number): SequenceScores {
  return { logprobs: new Float64Array(tokens), entropies: new Float64Array(tokens), argmax: new Int32Array(tokens).fill(-1), meanLogits: new Float64Array(tokens) }
}

function fillScores(out: SequenceScores[] | Map<number, SequenceScores>, pass: ForwardPass): void {
  for (const chunk of pass.chunks) {
    chunk.rows.forEach(({ sequence, token }, i) => {
      const scores = (out instanceof Map ? out.get(sequence) : out[sequence]) as SequenceScores
      scores.logprobs[token] = chunk.logprob[i] as number
      scores.entropies[token] = chunk.entropy[i] as number
      scores.argmax[token] = chunk.argmax[i] as number
      if (scores.meanLogits) scores.meanLogits[token] = chunk.meanLogit[i] as number
    })
  }
}

/**
 * What rollouts and trainers need of an engine; `runtime/` implements it. The engine knows no GRPO: it samples tokens,
 * scores sequences, turns d loss / d log-prob into LoRA gradients and applies AdamW.
 */

import type { Backend, LoraConfig } from './config'

/** One of the likeliest tokens at a position, under the temperature-scaled full distribution. */
export interface TokenAlternative {
  id: number
  prob: number
}

export interface SampledToken {
  id: number
  /** Log-probability under softmax(logits / temperature) over the whole vocabulary, whatever top-k/p filtered. Nats. */
  logprob: number
  /** Entropy of that same distribution, nats. */
  entropy: number
  /** The five likeliest tokens, best first. */
  top: TokenAlternative[]
}

export interface SamplingParams {
  /** Above 0; 0 means greedy (the log-prob is then that of temperature 1). */
  temperature: number
  top_k: number
  top_p: number
  min_p: number | null
}

/**
 * Slots share one KV cache of [slots, contextLength]. A slot holds a token prefix; after `prefill` or `decode` it also
 * holds the hidden state of its last token, from which `sample` draws the next one. Calls are queued by the engine. Training may
 * empty the slots: their memory is then lent to it.
 */
export interface Sampler {
  readonly slots: number
  readonly contextLength: number
  /** Whether scoring and training empty the slots; absent: they do not. */
  readonly scoringEmptiesSlots?: boolean
  /** Number of tokens in a slot. */
  length(slot: number): number
  /** Empties a slot. */
  reset(slot: number): void
  /** Appends `ids` (at least one) to one slot. Throws when the slot would exceed contextLength. */
  prefill(slot: number, ids: readonly number[]): Promise<void>
  /** Makes each `to` slot equal to `from` (tokens, cache, hidden state). */
  copy(from: number, to: readonly number[]): Promise<void>
  /** Appends one token to each named slot, all in one batch. */
  decode(tokens: readonly { slot: number; id: number }[]): Promise<void>
  /** Which weights sampling uses from now on; a change empties all slots. 'current' at first. */
  useAdapter(adapter: 'current' | 'off'): Promise<void>
  /** Draws the next token of each named slot; `uniform` in [0,1) is the only randomness. Does not append it. */
  sample(requests: readonly { slot: number; uniform: number }[], params: SamplingParams): Promise<SampledToken[]>
}

/** One sequence to score or train on. */
export interface TrainSequence {
  /** [tokens] */
  ids: readonly number[]
  /** [tokens]; 1 where the token's log-prob is wanted (the model wrote it). mask[0] must be 0. */
  mask: readonly number[]
  /** Length of the prompt, for the caller's use; the engine finds shared beginnings by itself. */
  promptLength?: number
}

/** Scores of one sequence; arrays are [tokens], 0 where mask is 0. */
export interface SequenceScores {
  logprobs: Float64Array
  entropies: Float64Array
  /** Greedy token at each trained position (−1 elsewhere). */
  argmax: Int32Array
  /** Mean of the logits over the vocabulary, divided by the temperature; absent from an engine that has no logits. */
  meanLogits?: Float64Array
}

/** Derivatives of the loss for one sequence; arrays are [tokens] and read only where mask is 1. */
export interface SequenceGradient {
  dLogprobs: Float64Array
  /** Absent means zero. */
  dEntropies?: Float64Array
}

/** Which weights a scoring pass uses. */
export type Adapter =
  | 'current'
  /** The base model alone. */
  | 'off'
  /** The frozen copy taken by `freezeReference`. */
  | 'reference'

export interface OptimizerParams {
  learning_rate: number
  adam_beta1: number
  adam_beta2: number
  adam_epsilon: number
  weight_decay: number
  /** Global-norm clip; Infinity = off. */
  max_grad_norm: number
}

export interface EngineInfo {
  backend: Backend
  /** GPU adapter name, or the WASM thread count as text. */
  device: string
  threads: number
  model: string
  parameters: number
  trainable: number
  vocabSize: number
  ortVersion: string
}

/** A LoRA (or full) parameter set as named float32 tensors, PEFT's orientation: lora_A [r, in], lora_B [out, r]. */
export interface NamedTensor {
  name: string
  dims: number[]
  data: Float32Array
}

/** Everything of a trainer that training changes: with the base weights and the config it goes on bit for bit. */
export interface TrainerState {
  /** As exportParameters gives them. */
  parameters: NamedTensor[]
  /** AdamW's first and second moments, in the order and with the dims of `parameters`. */
  m: Float32Array[]
  v: Float32Array[]
  /** Optimizer steps that were applied: AdamW's t, from 0. */
  optimizerSteps: number
  version: number
}

export interface Trainer {
  /**
   * Scores `batch` in micro-batches. temperature divides the logits. Order of results = order of batch.
   */
  score(batch: readonly TrainSequence[], options: { temperature: number; adapter?: Adapter }): Promise<SequenceScores[]>
  /**
   * Forward, `loss` outside, backward; gradients are added to the accumulator. `loss` is called once per micro-batch
   * with the indices (into batch) and scores of its sequences and returns their derivatives, in the same order.
   */
  accumulate(
    batch: readonly TrainSequence[],
    options: { temperature: number },
    loss: (indices: number[], scores: SequenceScores[]) => SequenceGradient[],
  ): Promise<void>
  /**
   * Clips the accumulated gradient by global norm, applies one AdamW step, clears the accumulator and gives the sampler
   * the new weights. Returns the norm before clipping. Throws 'non-finite' and changes nothing if the norm is not finite.
   */
  optimizerStep(params: OptimizerParams): Promise<{ grad_norm: number }>
  /** Clears the gradient accumulator. */
  zeroGradients(): void
  /** Keeps a frozen copy of the present adapter as the reference policy. */
  freezeReference(): void
  /** Counts optimizer steps; the sampler's weights always have this version. */
  readonly version: number
  /** Copies of the trainable tensors. */
  exportParameters(): Promise<NamedTensor[]>
  /** Replaces the trainable tensors (names and dims must match) and clears the optimizer state. */
  importParameters(tensors: readonly NamedTensor[]): Promise<void>
  /** Copies of everything that training changed. Between optimizer steps only: a half accumulated gradient is not part of it. */
  exportState(): Promise<TrainerState>
  /** Goes on from a state of the same model and LoRA; the reference stays. Throws PlaygroundError('config') when names or dims differ. */
  importState(state: TrainerState): Promise<void>
}

export interface Engine extends Sampler, Trainer {
  readonly info: EngineInfo
  readonly lora: LoraConfig | null
  dispose(): Promise<void>
}

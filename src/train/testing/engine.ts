/**
 * A policy small enough to check by hand, behind the whole Engine interface: at the start of each turn it draws one of a few
 * fixed replies from a softmax over a table of logits, then writes that reply token by token with probability 1.
 * The gradient is exact. For tests only.
 */

import type {
  Adapter,
  Engine,
  EngineInfo,
  NamedTensor,
  OptimizerParams,
  SampledToken,
  SamplingParams,
  SequenceGradient,
  SequenceScores,
  TrainerState,
  TrainSequence,
} from '../../core/engine'
import { PlaygroundError } from '../../core/errors'

export interface ReplyEngineOptions {
  /** Token ids of each reply, end-of-turn token included; first tokens must differ. */
  replies: readonly (readonly number[])[]
  slots?: number
  contextLength?: number
  /** Sequences per micro-batch. */
  microBatch?: number
}

/** What comes next in a context: a free choice of reply, or the forced continuation of one. */
type Next = { kind: 'choice' } | { kind: 'forced'; id: number }

export class ReplyEngine implements Engine {
  readonly info: EngineInfo
  readonly lora = null
  readonly slots: number
  readonly contextLength: number
  version = 0
  /** [replies + 1]: a logit per reply, and one parameter that only tokens which this policy never writes depend on. */
  readonly theta: Float64Array
  /** Every gradient that reached the optimizer, before clipping. */
  readonly gradients: Float64Array[] = []
  /** Tests set it to break the scores. */
  corrupt: ((logprobs: Float64Array) => void) | null = null
  private reference: Float64Array
  private gradient: Float64Array
  private m: Float64Array
  private v: Float64Array
  private readonly held: number[][]

  constructor(private readonly options: ReplyEngineOptions) {
    const size = options.replies.length + 1
    this.slots = options.slots ?? 4
    this.contextLength = options.contextLength ?? 4096
    this.theta = new Float64Array(size)
    this.reference = new Float64Array(size)
    this.gradient = new Float64Array(size)
    this.m = new Float64Array(size)
    this.v = new Float64Array(size)
    this.held = Array.from({ length: this.slots }, () => [])
    this.info = {
      backend: 'wasm',
      device: 'table',
      threads: 1,
      model: 'replies',
      parameters: size,
      trainable: size,
      vocabSize: 151_936,
      ortVersion: 'none',
    }
  }

  /** Probability of each reply at temperature 1. */
  probabilities(theta: Float64Array = this.theta, temperature = 1): number[] {
    const logits = [...theta.subarray(0, -1)].map((x) => x / temperature)
    const top = Math.max(...logits)
    const weights = logits.map((x) => Math.exp(x - top))
    const total = weights.reduce((a, b) => a + b)
    return weights.map((w) => w / total)
  }

  length(slot: number): number {
    return this.slot(slot).length
  }

  reset(slot: number): void {
    this.held[slot] = []
  }

  useAdapter(): Promise<void> {
    return Promise.resolve()
  }

  async prefill(slot: number, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) throw new RangeError('prefill needs at least one token')
    if (this.length(slot) + ids.length > this.contextLength) throw new PlaygroundError('engine', `Slot ${slot} is full.`)
    this.slot(slot).push(...ids)
  }

  async copy(from: number, to: readonly number[]): Promise<void> {
    for (const slot of to) this.held[slot] = [...this.slot(from)]
  }

  async decode(tokens: readonly { slot: number; id: number }[]): Promise<void> {
    for (const { slot, id } of tokens) await this.prefill(slot, [id])
  }

  /** Ignores top-k, top-p and min-p. */
  async sample(requests: readonly { slot: number; uniform: number }[], params: SamplingParams): Promise<SampledToken[]> {
    return requests.map(({ slot, uniform }) => {
      const next = this.next(this.slot(slot))
      if (next.kind === 'forced') return { id: next.id, logprob: 0, entropy: 0, top: [{ id: next.id, prob: 1 }] }
      const p = this.probabilities(this.theta, params.temperature || 1)
      let rest = uniform
      let chosen = 0
      while (chosen < p.length - 1 && rest >= (p[chosen] as number)) rest -= p[chosen++] as number
      const top = p.map((prob, i) => ({ id: this.firstToken(i), prob })).sort((a, b) => b.prob - a.prob)
      return { id: this.firstToken(chosen), logprob: Math.log(p[chosen] as number), entropy: entropyOf(p), top: top.slice(0, 5) }
    })
  }

  async score(
    batch: readonly TrainSequence[],
    options: { temperature: number; adapter?: Adapter },
  ): Promise<SequenceScores[]> {
    const { adapter = 'current' } = options
    const theta = adapter === 'current' ? this.theta : adapter === 'reference' ? this.reference : new Float64Array(this.theta.length)
    return batch.map((sequence) => this.scoreOne(sequence, theta, options.temperature))
  }

  async accumulate(
    batch: readonly TrainSequence[],
    options: { temperature: number },
    loss: (indices: number[], scores: SequenceScores[]) => SequenceGradient[],
  ): Promise<void> {
    const size = this.options.microBatch ?? 3
    for (let start = 0; start < batch.length; start += size) {
      const indices = Array.from({ length: Math.min(size, batch.length - start) }, (_, i) => start + i)
      const scores = indices.map((i) => this.scoreOne(batch[i] as TrainSequence, this.theta, options.temperature))
      loss(indices, scores).forEach(({ dLogprobs }, i) => this.backward(batch[start + i] as TrainSequence, dLogprobs, options.temperature))
    }
  }

  async optimizerStep(params: OptimizerParams): Promise<{ grad_norm: number }> {
    const norm = Math.hypot(...this.gradient)
    if (!Number.isFinite(norm)) throw new PlaygroundError('non-finite', 'The gradient is not finite.')
    this.gradients.push(this.gradient.slice())
    const clip = Math.min(1, params.max_grad_norm / (norm + 1e-6))
    this.version++
    const { learning_rate, adam_beta1, adam_beta2, adam_epsilon, weight_decay } = params
    this.theta.forEach((value, i) => {
      const g = (this.gradient[i] as number) * clip
      const m = (this.m[i] = adam_beta1 * (this.m[i] as number) + (1 - adam_beta1) * g)
      const v = (this.v[i] = adam_beta2 * (this.v[i] as number) + (1 - adam_beta2) * g * g)
      const step = m / (1 - adam_beta1 ** this.version) / (Math.sqrt(v / (1 - adam_beta2 ** this.version)) + adam_epsilon)
      this.theta[i] = value * (1 - learning_rate * weight_decay) - learning_rate * step
    })
    this.zeroGradients()
    return { grad_norm: norm }
  }

  zeroGradients(): void {
    this.gradient.fill(0)
  }

  freezeReference(): void {
    this.reference = this.theta.slice()
  }

  async exportParameters(): Promise<NamedTensor[]> {
    return [{ name: 'theta', dims: [this.theta.length], data: Float32Array.from(this.theta) }]
  }

  async importParameters(tensors: readonly NamedTensor[]): Promise<void> {
    this.theta.set(tensors[0]?.data ?? [])
    this.m.fill(0)
    this.v.fill(0)
  }

  /** Rounded to float32, as checkpoints are. */
  async exportState(): Promise<TrainerState> {
    const parameters = await this.exportParameters()
    return { parameters, m: [Float32Array.from(this.m)], v: [Float32Array.from(this.v)], optimizerSteps: this.version, version: this.version }
  }

  async importState({ parameters, m, v, version }: TrainerState): Promise<void> {
    await this.importParameters(parameters)
    this.m.set(m[0] ?? [])
    this.v.set(v[0] ?? [])
    this.version = version
  }

  async dispose(): Promise<void> {}

  /** The gradient that has been accumulated so far is zero. */
  get isClear(): boolean {
    return this.gradient.every((x) => x === 0)
  }

  private slot(slot: number): number[] {
    const ids = this.held[slot]
    if (!ids) throw new RangeError(`no slot ${slot}`)
    return ids
  }

  private firstToken(reply: number): number {
    return this.options.replies[reply]?.[0] as number
  }

  /** Inside the reply of which the longest beginning stands at the end of the context; a choice where none does. */
  private next(context: readonly number[]): Next {
    let best: { length: number; id: number } | null = null
    for (const reply of this.options.replies) {
      for (let k = Math.min(reply.length - 1, context.length); k > (best?.length ?? 0); k--) {
        if (reply.slice(0, k).every((id, i) => id === context[context.length - k + i])) best = { length: k, id: reply[k] as number }
      }
    }
    return best ? { kind: 'forced', id: best.id } : { kind: 'choice' }
  }

  /** The reply that token t chooses, 'forced' when it only continues one, 'foreign' when this policy would never write it. */
  private role(ids: readonly number[], t: number): number | 'forced' | 'foreign' {
    const next = this.next(ids.slice(0, t))
    if (next.kind === 'forced') return ids[t] === next.id ? 'forced' : 'foreign'
    const reply = this.options.replies.findIndex(([first]) => first === ids[t])
    return reply < 0 ? 'foreign' : reply
  }

  private scoreOne({ ids, mask }: TrainSequence, theta: Float64Array, temperature: number): SequenceScores {
    if (mask[0] !== 0) throw new RangeError('mask[0] must be 0')
    const p = this.probabilities(theta, temperature)
    const scores: SequenceScores = {
      logprobs: new Float64Array(ids.length),
      entropies: new Float64Array(ids.length),
      argmax: new Int32Array(ids.length).fill(-1),
    }
    ids.forEach((id, t) => {
      if (mask[t] !== 1) return
      const role = this.role(ids, t)
      // log σ(x) of the last parameter, so that training on foreign tokens is possible and shows.
      if (role === 'foreign') scores.logprobs[t] = -Math.log1p(Math.exp(-(theta.at(-1) as number)))
      if (typeof role === 'number') {
        scores.logprobs[t] = Math.log(p[role] as number)
        scores.entropies[t] = entropyOf(p)
      }
      scores.argmax[t] = typeof role === 'number' ? this.firstToken(p.indexOf(Math.max(...p))) : id
    })
    this.corrupt?.(scores.logprobs)
    return scores
  }

  private backward({ ids, mask }: TrainSequence, dLogprobs: Float64Array, temperature: number): void {
    const p = this.probabilities(this.theta, temperature)
    const last = this.theta.length - 1
    ids.forEach((_, t) => {
      if (mask[t] !== 1) return
      const d = dLogprobs[t] as number
      const role = this.role(ids, t)
      if (role === 'foreign') this.gradient[last] = (this.gradient[last] as number) + d / (1 + Math.exp(this.theta[last] as number))
      if (typeof role !== 'number') return
      p.forEach((prob, j) => (this.gradient[j] = (this.gradient[j] as number) + (d * ((j === role ? 1 : 0) - prob)) / temperature))
    })
  }
}

function entropyOf(p: readonly number[]): number {
  return -p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0)
}

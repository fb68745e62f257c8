/** Slots over one KV cache: prefill, copy, batched decode, and sampling from the last token's hidden state. */

import type { SampledToken, Sampler, SamplingParams } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { TOP } from '../model/head'
import { type DeviceTensor, hostFloats, hostIntegers } from './device'
import { DeviceCache } from './device-cache'
import { HostCache } from './host-cache'
import { KernelCache } from './kernel-cache'
import type { KvCache } from './kv-cache'
import { integers, type LoadedModel, scalar } from './model'
import { gatherRows } from './rows'
import type { KernelEngine } from './wasm-kernels/kernel-engine'

/** The largest float32 below 1: a uniform that rounded up to 1 would lie behind the last token. */
const ALMOST_ONE = 1 - 2 ** -24

export class EngineSampler implements Sampler {
  readonly contextLength: number
  private readonly lengths: number[]
  private readonly cache: KvCache
  /** Hidden state of each slot's last token, [slots, hidden]. */
  private readonly hidden: DeviceTensor

  constructor(
    private readonly model: LoadedModel,
    readonly slots: number,
  ) {
    this.contextLength = model.contextLength
    this.lengths = new Array<number>(slots).fill(0)
    if (model.device.backend === 'webgpu') this.cache = new DeviceCache(model, slots)
    else this.cache = model.kernels ? new KernelCache(model, model.kernels, slots) : new HostCache(model, slots)
    this.hidden = model.device.zeros([slots, model.spec.config.hidden_size])
  }

  length(slot: number): number {
    return this.lengths[this.checkedSlot(slot)] as number
  }

  reset(slot: number): void {
    this.lengths[this.checkedSlot(slot)] = 0
  }

  get scoringEmptiesSlots(): boolean {
    return this.cache.lends
  }

  /** Gives the KV cache's memory to training where it is large; the slots are empty then. */
  makeRoom(): void {
    if (this.cache.makeRoom()) this.lengths.fill(0)
  }

  /** Empties all slots and their cache. */
  clear(): void {
    this.lengths.fill(0)
    this.cache.clear()
  }

  useAdapter(adapter: 'current' | 'off'): Promise<void> {
    const tensors = adapter === 'off' && this.model.spec.lora ? this.model.parameters.zeroTensors() : undefined
    if (tensors === this.cache.adapter) return Promise.resolve()
    this.cache.adapter = tensors
    this.clear()
    return Promise.resolve()
  }

  async prefill(slot: number, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) throw new PlaygroundError('engine', 'Prefill was asked for no tokens.')
    this.checkIds(ids)
    this.reserve(this.length(slot) + ids.length)
    for (let at = 0; at < ids.length; at += this.cache.longestPrefill) await this.append(slot, ids.slice(at, at + this.cache.longestPrefill))
  }

  private async append(slot: number, ids: readonly number[]): Promise<void> {
    const { device, spec } = this.model
    const before = this.length(slot)
    const x = await this.embed(ids)
    const y = await this.cache.prefill(x, slot, before, ids.length)
    const { hidden_size: hidden } = spec.config
    device.copy([{ from: y, fromOffset: y.dims.reduce((n, dim) => n * dim) - hidden, to: this.hidden, toOffset: slot * hidden, count: hidden }])
    device.free(x, y)
    this.lengths[slot] = before + ids.length
  }

  copy(from: number, to: readonly number[]): Promise<void> {
    const { hidden_size: hidden } = this.model.spec.config
    const length = this.length(from)
    const others = to.filter((slot) => this.checkedSlot(slot) !== from)
    this.cache.copy(from, others, length)
    const copies = others.map((slot) => ({ from: this.hidden, fromOffset: from * hidden, to: this.hidden, toOffset: slot * hidden, count: hidden }))
    if (copies.length > 0) this.model.device.copy(copies)
    for (const slot of others) this.lengths[slot] = length
    return Promise.resolve()
  }

  async decode(tokens: readonly { slot: number; id: number }[]): Promise<void> {
    if (tokens.length === 0) return
    const { device, spec } = this.model
    const { hidden_size: hidden } = spec.config
    const slots = tokens.map(({ slot }) => this.checkedSlot(slot))
    if (new Set(slots).size < slots.length) throw new PlaygroundError('engine', 'A decode names one slot twice.')
    const ids = new Array<number>(this.slots).fill(0)
    for (const { slot, id } of tokens) ids[slot] = id
    this.reserve(Math.max(...slots.map((slot) => this.length(slot))) + 1)
    this.checkIds(ids)
    const x = await this.embed(ids)
    const y = await this.cache.decode(x, slots, this.lengths)
    device.copy(slots.map((slot) => ({ from: y, fromOffset: slot * hidden, to: this.hidden, toOffset: slot * hidden, count: hidden })))
    device.free(x, y)
    for (const slot of slots) this.lengths[slot] = this.length(slot) + 1
  }

  async sample(requests: readonly { slot: number; uniform: number }[], params: SamplingParams): Promise<SampledToken[]> {
    if (requests.length === 0) return []
    const { device, sessions, weights, spec, kernels } = this.model
    const uniform = new Float32Array(this.slots)
    for (const { slot, uniform: u } of requests) uniform[this.checkedSlot(slot)] = Math.min(u, ALMOST_ONE)
    const greedy = params.temperature === 0
    const filtered = !greedy && (params.top_k > 0 || params.top_p < 1 || (params.min_p ?? 0) > 0)
    if (kernels && !filtered) return this.sampleByKernels(kernels, requests, params.temperature)
    const out = await device.run(await sessions.get(filtered ? 'head_sample_filtered' : 'head_sample'), {
      x: this.hidden,
      norm: weights.norm,
      ...weights.head,
      inverse_temperature: scalar(device, greedy ? 1 : 1 / params.temperature),
      uniform: device.host(uniform, [this.slots]),
      top_k: scalar(device, params.top_k > 0 ? params.top_k : spec.config.vocab_size),
      top_p: scalar(device, params.top_p),
      min_p: scalar(device, params.min_p ?? 0),
    })
    const [choice, logprob, entropy, topProb] = [out.choice, out.logprob, out.entropy, out.top_prob].map(hostFloats) as [Float32Array, Float32Array, Float32Array, Float32Array]
    const topId = hostIntegers(out.top_id)
    const width = topId.length / this.slots
    device.free(...Object.values(out))
    return requests.map(({ slot }) => {
      const top = Array.from({ length: TOP }, (_, k) => ({ id: Number(topId[slot * width + k]), prob: topProb[slot * TOP + k] as number }))
      const best = top[0] as { id: number; prob: number }
      const chosen = choice[slot] as number
      const id = filtered ? Number(topId[slot * width + chosen]) : chosen
      const sampled = greedy ? { id: best.id, logprob: Math.log(best.prob) } : { id, logprob: logprob[slot] as number }
      return finite({ ...sampled, entropy: entropy[slot] as number, top })
    })
  }

  private sampleByKernels(kernels: KernelEngine, requests: readonly { slot: number; uniform: number }[], temperature: number): SampledToken[] {
    const { hidden_size: hidden } = this.model.spec.config
    const x = gatherRows(hostFloats(this.hidden), hidden, requests.map(({ slot }) => slot))
    const greedy = temperature === 0
    return kernels.head.sample(x, greedy ? 1 : temperature, greedy ? null : requests.map(({ uniform }) => Math.min(uniform, ALMOST_ONE)), TOP).map(finite)
  }

  private async embed(ids: readonly number[]): Promise<DeviceTensor> {
    const { device, sessions, weights, spec, kernels } = this.model
    const { hidden_size: hidden } = spec.config
    if (kernels) return device.upload(gatherRows(hostFloats(weights.table.table), hidden, ids), [ids.length, hidden])
    const out = await device.run(await sessions.get('embed'), { ...weights.table, ids: integers(device, ids) })
    return out.x as DeviceTensor
  }

  private checkIds(ids: readonly number[]): void {
    const { spec } = this.model
    const bad = ids.find((id) => !(id >= 0 && id < spec.config.vocab_size))
    if (bad !== undefined) {
      throw new PlaygroundError('engine', `A prompt holds token ${bad}; the vocabulary has ${spec.config.vocab_size}.`, 'Tokenizer and model do not belong together.')
    }
  }

  /** Throws when the context is too short for `tokens` tokens in a slot. */
  private reserve(tokens: number): void {
    if (tokens > this.contextLength) {
      throw new PlaygroundError('engine', `A slot would hold ${tokens} tokens; the context holds ${this.contextLength}.`, 'Lower max_completion_length.')
    }
    this.cache.reserve(tokens)
  }

  private checkedSlot(slot: number): number {
    if (!Number.isInteger(slot) || slot < 0 || slot >= this.slots) throw new PlaygroundError('engine', `There is no slot ${slot}; there are ${this.slots}.`)
    return slot
  }
}

/** Throws PlaygroundError('non-finite') for a log-prob that is none. */
function finite(sampled: SampledToken): SampledToken {
  if (Number.isFinite(sampled.logprob)) return sampled
  throw new PlaygroundError('non-finite', 'The model gave a log-probability that is not a finite number.', 'Press Reset, and lower learning_rate.')
}

/** Slots over one KV cache: prefill, copy, batched decode, and sampling from the last token's hidden state. */

import type { SampledToken, Sampler, SamplingParams } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { TOP } from '../model/head'
import { type Cell, type Copy, type DeviceTensor, hostFloats, hostIntegers } from './device'
import { integers, type LoadedModel, scalar } from './model'

/** The largest float32 below 1: a uniform that rounded up to 1 would lie behind the last token. */
const ALMOST_ONE = 1 - 2 ** -24

/** On WASM the whole cache passes through the heap at each run, so its capacity grows in steps of this many tokens. */
const CAPACITY_STEP = 128

interface LayerCache {
  key: Cell
  value: Cell
}

export class EngineSampler implements Sampler {
  readonly contextLength: number
  private readonly lengths: number[]
  private capacity: number
  private cache: LayerCache[]
  /** One row's cache, for prefill. */
  private single: LayerCache[]
  /** Hidden state of each slot's last token, [slots, hidden]. */
  private readonly hidden: DeviceTensor

  constructor(
    private readonly model: LoadedModel,
    readonly slots: number,
  ) {
    this.contextLength = model.contextLength
    this.lengths = new Array<number>(slots).fill(0)
    this.capacity = model.device.backend === 'webgpu' ? model.contextLength : Math.min(CAPACITY_STEP, model.contextLength)
    this.cache = this.allocate(slots)
    this.single = this.allocate(1)
    this.hidden = model.device.zeros([slots, model.spec.config.hidden_size])
  }

  length(slot: number): number {
    return this.lengths[this.checkedSlot(slot)] as number
  }

  reset(slot: number): void {
    this.lengths[this.checkedSlot(slot)] = 0
  }

  async prefill(slot: number, ids: readonly number[]): Promise<void> {
    const { device, sessions } = this.model
    const before = this.length(slot)
    const after = before + ids.length
    if (ids.length === 0) throw new PlaygroundError('engine', 'Prefill was asked for no tokens.')
    this.reserve(after)
    const { hidden_size: hidden } = this.model.spec.config
    if (before > 0) device.copy(this.rowCopies(slot, 'out'))
    const x = await this.embed(ids)
    const { inPlace, past } = this.bind(this.single)
    const out = await device.run(
      await sessions.get('prefill'),
      { x, ...past, ...this.constants(), last_index: device.host(Int32Array.of(after - 1), [1]), total: device.host(Int32Array.of(after), [1]) },
      inPlace,
    )
    const y = out.y as DeviceTensor
    device.copy([
      ...this.rowCopies(slot, 'in'),
      { from: y, fromOffset: (ids.length - 1) * hidden, to: this.hidden, toOffset: slot * hidden, count: hidden },
    ])
    device.free(x, y)
    this.lengths[slot] = after
  }

  copy(from: number, to: readonly number[]): Promise<void> {
    const { device } = this.model
    const { hidden_size: hidden } = this.model.spec.config
    const length = this.length(from)
    const size = this.rowSize()
    const copies: Copy[] = []
    for (const slot of to) {
      if (this.checkedSlot(slot) === from) continue
      for (const { key, value } of this.cache) {
        for (const cell of [key, value]) copies.push({ from: cell.value, fromOffset: from * size, to: cell.value, toOffset: slot * size, count: size })
      }
      copies.push({ from: this.hidden, fromOffset: from * hidden, to: this.hidden, toOffset: slot * hidden, count: hidden })
      this.lengths[slot] = length
    }
    if (copies.length > 0) device.copy(copies)
    return Promise.resolve()
  }

  async decode(tokens: readonly { slot: number; id: number }[]): Promise<void> {
    if (tokens.length === 0) return
    const { device, sessions } = this.model
    const { hidden_size: hidden } = this.model.spec.config
    const ids = new Array<number>(this.slots).fill(0)
    for (const { slot, id } of tokens) ids[this.checkedSlot(slot)] = id
    if (new Set(tokens.map(({ slot }) => slot)).size < tokens.length) throw new PlaygroundError('engine', 'A decode names one slot twice.')
    // Rows that do not decode write one token past their end too, where their next real token will overwrite it. A full
    // row loses its last token's key there, which no later token can need.
    const longest = Math.max(...this.lengths)
    this.reserve(Math.max(Math.min(longest + 1, this.contextLength), ...tokens.map(({ slot }) => this.length(slot) + 1)))
    const lastIndex = Int32Array.from(this.lengths, (n) => Math.min(n, this.capacity - 1))
    const total = Math.max(...lastIndex) + 1
    const x = await this.embed(ids)
    const { inPlace, past } = this.bind(this.cache)
    const out = await device.run(
      await sessions.get('decode'),
      { x, ...past, ...this.constants(), last_index: device.host(lastIndex, [this.slots]), total: device.host(Int32Array.of(total), [1]) },
      inPlace,
    )
    const y = out.y as DeviceTensor
    device.copy(tokens.map(({ slot }) => ({ from: y, fromOffset: slot * hidden, to: this.hidden, toOffset: slot * hidden, count: hidden })))
    device.free(x, y)
    for (const { slot } of tokens) this.lengths[slot] = this.length(slot) + 1
  }

  async sample(requests: readonly { slot: number; uniform: number }[], params: SamplingParams): Promise<SampledToken[]> {
    if (requests.length === 0) return []
    const { device, sessions, weights, spec } = this.model
    const uniform = new Float32Array(this.slots)
    for (const { slot, uniform: u } of requests) uniform[this.checkedSlot(slot)] = Math.min(u, ALMOST_ONE)
    const greedy = params.temperature === 0
    const filtered = !greedy && (params.top_k > 0 || params.top_p < 1 || (params.min_p ?? 0) > 0)
    const out = await device.run(await sessions.get(filtered ? 'head_sample_filtered' : 'head_sample'), {
      x: this.hidden,
      norm: weights.norm,
      table: weights.head,
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
      if (!Number.isFinite(sampled.logprob)) {
        throw new PlaygroundError('non-finite', 'The model gave a log-probability that is not a finite number.', 'Press Reset, and lower learning_rate.')
      }
      return { ...sampled, entropy: entropy[slot] as number, top }
    })
  }

  private async embed(ids: readonly number[]): Promise<DeviceTensor> {
    const { device, sessions, weights } = this.model
    const out = await device.run(await sessions.get('embed'), { table: weights.table, ids: integers(device, ids) })
    return out.x as DeviceTensor
  }

  /** Weights and tables of the decode graphs; the session leaves out what is baked in. */
  private constants(): Record<string, DeviceTensor> {
    const { weights, parameters, rope, spec } = this.model
    const out: Record<string, DeviceTensor> = { ...rope.atLeast(this.contextLength) }
    for (let layer = 0; layer < spec.config.num_hidden_layers; layer++) {
      for (const [name, tensor] of Object.entries({ ...weights.blocks[layer], ...parameters.layerInputs(layer) })) out[`layers.${layer}.${name}`] = tensor
    }
    return out
  }

  private bind(cache: readonly LayerCache[]): { past: Record<string, DeviceTensor>; inPlace: Record<string, Cell> } {
    const past: Record<string, DeviceTensor> = {}
    const inPlace: Record<string, Cell> = {}
    cache.forEach(({ key, value }, layer) => {
      past[`past.${layer}.key`] = key.value
      past[`past.${layer}.value`] = value.value
      inPlace[`present.${layer}.key`] = key
      inPlace[`present.${layer}.value`] = value
    })
    return { past, inPlace }
  }

  /** Elements of one slot's keys (or values) in one layer. */
  private rowSize(): number {
    const { num_key_value_heads: kv, head_dim: dim } = this.model.spec.config
    return kv * this.capacity * dim
  }

  private rowCopies(slot: number, direction: 'out' | 'in'): Copy[] {
    const size = this.rowSize()
    return this.cache.flatMap((layer, i) =>
      (['key', 'value'] as const).map((part) => {
        const row = { tensor: layer[part].value, offset: slot * size }
        const single = { tensor: (this.single[i] as LayerCache)[part].value, offset: 0 }
        const [from, to] = direction === 'out' ? [row, single] : [single, row]
        return { from: from.tensor, fromOffset: from.offset, to: to.tensor, toOffset: to.offset, count: size }
      }),
    )
  }

  private allocate(rows: number): LayerCache[] {
    const { device, spec } = this.model
    const { num_key_value_heads: kv, head_dim: dim, num_hidden_layers: layers } = spec.config
    const zeros = (): Cell => ({ value: device.zeros([rows, kv, this.capacity, dim]) })
    return Array.from({ length: layers }, () => ({ key: zeros(), value: zeros() }))
  }

  /** Makes room for `tokens` tokens in a slot. Throws when the context is too short. */
  private reserve(tokens: number): void {
    if (tokens > this.contextLength) {
      throw new PlaygroundError('engine', `A slot would hold ${tokens} tokens; the context holds ${this.contextLength}.`, 'Lower max_completion_length.')
    }
    if (tokens <= this.capacity) return
    const { device, spec } = this.model
    const { num_key_value_heads: kv, head_dim: dim } = spec.config
    const old = this.capacity
    const before = this.cache
    device.free(...this.single.flatMap(({ key, value }) => [key.value, value.value]))
    this.capacity = Math.min(Math.ceil(tokens / CAPACITY_STEP) * CAPACITY_STEP, this.contextLength)
    this.cache = this.allocate(this.slots)
    this.single = this.allocate(1)
    before.forEach((layer, i) => {
      for (const part of ['key', 'value'] as const) {
        const [from, to] = [layer[part].value, (this.cache[i] as LayerCache)[part].value]
        const rows = Array.from({ length: this.slots * kv }, (_, row) => ({ from, fromOffset: row * old * dim, to, toOffset: row * this.capacity * dim, count: old * dim }))
        device.copy(rows)
        device.free(from)
      }
    })
  }

  private checkedSlot(slot: number): number {
    if (!Number.isInteger(slot) || slot < 0 || slot >= this.slots) throw new PlaygroundError('engine', `There is no slot ${slot}; there are ${this.slots}.`)
    return slot
  }
}

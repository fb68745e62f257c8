/** The KV cache as host arrays (WASM): a run reads it and returns the new tokens' rows, which are appended here. */

import { type DeviceTensor, hostFloats } from './device'
import { decodeInputs, type KvCache } from './kv-cache'
import type { LoadedModel } from './model'

/** The whole cache passes into the heap at each decode, so its capacity grows in steps of this many tokens. */
const CAPACITY_STEP = 64
const MASKED = -1e9

interface LayerCache {
  /** [slots, kv, head_dim, capacity] */
  key: Float32Array
  /** [slots, kv, capacity, head_dim] */
  value: Float32Array
}

export class HostCache implements KvCache {
  adapter: readonly DeviceTensor[] | undefined = undefined
  readonly longestPrefill = Infinity
  private capacity = CAPACITY_STEP
  private layers: LayerCache[]
  private readonly kv: number
  private readonly dim: number

  constructor(
    private readonly model: LoadedModel,
    private readonly slots: number,
  ) {
    const { num_key_value_heads, head_dim } = model.spec.config
    this.kv = num_key_value_heads
    this.dim = head_dim
    this.layers = this.allocate()
  }

  reserve(tokens: number): void {
    if (tokens <= this.capacity) return
    const [before, old] = [this.layers, this.capacity]
    this.capacity = Math.ceil(tokens / CAPACITY_STEP) * CAPACITY_STEP
    this.layers = this.allocate()
    const { capacity, dim } = this
    before.forEach((layer, i) => {
      const { key, value } = this.layers[i] as LayerCache
      for (let row = 0; row < this.slots * this.kv; row++) {
        value.set(layer.value.subarray(row * old * dim, (row + 1) * old * dim), row * capacity * dim)
        for (let d = row * dim; d < (row + 1) * dim; d++) key.set(layer.key.subarray(d * old, (d + 1) * old), d * capacity)
      }
    })
  }

  async prefill(x: DeviceTensor, slot: number, before: number, n: number): Promise<DeviceTensor> {
    const { device, sessions } = this.model
    const size = this.kv * this.dim
    // An empty slot has nothing to read: one masked token stands for its cache.
    const capacity = before === 0 ? 1 : this.capacity
    const past = this.layers.map(({ key, value }) => ({
      key: before === 0 ? new Float32Array(size) : key.subarray(slot * size * capacity, (slot + 1) * size * capacity),
      value: before === 0 ? new Float32Array(size) : value.subarray(slot * size * capacity, (slot + 1) * size * capacity),
    }))
    const newBias = new Float32Array(n * n)
    for (let i = 0; i < n; i++) newBias.fill(MASKED, i * n + i + 1, (i + 1) * n)
    const out = await device.run(await sessions.get('prefill_host'), {
      x,
      positions: device.host(BigInt64Array.from({ length: n }, (_, t) => BigInt(before + t)), [1, n]),
      past_bias: device.host(pastBias([before], capacity), [1, 1, 1, capacity]),
      new_bias: device.host(newBias, [1, 1, n, n]),
      ...this.pastInputs(past, 1, capacity),
      ...decodeInputs(this.model, this.adapter),
    })
    this.append(out, 0, slot, before, n)
    return this.hiddenOf(out)
  }

  async decode(x: DeviceTensor, slots: readonly number[], lengths: readonly number[]): Promise<DeviceTensor> {
    const { device, sessions } = this.model
    const out = await device.run(await sessions.get('decode_host'), {
      x,
      positions: device.host(BigInt64Array.from(lengths, (n) => BigInt(Math.min(n, this.model.contextLength - 1))), [this.slots, 1]),
      past_bias: device.host(pastBias(lengths, this.capacity), [this.slots, 1, 1, this.capacity]),
      ...this.pastInputs(this.layers, this.slots, this.capacity),
      ...decodeInputs(this.model, this.adapter),
    })
    for (const slot of slots) this.append(out, slot, slot, lengths[slot] as number, 1)
    return this.hiddenOf(out)
  }

  copy(from: number, to: readonly number[]): void {
    const size = this.kv * this.dim * this.capacity
    for (const slot of to) {
      for (const { key, value } of this.layers) {
        key.copyWithin(slot * size, from * size, (from + 1) * size)
        value.copyWithin(slot * size, from * size, (from + 1) * size)
      }
    }
  }

  /** Host memory is the page's; what training needs lies elsewhere. */
  readonly lends = false

  makeRoom(): boolean {
    return false
  }

  clear(): void {
    for (const { key, value } of this.layers) {
      key.fill(0)
      value.fill(0)
    }
  }

  private allocate(): LayerCache[] {
    const size = this.slots * this.kv * this.dim * this.capacity
    return Array.from({ length: this.model.spec.config.num_hidden_layers }, () => ({ key: new Float32Array(size), value: new Float32Array(size) }))
  }

  private pastInputs(layers: readonly LayerCache[], rows: number, capacity: number): Record<string, DeviceTensor> {
    const { device } = this.model
    return Object.fromEntries(
      layers.flatMap(({ key, value }, layer) => [
        [`past.${layer}.key`, device.host(key, [rows, this.kv, this.dim, capacity])],
        [`past.${layer}.value`, device.host(value, [rows, this.kv, capacity, this.dim])],
      ]),
    )
  }

  /** Writes row `row` of a run's new keys and values [rows, kv, n, head_dim] behind the slot's first `before` tokens. */
  private append(out: Record<string, DeviceTensor>, row: number, slot: number, before: number, n: number): void {
    const { kv, dim, capacity } = this
    this.layers.forEach(({ key, value }, layer) => {
      const newKey = hostFloats(out[`present.${layer}.key`])
      const newValue = hostFloats(out[`present.${layer}.value`])
      for (let head = 0; head < kv; head++) {
        const source = (row * kv + head) * n * dim
        const place = slot * kv + head
        value.set(newValue.subarray(source, source + n * dim), (place * capacity + before) * dim)
        for (let t = 0; t < n; t++) {
          for (let d = 0; d < dim; d++) key[(place * dim + d) * capacity + before + t] = newKey[source + t * dim + d] as number
        }
      }
    })
  }

  /** y, after the new rows' tensors are given back. */
  private hiddenOf(out: Record<string, DeviceTensor>): DeviceTensor {
    const { y, ...rest } = out
    this.model.device.free(...Object.values(rest))
    return y as DeviceTensor
  }
}

/** [rows, 1, 1, capacity]: 0 for the first `length` tokens of a row, masked behind them. */
function pastBias(lengths: readonly number[], capacity: number): Float32Array {
  const out = new Float32Array(lengths.length * capacity)
  lengths.forEach((length, row) => out.fill(MASKED, row * capacity + Math.min(length, capacity), (row + 1) * capacity))
  return out
}

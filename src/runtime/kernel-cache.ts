/** The KV cache of our own WebAssembly kernels: tokens of all slots in their memory, new ones appended in place. */

import { breathe } from './breathe'
import { type DeviceTensor, hostFloats } from './device'
import type { KvCache } from './kv-cache'
import type { LoadedModel } from './model'
import { gatherRows } from './rows'
import { batchRows, type KernelEngine } from './wasm-kernels/kernel-engine'
import { VIEW_WORDS } from './wasm-kernels/layer'

/** Tokens of a slot at first; a fuller cache doubles. */
const FIRST_CAPACITY = 64
/** Most new tokens at once: their values would fill much memory. */
const PREFILL_ROWS = 256

export class KernelCache implements KvCache {
  adapter: readonly DeviceTensor[] | undefined = undefined
  readonly longestPrefill = PREFILL_ROWS
  private capacity = FIRST_CAPACITY
  /** Each layer's keys and values, [slots · capacity, 2, kv · head_dim]. */
  private layers: number[]

  constructor(
    private readonly model: LoadedModel,
    private readonly kernels: KernelEngine,
    private readonly slots: number,
  ) {
    this.layers = kernels.makeCache(slots * this.capacity)
  }

  reserve(tokens: number): void {
    if (tokens <= this.capacity) return
    const [before, old] = [this.layers, this.capacity]
    const wanted = Math.max(tokens, Math.min(2 * old, this.model.contextLength))
    const { kernels, slots } = this
    this.layers = kernels.makeCache(slots * wanted)
    this.capacity = wanted
    const size = kernels.tokenFloats
    before.forEach((from, layer) => {
      for (let slot = 0; slot < slots; slot++) {
        kernels.floats((this.layers[layer] as number) + 4 * slot * wanted * size, old * size).set(kernels.floats(from + 4 * slot * old * size, old * size))
      }
    })
    kernels.release(before)
  }

  async prefill(x: DeviceTensor, slot: number, before: number, n: number): Promise<DeviceTensor> {
    const rows = Array.from({ length: n }, (_, i) => ({ slot, position: before + i }))
    const y = this.append(hostFloats(x), rows, n - 1)
    await breathe()
    return this.model.device.upload(y, [1, y.length])
  }

  async decode(x: DeviceTensor, slots: readonly number[], lengths: readonly number[]): Promise<DeviceTensor> {
    const { hidden_size: hidden } = this.model.spec.config
    const got = this.append(gatherRows(hostFloats(x), hidden, slots), slots.map((slot) => ({ slot, position: lengths[slot] as number })))
    const y = new Float32Array(this.slots * hidden)
    slots.forEach((slot, row) => y.set(got.subarray(row * hidden, (row + 1) * hidden), slot * hidden))
    await breathe()
    return this.model.device.upload(y, [this.slots, hidden])
  }

  copy(from: number, to: readonly number[], length: number): void {
    const size = this.kernels.tokenFloats
    const place = (layer: number, slot: number): Float32Array => this.kernels.floats(layer + 4 * slot * this.capacity * size, length * size)
    for (const layer of this.layers) for (const slot of to) place(layer, slot).set(place(layer, from))
  }

  /** Most of the memory is the kernels' own, and training needs little. */
  readonly lends = false

  makeRoom(): boolean {
    return false
  }

  clear(): void {
    for (const layer of this.layers) this.kernels.floats(layer, this.slots * this.capacity * this.kernels.tokenFloats).fill(0)
  }

  private append(x: Float32Array, rows: readonly { slot: number; position: number }[], wanted = 0): Float32Array {
    const batch = batchRows(rows.length)
    const tokens = new Int32Array(rows.length)
    rows.forEach(({ slot, position }, row) => {
      const first = slot * this.capacity
      batch.positions[row] = position
      batch.views.set([first, position + 1], row * VIEW_WORDS)
      tokens[row] = first + position
      batch.most = Math.max(batch.most, position + 1)
    })
    return this.kernels.append(x, batch, tokens, this.layers, this.adapter, wanted)
  }
}

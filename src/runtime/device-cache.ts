/** The KV cache on the device, written in place by GroupQueryAttention (WebGPU). */

import { type Cell, type Copy, type DeviceTensor } from './device'
import type { DecodeKernels } from './kernels/decode-kernels'
import { decodeInputs, type KvCache } from './kv-cache'
import type { LoadedModel } from './model'

/** A smaller cache stays where it is during training, bytes. */
export const WORTH_FREEING = 64e6

interface LayerCache {
  key: Cell
  value: Cell
}

/**
 * From 32 new tokens on onnxruntime 1.30 takes another attention kernel on WebGPU, which is wrong on adapters with small
 * subgroups (SwiftShader: log-probs off by 0.06).
 */
export const DEVICE_PREFILL = 31

export class DeviceCache implements KvCache {
  adapter: readonly DeviceTensor[] | undefined = undefined
  readonly longestPrefill = DEVICE_PREFILL
  private held: {
    slots: LayerCache[]
    /** One row's cache: several new tokens over a past need a batch of one. */
    single: LayerCache[]
  } | null = null
  private kernels: Promise<DecodeKernels | null> | null = null
  /** Elements of one slot's keys (or values) in one layer. */
  private readonly rowSize: number

  constructor(
    private readonly model: LoadedModel,
    private readonly slots: number,
  ) {
    const { num_key_value_heads: kv, head_dim: dim } = model.spec.config
    this.rowSize = kv * model.contextLength * dim
  }

  private get cache(): LayerCache[] {
    return this.allocated().slots
  }

  private get single(): LayerCache[] {
    return this.allocated().single
  }

  private allocated(): { slots: LayerCache[]; single: LayerCache[] } {
    const { device, contextLength, spec } = this.model
    const { num_key_value_heads: kv, head_dim: dim, num_hidden_layers: layers } = spec.config
    const allocate = (rows: number): LayerCache[] => {
      const zeros = (): Cell => ({ value: device.zeros([rows, kv, contextLength, dim]) })
      return Array.from({ length: layers }, () => ({ key: zeros(), value: zeros() }))
    }
    this.held ??= { slots: allocate(this.slots), single: allocate(1) }
    return this.held
  }

  get lends(): boolean {
    return this.rowSize * (this.slots + 1) * this.model.spec.config.num_hidden_layers * 8 >= WORTH_FREEING
  }

  makeRoom(): boolean {
    if (!this.held || !this.lends) return false
    for (const { key, value } of [...this.held.slots, ...this.held.single]) this.model.device.free(key.value, value.value)
    this.held = null
    return true
  }

  /** The whole context is there from the start. */
  reserve(): void {}

  async prefill(x: DeviceTensor, slot: number, before: number, n: number): Promise<DeviceTensor> {
    const { device, sessions } = this.model
    if (before > 0) device.copy(this.rowCopies(slot, 'out'))
    const total = before + n
    const { inPlace, past } = bind(this.single)
    const index = { last_index: device.host(Int32Array.of(total - 1), [1]), total: device.host(Int32Array.of(total), [1]) }
    const out = await device.run(await sessions.get('prefill'), { x, ...past, ...decodeInputs(this.model, this.adapter), ...index }, inPlace)
    device.copy(this.rowCopies(slot, 'in'))
    return out.y as DeviceTensor
  }

  private async makeKernels(): Promise<DecodeKernels | null> {
    const { decodeKernels } = await import('./kernels/decode-kernels')
    return decodeKernels(this.model, this.slots)
  }

  async decode(x: DeviceTensor, slots: readonly number[], lengths: readonly number[]): Promise<DeviceTensor> {
    const { device, sessions, contextLength } = this.model
    this.kernels ??= this.makeKernels()
    const kernels = await this.kernels
    if (kernels) return kernels.decode(x, slots, slots.map((slot) => Math.min(lengths[slot] as number, contextLength - 1)), this.cache, this.adapter === undefined)
    // Rows that do not decode write one token past their end too, where their next real token will overwrite it. A full
    // row loses its last token's key there, which no later token can need.
    const lastIndex = Int32Array.from(lengths, (n) => Math.min(n, contextLength - 1))
    const { inPlace, past } = bind(this.cache)
    const index = { last_index: device.host(lastIndex, [this.slots]), total: device.host(Int32Array.of(Math.max(...lastIndex) + 1), [1]) }
    const out = await device.run(await sessions.get('decode'), { x, ...past, ...decodeInputs(this.model, this.adapter), ...index }, inPlace)
    return out.y as DeviceTensor
  }

  copy(from: number, to: readonly number[]): void {
    const copies: Copy[] = to.flatMap((slot) =>
      this.cache.flatMap(({ key, value }) =>
        [key.value, value.value].map((tensor) => ({
          from: tensor,
          fromOffset: from * this.rowSize,
          to: tensor,
          toOffset: slot * this.rowSize,
          count: this.rowSize,
        })),
      ),
    )
    if (copies.length > 0) this.model.device.copy(copies)
  }

  /** GroupQueryAttention reads no further than a slot's end. */
  clear(): void {}

  private rowCopies(slot: number, direction: 'out' | 'in'): Copy[] {
    return this.cache.flatMap((layer, i) =>
      (['key', 'value'] as const).map((part) => {
        const row = { tensor: layer[part].value, offset: slot * this.rowSize }
        const single = { tensor: (this.single[i] as LayerCache)[part].value, offset: 0 }
        const [from, to] = direction === 'out' ? [row, single] : [single, row]
        return { from: from.tensor, fromOffset: from.offset, to: to.tensor, toOffset: to.offset, count: this.rowSize }
      }),
    )
  }
}

function bind(cache: readonly LayerCache[]): { past: Record<string, DeviceTensor>; inPlace: Record<string, Cell> } {
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

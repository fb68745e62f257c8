/** The KV cache on the device, written in place by GroupQueryAttention (WebGPU). */

import { type Cell, type Copy, type DeviceTensor } from './device'
import { decodeInputs, type KvCache } from './kv-cache'
import type { LoadedModel } from './model'

interface LayerCache {
  key: Cell
  value: Cell
}

export class DeviceCache implements KvCache {
  adapter: readonly DeviceTensor[] | undefined = undefined
  /**
   * From 32 new tokens on onnxruntime 1.30 takes another attention kernel on WebGPU, which is wrong on adapters with small
   * subgroups (SwiftShader: log-probs off by 0.06).
   */
  readonly longestPrefill = 31
  private readonly cache: LayerCache[]
  /** One row's cache: several new tokens over a past need a batch of one. */
  private readonly single: LayerCache[]
  /** Elements of one slot's keys (or values) in one layer. */
  private readonly rowSize: number

  constructor(
    private readonly model: LoadedModel,
    private readonly slots: number,
  ) {
    const { num_key_value_heads: kv, head_dim: dim, num_hidden_layers: layers } = model.spec.config
    const allocate = (rows: number): LayerCache[] => {
      const zeros = (): Cell => ({ value: model.device.zeros([rows, kv, model.contextLength, dim]) })
      return Array.from({ length: layers }, () => ({ key: zeros(), value: zeros() }))
    }
    this.cache = allocate(slots)
    this.single = allocate(1)
    this.rowSize = kv * model.contextLength * dim
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

  async decode(x: DeviceTensor, _slots: readonly number[], lengths: readonly number[]): Promise<DeviceTensor> {
    const { device, sessions, contextLength } = this.model
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

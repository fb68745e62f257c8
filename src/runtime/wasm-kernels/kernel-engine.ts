/** A loaded model on our own WebAssembly kernels: new tokens over a cache, and a training batch forward and backward. */

import { PlaygroundError } from '../../core/errors'
import { modulePath } from '../../core/linear-layers'
import { countLayerParameters } from '../../model/parameters'
import { type DeviceTensor, hostFloats } from '../device'
import type { LoadedModel } from '../model'
import { ropeTables } from '../weights'
import { attentionRoom } from './attention'
import { Heap, type Rows } from './heap'
import { type HeadPass, KernelHead, type SlopeOf } from './kernel-head'
import { type Batch, type LayerValues, layerValues, rowAt, valueBytes, VIEW_WORDS } from './layer'
import { limits } from './limits'
import { backwardRoom, type LayerGradients } from './layer-backward'
import { fits, GROUP_NAMES, type GroupName, makePlan, packLora, type LayerTensors, type Plan } from './plan'
import { dismiss, type Hands, Pool } from './pool'
import { Scratch } from './scratch'

/** Rows of a training batch: where each stands, and the runs of rows that it sees. */
export interface BatchRows {
  positions: Int32Array
  /** [rows, VIEW_WORDS] */
  views: Int32Array
  most: number
}

/** A forward pass that a backward pass may follow. */
export interface KernelPass {
  rows: number
  batch: Batch
  values: LayerValues[]
  states: Rows[]
  /** Output of the last layer. */
  hidden: Rows
  scratch: Scratch
}

/** What the kernels ask of a model besides its widths. */
export function kernelsFit({ spec, device }: Pick<LoadedModel, 'spec' | 'device'>): boolean {
  const { config, lora, precision } = spec
  const blocks = config.num_hidden_layers * countLayerParameters(config)
  const bytes = 8 * (blocks + config.vocab_size * config.hidden_size)
  return device.backend === 'wasm' && precision === 'float32' && lora !== null && fits(config) && bytes <= limits.packedBytes
}

interface AppendRoom {
  batch: Batch & { tokens: number }
  values: LayerValues
  state: Rows
  scratch: Scratch
}

/** Room for scores grows by so many tokens. */
const MOST_STEP = 256

export class KernelEngine {
  /** Which LoRA is packed: its tensors, and how often they had changed. */
  private packed: { tensors: readonly DeviceTensor[] | undefined; changes: number } | null = null
  /** Multiplications of a row in all layers. */
  private readonly perRow: number
  readonly head: KernelHead
  private appending: AppendRoom | null = null

  private constructor(
    private readonly model: LoadedModel,
    private readonly heap: Heap,
    readonly plan: Plan,
    private readonly pool: Pool,
  ) {
    const { config } = model.spec
    this.head = new KernelHead(heap, plan, pool)
    this.perRow = config.num_hidden_layers * countLayerParameters(config)
  }

  /** null where the kernels do not fit the model, or the browser refuses them. The hands are its own from here on. */
  static async make(model: LoadedModel, hands: Hands): Promise<KernelEngine | null> {
    const { config, lora } = model.spec
    const heap = kernelsFit(model) ? heapOrNull(hands.length + 1) : null
    if (!heap) {
      dismiss(hands)
      return null
    }
    try {
      const tensor: LayerTensors = (layer, name) => hostFloats(model.weights.blocks[layer]?.[name])
      const outer = { norm: hostFloats(model.weights.norm), table: hostFloats(model.weights.head.table) }
      const plan = makePlan(heap, config, lora, tensor, outer, ropeTables(config, Math.max(model.contextLength, 1)))
      return new KernelEngine(model, heap, plan, await Pool.start(heap, plan, hands))
    } catch (error) {
      dismiss(hands)
      if (error instanceof PlaygroundError && error.kind === 'memory') return null
      throw error
    }
  }

  get allocatedBytes(): number {
    return this.heap.allocatedBytes
  }

  /** Room for the keys and values of `tokens` tokens in each layer, zeros. */
  makeCache(tokens: number): number[] {
    const size = tokens * this.tokenFloats
    const made = new Scratch(this.heap)
    try {
      for (const _ of this.plan.layers) this.heap.floats(made.rows(tokens, this.tokenFloats).at, size).fill(0)
      return made.places
    } catch (error) {
      made.release()
      throw error
    }
  }

  /** Floats of a token in a layer's cache. */
  get tokenFloats(): number {
    return 2 * this.plan.kv * this.plan.dim
  }

  floats(at: number, count: number): Float32Array {
    return this.heap.floats(at, count)
  }

  release(places: readonly number[]): void {
    this.heap.release(...places)
  }

  /**
   * New tokens x [rows, hidden] over a cache: hidden states of the rows from `wanted` on, [rows − wanted, hidden]. `tokens`: which of the cache's
   * tokens each row becomes.
   */
  append(x: Float32Array, rows: BatchRows, tokens: Int32Array, caches: number[], adapter: readonly DeviceTensor[] | undefined, wanted = 0): Float32Array {
    const lora = this.useLora(adapter)
    const { heap, plan } = this
    const count = rows.positions.length
    const { batch, values, state } = this.roomToAppend(count, rows.most)
    heap.floats(state.at, x.length).set(x)
    this.place(batch, rows)
    heap.integers(batch.tokens, count).set(tokens)
    const states = new Array<Rows>(plan.layers.length + 1).fill(state)
    this.pool.run({ kind: 'forward', batch: { ...batch, lora }, values: [values], states, caches, wanted }, count * this.perRow)
    return heap.floats(rowAt(state, wanted), (count - wanted) * plan.hidden).slice()
  }

  /** Room for new tokens, kept from token to token: decoding asks for the same again and again. */
  private roomToAppend(count: number, most: number): AppendRoom {
    const { plan } = this
    if (this.appending?.batch.rows === count && this.appending.batch.most >= most) return this.appending
    this.appending?.scratch.release()
    this.appending = null
    const scratch = new Scratch(this.heap)
    try {
      const room = this.batchRoom(scratch, count, Math.ceil(most / MOST_STEP) * MOST_STEP, false)
      const batch = { ...room, tokens: scratch.rows(count, 1).at }
      this.appending = { batch, values: layerValues(scratch, plan, count), state: scratch.rows(count, plan.hidden), scratch }
      return this.appending
    } catch (error) {
      scratch.release()
      throw error
    }
  }

  /** A training batch x [rows, hidden] through all layers; `end` gives back what it holds. */
  forward(x: Float32Array, rows: BatchRows, adapter: readonly DeviceTensor[] | undefined, trains: boolean): KernelPass {
    const lora = this.useLora(adapter)
    const scratch = new Scratch(this.heap)
    try {
      const count = rows.positions.length
      const { layers, hidden: width } = this.plan
      const keeps = trains && layers.length * count * valueBytes(this.plan) <= limits.keptBytes
      const batch = this.batchRoom(scratch, count, rows.most, lora)
      this.place(batch, rows)
      const values = Array.from({ length: keeps ? layers.length : 1 }, () => layerValues(scratch, this.plan, count))
      const first = { at: scratch.floats(x), stride: width }
      const states = [first, ...layers.map(() => (trains ? scratch.rows(count, width) : first))]
      this.pool.run({ kind: 'forward', batch, values, states, caches: null, wanted: 0 }, count * this.perRow)
      return { rows: count, batch, values, states, hidden: states[layers.length] as Rows, scratch }
    } catch (error) {
      scratch.release()
      throw error
    }
  }

  /** From the slopes of the scored rows to the gradients of all LoRA tensors by layer and name. Once a pass. */
  backward(pass: KernelPass, head: HeadPass, slopeOf: SlopeOf, write: (layer: number, name: string, gradient: Float32Array) => void): void {
    const { rows, batch, values, states } = pass
    const { plan } = this
    Scratch.during(this.heap, (scratch) => {
      const d = scratch.rows(rows, plan.hidden)
      this.head.slopes(pass, head, slopeOf, d)
      const room = backwardRoom(scratch, plan, rows, batch.most, this.pool.threads)
      const gradients = plan.layers.map(({ groups }): LayerGradients => {
        const of = (name: GroupName): LayerGradients[GroupName] => {
          const { lora, input } = groups[name]
          return lora && { a: scratch.rows(lora.width, input).at, b: lora.members.map(({ out }) => scratch.rows(out, plan.rank).at) }
        }
        return { qkv: of('qkv'), o: of('o'), gateUp: of('gateUp'), down: of('down') }
      })
      this.pool.run({ kind: 'backward', batch, values, states, gradients, room, d, spare: scratch.rows(rows, plan.hidden) }, 3 * rows * this.perRow)
      this.readGradients(gradients, write)
    })
  }

  /** Gives back what a pass holds. */
  end({ scratch }: KernelPass): void {
    scratch.release()
  }

  dispose(): void {
    this.pool.dispose()
  }

  private readGradients(gradients: readonly LayerGradients[], write: (layer: number, name: string, gradient: Float32Array) => void): void {
    const { plan, heap, model } = this
    const r = model.spec.lora?.r ?? 0
    plan.layers.forEach(({ groups }, layer) => {
      for (const name of GROUP_NAMES) {
        const [{ lora, input }, got] = [groups[name], gradients[layer]?.[name]]
        if (!lora || !got) continue
        lora.members.forEach(({ target, low, out }, i) => {
          write(layer, `${modulePath(target)}.lora_A`, heap.floats(got.a + 4 * low * input, r * input))
          const padded = heap.floats(got.b[i] as number, out * plan.rank)
          const b = new Float32Array(out * r)
          for (let row = 0; row < out; row++) for (let k = 0; k < r; k++) b[row * r + k] = (padded[row * plan.rank + k] as number) * plan.scale
          write(layer, `${modulePath(target)}.lora_B`, b)
        })
      }
    })
  }

  /** Packs the adapter if another was packed or it has changed. Returns whether there is one. */
  private useLora(tensors: readonly DeviceTensor[] | undefined): boolean {
    const { parameters, spec } = this.model
    if (tensors !== undefined && tensors === parameters.zeroTensors()) return false
    const changes = parameters.changes
    if (this.packed && this.packed.tensors === tensors && this.packed.changes === changes) return true
    const byLayer = this.plan.layers.map((_, layer) => parameters.layerInputs(layer, tensors))
    packLora(this.heap, this.plan, spec.lora?.r ?? 0, (layer, name) => hostFloats(byLayer[layer]?.[name]))
    this.packed = { tensors, changes }
    return true
  }

  /** Room for a batch of rows that see at most `most` tokens each; `place` says where they stand. */
  private batchRoom(scratch: Scratch, rows: number, most: number, lora: boolean): Batch {
    const { plan } = this
    return {
      rows,
      positions: scratch.rows(rows, 1).at,
      views: scratch.rows(rows, VIEW_WORDS).at,
      most,
      tokens: null,
      lora,
      scratch: { normed: scratch.rows(rows, plan.hidden), gated: scratch.rows(rows, plan.inner), scores: scratch.rows(this.pool.threads, attentionRoom(plan, most)) },
    }
  }

  private place(batch: Batch, { positions, views }: BatchRows): void {
    this.heap.integers(batch.positions, positions.length).set(positions)
    this.heap.integers(batch.views, views.length).set(views)
  }
}

/** null where the browser gives no such memory, or does not know the kernels' instructions. */
function heapOrNull(threads: number): Heap | null {
  try {
    return Heap.make(threads)
  } catch {
    return null
  }
}

/** A batch whose rows see two runs of tokens each. */
export function batchRows(count: number): BatchRows {
  return { positions: new Int32Array(count), views: new Int32Array(count * VIEW_WORDS), most: 0 }
}

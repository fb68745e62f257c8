/** What sampler and trainer share: the device, sessions, base weights, trained parameters, rotary tables. */

import type { ArtifactSpec } from '../artifacts/spec'
import type { NamedTensor } from '../core/engine'
import type { Device, DeviceTensor } from './device'
import type { HeadLimits } from './head'
import type { Optimizer } from './optimizer'
import type { Parameters } from './parameters'
import type { ModelConfig } from '../model/config'
import type { Sessions } from './sessions'
import { type DeviceWeights, ropeTables } from './weights'
import type { KernelEngine } from './wasm-kernels/kernel-engine'

export interface LoadedModel {
  device: Device
  spec: ArtifactSpec
  sessions: Sessions
  weights: DeviceWeights
  parameters: Parameters
  rope: RopeTables
  /** Tokens that the rotary tables and the KV cache reach. */
  contextLength: number
  headLimits: HeadLimits
  /** What resetAdapter goes back to: in full training the weights as they were loaded; null draws a fresh LoRA. */
  startingAdapter: readonly NamedTensor[] | null
  /** Our own kernels on WASM; null where onnxruntime runs the layers. */
  kernels: KernelEngine | null
  optimizer: Optimizer
}

/** Rotary tables [rows, head_dim / 2] on the device, made again when a packed row is longer than them. */
export class RopeTables {
  private held: { rows: number; cos: DeviceTensor; sin: DeviceTensor } | null = null

  constructor(
    private readonly device: Device,
    private readonly config: ModelConfig,
  ) {}

  /** Tables of at least `rows` rows: onnxruntime wants as many as a row has tokens, whatever their positions are. */
  atLeast(rows: number): { cos: DeviceTensor; sin: DeviceTensor } {
    if (!this.held || this.held.rows < rows) {
      this.device.free(this.held?.cos, this.held?.sin)
      const { cos, sin, dims } = ropeTables(this.config, Math.ceil(rows / 256) * 256)
      this.held = { rows: dims[0], cos: this.device.upload(cos, dims), sin: this.device.upload(sin, dims) }
    }
    return { cos: this.held.cos, sin: this.held.sin }
  }
}

/** int32 input [values] from numbers. */
export function integers(device: Device, values: readonly number[]): DeviceTensor {
  return device.host(Int32Array.from(values), [values.length])
}

export function scalar(device: Device, value: number): DeviceTensor {
  return device.host(Float32Array.of(value), [])
}

/** Frees everything that a step made, whether it ended well or not. */
export class Scope {
  private readonly held: DeviceTensor[] = []
  private readonly last: (() => void)[] = []
  constructor(private readonly device: Device) {}
  keep<T extends DeviceTensor>(tensor: T): T {
    this.held.push(tensor)
    return tensor
  }
  /** Does `work` when the step is over. */
  atEnd(work: () => void): void {
    this.last.push(work)
  }
  release(): void {
    this.device.free(...this.held.splice(0))
    for (const work of this.last.splice(0)) work()
  }
}

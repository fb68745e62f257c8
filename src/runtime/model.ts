/** What sampler and trainer share: the device, sessions, base weights, trained parameters, rotary tables. */

import type { ArtifactSpec } from '../artifacts/spec'
import type { Device, DeviceTensor } from './device'
import type { Parameters } from './parameters'
import type { Sessions } from './sessions'
import type { DeviceWeights } from './weights'

export interface LoadedModel {
  device: Device
  spec: ArtifactSpec
  sessions: Sessions
  weights: DeviceWeights
  parameters: Parameters
  cos: DeviceTensor
  sin: DeviceTensor
  /** Tokens that the rotary tables and the KV cache reach. */
  contextLength: number
}

/** int64 input from numbers. */
export function integers(device: Device, values: readonly number[], dims: readonly number[]): DeviceTensor {
  return device.host(BigInt64Array.from(values, (x) => BigInt(x)), dims)
}

export function scalar(device: Device, value: number): DeviceTensor {
  return device.host(Float32Array.of(value), [])
}

/** Frees everything that a step made, whether it ended well or not. */
export class Scope {
  private readonly held: DeviceTensor[] = []
  constructor(private readonly device: Device) {}
  keep<T extends DeviceTensor>(tensor: T): T {
    this.held.push(tensor)
    return tensor
  }
  release(): void {
    this.device.free(...this.held.splice(0))
  }
}

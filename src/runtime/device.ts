/** Tensors and runs on one execution provider. Everything above it (sampler, trainer) is the same code on WASM and WebGPU. */

import type { InferenceSession, Tensor } from 'onnxruntime-web'
import type { Backend } from '../core/config'

/** What is asked of a tensor by whoever does not run it: onnxruntime's, or an array on the host that may become one. */
export type Values = Pick<Tensor, 'type' | 'dims' | 'data' | 'location'>

/** A tensor that lives where the backend computes. Its owner frees it through the device. */
export interface DeviceTensor {
  readonly dims: readonly number[]
  readonly tensor: Values
}

/** A mutable place for a tensor that is updated in place or swapped at each run (KV cache, optimizer state). */
export interface Cell {
  value: DeviceTensor
}

export interface DeviceSession {
  readonly session: InferenceSession
  readonly inputs: ReadonlySet<string>
  readonly outputs: readonly string[]
  /** Outputs come back to the host (small results) instead of staying on the device. */
  readonly onHost: boolean
}

/** `count` float32 elements from one place to another; offsets in elements. */
export interface Copy {
  from: DeviceTensor
  fromOffset: number
  to: DeviceTensor
  toOffset: number
  count: number
}

export interface Device {
  readonly backend: Backend
  /** Adapter name or thread count, for people. */
  readonly label: string
  /** Bytes of device memory that this device's tensors hold. */
  readonly allocatedBytes: number
  createSession(bytes: Uint8Array, onHost: boolean): Promise<DeviceSession>
  /** Copies to device memory; the caller frees it. */
  upload(data: Float32Array, dims: readonly number[]): DeviceTensor
  zeros(dims: readonly number[]): DeviceTensor
  /** `bytes` zero bytes as uint8. */
  zeroBytes(dims: readonly number[]): DeviceTensor
  /** The same memory read as another type and shape; it is freed with `tensor`, never by itself. */
  view(tensor: DeviceTensor, dtype: 'uint8' | 'uint4', dims: readonly number[]): DeviceTensor
  /** An input for one run; nothing to free. */
  host(data: Float32Array | BigInt64Array | Int32Array, dims: readonly number[]): DeviceTensor
  /** Copies float32 elements between device tensors, in order. */
  copy(copies: readonly Copy[]): void
  /** Overwrites elements from the host; the offset counts elements of `data`. Whole words of 4 bytes. */
  write(to: DeviceTensor, offset: number, data: Float32Array | Uint8Array): void
  read(tensor: DeviceTensor): Promise<Float32Array>
  free(...tensors: (DeviceTensor | null | undefined)[]): void
  /**
   * Runs a session. Inputs that the graph does not have are left out. `inPlace` names outputs that replace the tensor in
   * a cell (whose tensor must also be the matching input). Returns the other outputs, which the caller frees.
   */
  run(
    session: DeviceSession,
    inputs: Readonly<Record<string, DeviceTensor>>,
    inPlace?: Readonly<Record<string, Cell>>,
  ): Promise<Record<string, DeviceTensor>>
  release(session: DeviceSession): Promise<void>
  dispose(): Promise<void>
}

/** A float32 output that came back to the host. */
export function hostFloats(tensor: DeviceTensor | undefined): Float32Array {
  if (!tensor) throw new Error('An output that the engine needs was not computed.')
  return tensor.tensor.data as Float32Array
}

/** Whole numbers that came back to the host, int64 or float32; read them by Number(). */
export function hostIntegers(tensor: DeviceTensor | undefined): BigInt64Array | Float32Array {
  if (!tensor) throw new Error('An output that the engine needs was not computed.')
  return tensor.tensor.data as BigInt64Array | Float32Array
}

/** Bytes that a tensor of ours takes. */
export function bytesOf({ dims, tensor }: DeviceTensor): number {
  const size = tensor.type === 'uint8' ? 1 : tensor.type === 'uint4' ? 0.5 : tensor.type === 'int64' ? 8 : 4
  return count(dims) * size
}

/** Bytes of the GPU buffer that is made for so many: ours are rounded up to 16. */
export const bufferBytes = (bytes: number): number => Math.max(16, Math.ceil(bytes / 16) * 16)

export function count(dims: readonly number[]): number {
  return dims.reduce((a, b) => a * b, 1)
}

/** The device over onnxruntime's CPU provider in WebAssembly, which is loaded with the first session: a tensor is a typed array, a cell is swapped at each run. */

import { PlaygroundError } from '../core/errors'
import { bytesOf, type Cell, type Copy, count, type Device, type DeviceSession, type DeviceTensor, type Values } from './device'
import { exclusive, type OrtModule } from './ort'

/** Translates what onnxruntime throws into a sentence for a person. */
export function engineError(error: unknown): PlaygroundError {
  if (error instanceof PlaygroundError) return error
  const text = error instanceof Error ? error.message : String(error)
  if (/out of memory|bad_alloc|memory access out of bounds|Array buffer allocation/i.test(text)) {
    return new PlaygroundError('memory', 'The engine ran out of memory.', 'Lower num_generations, prompts_per_step or max_completion_length.', { cause: error })
  }
  return new PlaygroundError('engine', `The engine stopped: ${text}`, 'Press Reset; if it happens again, choose the other backend.', { cause: error })
}

export class WasmDevice implements Device {
  readonly backend = 'wasm'
  readonly label: string
  allocatedBytes = 0

  constructor(
    private readonly load: () => Promise<OrtModule>,
    threads: number,
  ) {
    this.label = threads === 1 ? '1 thread' : `${threads} threads`
  }

  async createSession(bytes: Uint8Array, onHost: boolean): Promise<DeviceSession> {
    try {
      const ort = await this.load()
      const session = await exclusive(() =>
        ort.InferenceSession.create(bytes, { executionProviders: ['wasm'], graphOptimizationLevel: 'basic', enableMemPattern: false }),
      )
      return { session, inputs: new Set(session.inputNames), outputs: session.outputNames, onHost }
    } catch (error) {
      throw engineError(error)
    }
  }

  upload(data: Float32Array, dims: readonly number[]): DeviceTensor {
    this.allocatedBytes += data.byteLength
    return this.host(data.slice(), dims)
  }

  zeros(dims: readonly number[]): DeviceTensor {
    const data = new Float32Array(count(dims))
    this.allocatedBytes += data.byteLength
    return this.host(data, dims)
  }

  zeroBytes(dims: readonly number[]): DeviceTensor {
    const data = new Uint8Array(count(dims))
    this.allocatedBytes += data.byteLength
    return { dims, tensor: onHost('uint8', data, dims) }
  }

  view({ tensor }: DeviceTensor, dtype: 'uint8' | 'uint4', dims: readonly number[]): DeviceTensor {
    return { dims, tensor: onHost(dtype, tensor.data, dims) }
  }

  host(data: Float32Array | BigInt64Array | Int32Array, dims: readonly number[]): DeviceTensor {
    const type = data instanceof Float32Array ? 'float32' : data instanceof Int32Array ? 'int32' : 'int64'
    return { dims, tensor: onHost(type, data, dims) }
  }

  copy(copies: readonly Copy[]): void {
    for (const { from, fromOffset, to, toOffset, count: n } of copies) {
      const source = from.tensor.data as Float32Array
      ;(to.tensor.data as Float32Array).set(source.subarray(fromOffset, fromOffset + n), toOffset)
    }
  }

  write(to: DeviceTensor, offset: number, data: Float32Array | Uint8Array): void {
    ;(to.tensor.data as Float32Array | Uint8Array).set(data, offset)
  }

  read(tensor: DeviceTensor): Promise<Float32Array> {
    return Promise.resolve((tensor.tensor.data as Float32Array).slice())
  }

  free(...tensors: (DeviceTensor | null | undefined)[]): void {
    // The garbage collector frees typed arrays; only the count is kept.
    for (const tensor of tensors) if (tensor) this.allocatedBytes -= bytesOf(tensor)
  }

  async run(
    { session, inputs: known, outputs }: DeviceSession,
    inputs: Readonly<Record<string, DeviceTensor>>,
    inPlace: Readonly<Record<string, Cell>> = {},
  ): Promise<Record<string, DeviceTensor>> {
    try {
      const { Tensor } = await this.load()
      const feeds = Object.fromEntries(
        Object.entries(inputs).flatMap(([name, { dims, tensor: { type, data } }]) => (known.has(name) ? [[name, new Tensor(type, data as Float32Array, dims)]] : [])),
      )
      const results = await exclusive(() => session.run(feeds))
      const out: Record<string, DeviceTensor> = {}
      for (const name of outputs) {
        const tensor = results[name]
        if (!tensor) continue
        const value = { dims: tensor.dims, tensor }
        const cell = inPlace[name]
        if (cell) cell.value = value
        else {
          this.allocatedBytes += bytesOf(value)
          out[name] = value
        }
      }
      return out
    } catch (error) {
      throw engineError(error)
    }
  }

  release({ session }: DeviceSession): Promise<void> {
    return exclusive(() => session.release())
  }

  dispose(): Promise<void> {
    this.allocatedBytes = 0
    return Promise.resolve()
  }
}

function onHost(type: Values['type'], data: Values['data'], dims: readonly number[]): Values {
  return { type, data, dims, location: 'cpu' }
}

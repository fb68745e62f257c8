/** The device over onnxruntime's WebGPU provider: a tensor is a GPU buffer that we own, a cell is written in place. */

import type { Tensor } from 'onnxruntime-web'
import { PlaygroundError } from '../core/errors'
import { bufferBytes, bytesOf, type Cell, type Copy, count, type Device, type DeviceSession, type DeviceTensor, type Values } from './device'
import { exclusive, type OrtModule } from './ort'
import { engineError } from './wasm-device'

/** GPUBufferUsage: STORAGE | COPY_SRC | COPY_DST. */
const USAGE = 0x80 | 0x4 | 0x8

/** How long the news that the GPU was lost may come after the first error by it, on a busy machine, in ms. */
const LOST_WITHIN = 1000

/** Pipelines by their shader: engines of one page share the GPU that onnxruntime made, and the self-test's has its neighbour's widths. */
const compiled = new WeakMap<GPUDevice, Map<string, Promise<GPUComputePipeline>>>()

export class WebGpuDevice implements Device {
  readonly backend = 'webgpu'
  allocatedBytes = 0
  private gpu: GPUDevice | null = null
  private readonly owned = new Map<Values, GPUBuffer>()
  /** Outputs that onnxruntime allocated and nobody has freed; they would outlive their session. */
  private readonly outputs = new Map<Values, Tensor>()
  private readonly uniforms: GPUBuffer[] = []
  private failure: PlaygroundError | null = null
  /** Ends when the GPU is taken away; runs in flight then end by themselves. */
  private lost: Promise<void> = new Promise(() => undefined)

  constructor(
    private readonly ort: OrtModule,
    readonly label: string,
  ) {}

  /** The GPU device that onnxruntime made; known after the first session. */
  private get device(): GPUDevice {
    if (this.failure) throw this.failure
    if (!this.gpu) throw new Error('WebGpuDevice: create a session before the first tensor.')
    return this.gpu
  }

  async createSession(bytes: Uint8Array, onHost: boolean): Promise<DeviceSession> {
    const session = await this.alone(() =>
      this.ort.InferenceSession.create(bytes, {
        executionProviders: ['webgpu'],
        graphOptimizationLevel: 'basic',
        preferredOutputLocation: onHost ? 'cpu' : 'gpu-buffer',
        extra: { session: { disable_cpu_ep_fallback: '1' } },
      }),
    )
    if (!this.gpu) {
      this.gpu = await this.ort.env.webgpu.device
      this.watch(this.gpu)
    }
    return { session, inputs: new Set(session.inputNames), outputs: session.outputNames, onHost }
  }

  upload(data: Float32Array, dims: readonly number[]): DeviceTensor {
    const tensor = this.zeros(dims)
    this.write(tensor, 0, data)
    return tensor
  }

  zeros(dims: readonly number[]): DeviceTensor {
    return this.allocate('float32', dims, count(dims) * 4)
  }

  zeroBytes(dims: readonly number[]): DeviceTensor {
    return this.allocate('uint8', dims, count(dims))
  }

  private allocate(dataType: 'float32' | 'uint8', dims: readonly number[], bytes: number): DeviceTensor {
    const size = bufferBytes(bytes)
    const gpuBuffer = this.device.createBuffer({ size, usage: USAGE })
    const tensor = this.ort.Tensor.fromGpuBuffer(gpuBuffer, { dataType, dims: [...dims] }) as Tensor
    this.owned.set(tensor, gpuBuffer)
    this.allocatedBytes += size
    return { dims, tensor }
  }

  view({ tensor }: DeviceTensor, dtype: 'uint8' | 'uint4', dims: readonly number[]): DeviceTensor {
    const gpuBuffer = this.owned.get(tensor)
    if (!gpuBuffer) throw new Error('WebGpuDevice: only tensors of its own can be viewed.')
    // onnxruntime takes uint4 here too; its declaration forgets it.
    return { dims, tensor: this.ort.Tensor.fromGpuBuffer(gpuBuffer, { dataType: dtype as 'uint8', dims: [...dims] }) }
  }

  host(data: Float32Array | BigInt64Array | Int32Array, dims: readonly number[]): DeviceTensor {
    const type = data instanceof Float32Array ? 'float32' : data instanceof Int32Array ? 'int32' : 'int64'
    return { dims, tensor: new this.ort.Tensor(type, data as Float32Array, dims) }
  }

  copy(copies: readonly Copy[]): void {
    const encoder = this.device.createCommandEncoder()
    // WebGPU copies between two buffers only: within one buffer the way leads through a third.
    const within = copies.filter(({ from, to }) => this.bufferOf(from) === this.bufferOf(to))
    const between = within.length > 0 ? this.device.createBuffer({ size: Math.max(...within.map((copy) => copy.count)) * 4, usage: 0x4 | 0x8 }) : null
    for (const { from, fromOffset, to, toOffset, count: n } of copies) {
      const [source, target] = [this.bufferOf(from), this.bufferOf(to)]
      if (source === target && between) {
        encoder.copyBufferToBuffer(source, fromOffset * 4, between, 0, n * 4)
        encoder.copyBufferToBuffer(between, 0, target, toOffset * 4, n * 4)
      } else {
        encoder.copyBufferToBuffer(source, fromOffset * 4, target, toOffset * 4, n * 4)
      }
    }
    this.device.queue.submit([encoder.finish()])
    between?.destroy()
  }

  write(to: DeviceTensor, offset: number, data: Float32Array | Uint8Array): void {
    this.device.queue.writeBuffer(this.bufferOf(to), offset * data.BYTES_PER_ELEMENT, data)
  }

  async read(tensor: DeviceTensor): Promise<Float32Array> {
    if (tensor.tensor.location === 'cpu') return tensor.tensor.data as Float32Array
    return this.alone(async () => {
      const size = count(tensor.dims) * 4
      // GPUBufferUsage: MAP_READ | COPY_DST
      const staging = this.device.createBuffer({ size, usage: 0x1 | 0x8 })
      const encoder = this.device.createCommandEncoder()
      encoder.copyBufferToBuffer(this.bufferOf(tensor), 0, staging, 0, size)
      this.device.queue.submit([encoder.finish()])
      await staging.mapAsync(1)
      const out = new Float32Array(staging.getMappedRange().slice(0))
      staging.destroy()
      return out
    })
  }

  free(...tensors: (DeviceTensor | null | undefined)[]): void {
    for (const item of tensors) {
      if (!item || item.tensor.location !== 'gpu-buffer') continue
      const own = this.owned.get(item.tensor)
      if (own) {
        this.allocatedBytes -= own.size
        own.destroy()
        this.owned.delete(item.tensor)
      } else {
        this.allocatedBytes -= bytesOf(item)
        this.outputs.get(item.tensor)?.dispose()
        this.outputs.delete(item.tensor)
      }
    }
  }

  async run(
    { session, inputs: known, outputs }: DeviceSession,
    inputs: Readonly<Record<string, DeviceTensor>>,
    inPlace: Readonly<Record<string, Cell>> = {},
  ): Promise<Record<string, DeviceTensor>> {
    const feeds = Object.fromEntries(Object.entries(inputs).flatMap(([name, t]) => (known.has(name) ? [[name, t.tensor as Tensor]] : [])))
    const fetches = Object.fromEntries(outputs.map((name) => [name, (inPlace[name]?.value.tensor as Tensor | undefined) ?? null]))
    const results = await this.alone(() => session.run(feeds, fetches))
    const out: Record<string, DeviceTensor> = {}
    for (const name of outputs) {
      const tensor = results[name]
      if (!tensor || inPlace[name]) continue
      if (tensor.location === 'gpu-buffer') {
        this.allocatedBytes += bytesOf({ dims: tensor.dims, tensor })
        this.outputs.set(tensor, tensor)
      }
      out[name] = { dims: tensor.dims, tensor }
    }
    return out
  }

  get limits(): GPUSupportedLimits {
    return this.device.limits
  }

  /** The GPU buffer behind a tensor of the device. */
  bufferOf({ tensor }: DeviceTensor): GPUBuffer {
    return this.owned.get(tensor) ?? (tensor as Tensor).gpuBuffer
  }

  /** A uniform buffer of ours, which lives as long as the device. */
  uniform(bytes: number, data?: Uint32Array<ArrayBuffer>): GPUBuffer {
    // GPUBufferUsage: UNIFORM | COPY_DST
    const buffer = this.device.createBuffer({ size: bufferBytes(bytes), usage: 0x40 | 0x8 })
    if (data) this.device.queue.writeBuffer(buffer, 0, data)
    this.uniforms.push(buffer)
    return buffer
  }

  /** A compute pipeline of our own, compiled once for all engines on this GPU; rejects where the GPU refuses the shader. */
  pipeline(code: string): Promise<GPUComputePipeline> {
    const gpu = this.device
    const known = compiled.get(gpu) ?? new Map<string, Promise<GPUComputePipeline>>()
    compiled.set(gpu, known)
    const made = known.get(code) ?? gpu.createComputePipelineAsync({ layout: 'auto', compute: { module: gpu.createShaderModule({ code }), entryPoint: 'main' } })
    known.set(code, made)
    made.catch(() => known.delete(code))
    return made
  }

  /** What `make` makes of shaders, or null where the GPU refuses one of them. */
  async refusable<T>(make: () => Promise<T>): Promise<T | null> {
    return this.alone(async () => {
      this.device.pushErrorScope('validation')
      const made = await make().catch(() => null)
      return (await this.device.popErrorScope()) === null ? made : null
    })
  }

  /** Records and submits work of our own on the GPU that onnxruntime made, after all earlier work. */
  compute(record: (gpu: GPUDevice) => void): Promise<void> {
    return this.alone(() => {
      record(this.device)
      return Promise.resolve()
    })
  }

  release({ session }: DeviceSession): Promise<void> {
    return exclusive(() => session.release())
  }

  dispose(): Promise<void> {
    for (const tensor of this.outputs.values()) tensor.dispose()
    for (const buffer of [...this.owned.values(), ...this.uniforms.splice(0)]) buffer.destroy()
    this.outputs.clear()
    this.owned.clear()
    this.allocatedBytes = 0
    return Promise.resolve()
  }

  /** Does `work` after all earlier work. What goes wrong becomes a PlaygroundError; a lost GPU explains every other error. */
  private async alone<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await exclusive(() => {
        if (this.failure) throw this.failure
        return work()
      })
      if (this.failure) throw this.failure
      return result
    } catch (error) {
      // An error may come before the news that the GPU was lost.
      const later = new Promise((resolve) => setTimeout(resolve, LOST_WITHIN))
      await Promise.race([later, this.lost])
      throw this.failure ?? engineError(error)
    }
  }

  private watch(gpu: GPUDevice): void {
    this.lost = gpu.lost.then((info) => {
      this.failure = new PlaygroundError(
        'device-lost',
        `The GPU was taken away (${info.message || info.reason}).`,
        'The adapter of the last finished step is kept. Reload the page, and lower slots or lengths if it happens again.',
      )
    })
    gpu.addEventListener('uncapturederror', (event) => {
      const { error } = event
      const memory = /memory|OutOfMemory/i.test(error.constructor.name + error.message)
      this.failure ??= memory
        ? new PlaygroundError('memory', 'The GPU refused an allocation.', 'Lower num_generations, prompts_per_step or max_completion_length.')
        : new PlaygroundError('engine', `The GPU reported: ${error.message}`, 'Press Reset; if it happens again, choose WASM.')
    })
  }
}

/** Makes an engine: reads config and weights, chooses the device, uploads, and joins sampler and trainer. */

import type { Backend, LoraConfig, Precision } from '../core/config'
import type { Adapter, Engine, EngineInfo, NamedTensor, OptimizerParams, SequenceScores, TrainerState, TrainSequence } from '../core/engine'
import { PlaygroundError } from '../core/errors'
import { latePart } from '../core/late-part'
import type { WeightSource } from '../core/weights'
import { type ModelConfig, parseModelConfig } from '../model/config'
import { countParameters } from '../model/parameters'
import type { ArtifactSpec } from '../artifacts/spec'
import type { Device } from './device'
import { HEAD_LIMITS, type HeadLimits } from './head'
import { type LoadedModel, RopeTables } from './model'
import { loadOrt, ORT_VERSION } from './ort'
import { GraphOptimizer, HostOptimizer } from './optimizer'
import { freshLora, layoutOf, Parameters } from './parameters'
import { EngineSampler } from './sampler'
import { Sessions } from './sessions'
import { EngineTrainer } from './trainer'
import { WasmDevice } from './wasm-device'
import { KernelEngine, kernelsFit } from './wasm-kernels/kernel-engine'
import { dismiss, type Hands, hire } from './wasm-kernels/pool'
import { type DeviceWeights, frozenWeights, loadWeights, readBack } from './weights'

export interface EngineOptions {
  source: WeightSource
  /** null trains all base parameters. */
  lora: LoraConfig | null
  backend: Backend
  /** WASM threads; more than 1 needs cross-origin isolation in a browser. */
  threads: number
  /** Rows of the KV cache: most episodes that decode together. */
  slots: number
  /** Tokens that a slot or a training sequence may have. */
  contextLength: number
  modelName: string
  /** Seed of a fresh LoRA's A matrices. */
  seed?: number
  /** Most tokens in a training micro-batch; results do not depend on it. */
  microBatchTokens?: number
  /** Of the base's matrices; float32 unless given. */
  precision?: Precision
  /** Most of the head that exists at once; results do not depend on it. */
  headLimits?: HeadLimits
  /** The LoRA that step 0 has instead of a fresh one; its shapes must be those of `lora`. */
  startingAdapter?: readonly NamedTensor[] | null
  /** Whether our own WASM kernels run the layers where they fit; else onnxruntime does. True unless given. */
  ownKernels?: boolean
  /** GPU adapter's name, for people. */
  adapterName?: string
}

/** Throws PlaygroundError: 'model' for what we do not support, 'engine' or 'memory' when the backend refuses. */
export async function createEngine(options: EngineOptions): Promise<EngineInstance> {
  const { source, lora, backend, threads } = options
  const config = parseModelConfig(await source.config())
  const precision = options.precision ?? 'float32'
  if (!lora && precision !== 'float32') {
    throw new PlaygroundError('config', `Full-parameter training cannot have precision ${precision}.`, 'Choose float32, or train a LoRA.')
  }
  const spec: ArtifactSpec = { config, lora, precision }
  const load = () => loadOrt(backend, threads)
  const device: Device = backend === 'webgpu' ? new (await webGpu()).WebGpuDevice(await load(), options.adapterName ?? 'GPU') : new WasmDevice(load, threads)
  const sessions = new Sessions(device, spec)
  const ownKernels = options.ownKernels !== false && kernelsFit({ spec, device })
  // They come while the weights are read.
  const hands = ownKernels ? hire(threads) : []
  try {
    // The first session makes the GPU device that all tensors need. Our own kernels need no onnxruntime, which takes longer to load than they do.
    if (!ownKernels) await sessions.get('adamw')
    const weights = await loadWeights(source, config, precision, device)
    // Baked weights must not change: only a frozen base on WASM has them.
    if (backend === 'wasm' && lora) sessions.frozen = frozenWeights(weights, config, precision)
    return await assemble({ ...options, ownKernels }, config, spec, weights, device, sessions, hands)
  } catch (error) {
    dismiss(hands)
    await device.dispose()
    await sessions.release()
    throw error
  }
}

/** All that WebGPU needs and WASM does not: at once, so that no run comes to a part that its site does not have any more. */
async function webGpu(): Promise<typeof import('./webgpu-device')> {
  const [device] = await latePart(() => Promise.all([import('./webgpu-device'), import('./kernels/decode-kernels'), import('./kernels/training-kernels')]))
  return device
}

async function assemble(
  { lora, backend, threads, slots, modelName, seed, contextLength: asked, microBatchTokens, headLimits, startingAdapter = null, ownKernels }: EngineOptions,
  config: ModelConfig,
  spec: ArtifactSpec,
  weights: DeviceWeights,
  device: Device,
  sessions: Sessions,
  hands: Hands,
): Promise<EngineInstance> {
  const layout = layoutOf(spec)
  const initial = lora ? freshLora(layout, seed ?? 0) : new Float32Array(layout.reduce((n, e) => n + e.size, 0))
  if (!lora) (await readBack(weights, layout.map(({ name }) => name), device)).forEach((values, i) => initial.set(values, layout[i]?.offset))
  const contextLength = Math.min(asked, config.max_position_embeddings)
  const parameters = new Parameters(device, spec, lora, weights, initial)
  const model: LoadedModel = {
    device,
    spec,
    sessions,
    weights,
    parameters,
    rope: new RopeTables(device, config),
    contextLength,
    headLimits: headLimits ?? HEAD_LIMITS,
    startingAdapter,
    kernels: null,
    optimizer: new GraphOptimizer({ device, sessions, parameters }),
  }
  if (startingAdapter) model.parameters.importTensors(startingAdapter)
  if (!lora) model.startingAdapter = await model.parameters.exportTensors()
  const info: EngineInfo = {
    backend,
    device: device.label,
    threads: backend === 'wasm' ? threads : 1,
    model: modelName,
    parameters: countParameters(config),
    trainable: model.parameters.total,
    vocabSize: config.vocab_size,
    ortVersion: ORT_VERSION,
  }
  if (ownKernels) model.kernels = await KernelEngine.make(model, hands)
  if (model.kernels) model.optimizer = new HostOptimizer(parameters)
  // Where the browser refuses them, onnxruntime is needed after all.
  else await sessions.get('adamw')
  try {
    return new EngineInstance(model, info, slots, microBatchTokens ?? 1024)
  } catch (error) {
    model.kernels?.dispose()
    throw error
  }
}

type LossSlopes = Engine['accumulate'] extends (batch: never, options: never, loss: infer Loss) => unknown ? Loss : never

/** core's Engine over one loaded model. */
export class EngineInstance extends EngineTrainer implements Engine {
  readonly slots: number
  readonly contextLength: number
  readonly lora: LoraConfig | null
  private readonly sampler: EngineSampler
  private queue: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly loaded: LoadedModel,
    readonly info: EngineInfo,
    slots: number,
    microBatchTokens: number,
  ) {
    super(loaded, microBatchTokens)
    this.sampler = new EngineSampler(loaded, slots)
    this.slots = slots
    this.contextLength = loaded.contextLength
    this.lora = loaded.spec.lora
  }

  get scoringEmptiesSlots(): boolean {
    return this.sampler.scoringEmptiesSlots
  }

  length: Engine['length'] = (slot) => this.sampler.length(slot)
  reset: Engine['reset'] = (slot) => this.sampler.reset(slot)
  // Each call is several runs and copies over shared buffers: one at a time, in the order of the calls.
  prefill: Engine['prefill'] = (slot, ids) => this.queued(() => this.sampler.prefill(slot, ids))
  copy: Engine['copy'] = (from, to) => this.queued(() => this.sampler.copy(from, to))
  decode: Engine['decode'] = (tokens) => this.queued(() => this.sampler.decode(tokens))
  sample: Engine['sample'] = (requests, params) => this.queued(() => this.sampler.sample(requests, params))

  useAdapter: Engine['useAdapter'] = (adapter) =>
    this.queued(async () => {
      if (adapter === 'off' && !this.lora) throw new PlaygroundError('config', 'All parameters are trained, so the base model is gone and cannot be asked.', 'Train a LoRA to compare with the base.')
      await this.sampler.useAdapter(adapter)
    })

  override score(batch: readonly TrainSequence[], options: { temperature: number; adapter?: Adapter }): Promise<SequenceScores[]> {
    return this.training(() => super.score(batch, options))
  }

  override accumulate(batch: readonly TrainSequence[], options: { temperature: number }, loss: LossSlopes): Promise<void> {
    return this.training(() => super.accumulate(batch, options, loss))
  }

  override optimizerStep(params: OptimizerParams): Promise<{ grad_norm: number }> {
    return this.queued(() => super.optimizerStep(params))
  }

  override exportParameters(): Promise<NamedTensor[]> {
    return this.queued(() => super.exportParameters())
  }

  override importParameters(tensors: readonly NamedTensor[]): Promise<void> {
    return this.queued(() => super.importParameters(tensors))
  }

  override exportState(): Promise<TrainerState> {
    return this.queued(() => super.exportState())
  }

  override importState(state: TrainerState): Promise<void> {
    return this.queued(async () => {
      await super.importState(state)
      this.sampler.clear()
    })
  }

  /** Device memory in use, bytes. */
  get allocatedBytes(): number {
    return this.loaded.device.allocatedBytes + (this.loaded.kernels?.allocatedBytes ?? 0)
  }

  override resetAdapter(seed: number): void {
    super.resetAdapter(seed)
    this.sampler.clear()
  }

  private training<T>(work: () => Promise<T>): Promise<T> {
    return this.queued(() => {
      this.sampler.makeRoom()
      return work()
    })
  }

  private queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work)
    this.queue = result.catch(() => undefined)
    return result
  }

  async dispose(): Promise<void> {
    await this.queue
    this.loaded.kernels?.dispose()
    this.loaded.kernels = null
    // Outputs must be given back while their sessions are there.
    await this.loaded.device.dispose()
    await this.loaded.sessions.release()
  }
}

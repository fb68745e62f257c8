/** Runs an engine through one of everything and reports plain numbers, in whatever scope it is imported into. */

import { buildArtifact } from '../../../src/artifacts/build'
import { artifactNames, type ArtifactSpec } from '../../../src/artifacts/spec'
import type { Backend, LoraConfig, Precision } from '../../../src/core/config'
import type { Engine, NamedTensor, SampledToken, SequenceScores } from '../../../src/core/engine'
import { PlaygroundError } from '../../../src/core/errors'
import { RandomStream } from '../../../src/core/random'
import { toOnnx } from '../../../src/graph/onnx'
import { parseModelConfig } from '../../../src/model/config'
import { createEngine, type EngineInstance } from '../../../src/runtime/create'
import { type DeviceSession, hostFloats } from '../../../src/runtime/device'
import { DecodeKernels } from '../../../src/runtime/kernels/decode-kernels'
import { TrainingKernels } from '../../../src/runtime/kernels/training-kernels'
import { loadOrt } from '../../../src/runtime/ort'
import { limits } from '../../../src/runtime/wasm-kernels/limits'
import { WasmDevice } from '../../../src/runtime/wasm-device'
import { WebGpuDevice } from '../../../src/runtime/webgpu-device'
import { readGradients, slopes } from '../../../src/runtime/gradient-probe'
import { CONFIG, LORA, QWEN2_CONFIG, randomAdapter, randomModel, smallBatch } from '../../../src/runtime/testing/random-model'

export interface RunRequest {
  backend: Backend
  threads?: number
  /** null trains all parameters. Default: all seven targets. */
  lora?: LoraConfig | null
  /** float32 unless given; others run a model whose rows are whole blocks, with its head in several parts. */
  precision?: Precision
}

export interface RunResult {
  info: Engine['info']
  isolated: boolean
  /** [sequences][tokens] */
  logprobs: number[][]
  entropies: number[][]
  argmax: number[][]
  gradients: Record<string, number[]>
  grad_norm: number
  /** Parameters after one AdamW step. */
  stepped: Record<string, number[]>
  sampled: SampledToken[][]
  /** Decodes that our own kernels did. */
  kernelDecodes: number
  /** Micro-batches whose layers our own kernels ran on WebGPU. */
  kernelBatches: number
  /** allocatedBytes after each of three equal steps. */
  bytes: number[]
  seconds: Record<string, number>
}

limits.sharedWork = 0

const TEMPERATURE = 0.8
const OPTIMIZER = { adam_beta1: 0.9, adam_beta2: 0.99, adam_epsilon: 1e-8, weight_decay: 0.1, max_grad_norm: 0.5, learning_rate: 1e-2 }

/** Rows of whole blocks, and a vocabulary that is no multiple of anything. */
const BLOCKS_CONFIG = { ...CONFIG, hidden_size: 64, intermediate_size: 96, vocab_size: 333 }
const configOf = (precision: Precision): typeof CONFIG => (precision === 'float32' ? CONFIG : BLOCKS_CONFIG)

export function start({ backend, threads = 1, lora = LORA, precision = 'float32' }: RunRequest): Promise<EngineInstance> {
  return createEngine({
    source: randomModel(configOf(precision)),
    lora,
    backend,
    threads,
    precision,
    slots: 4,
    contextLength: 48,
    modelName: 'random',
    adapterName: 'test',
    ...(precision === 'float32' ? {} : { headLimits: { logits: 1200, table: 64 * 150, rows: 8 } }),
  })
}

const listed = (tensors: readonly NamedTensor[]): Record<string, number[]> => Object.fromEntries(tensors.map(({ name, data }) => [name, [...data]]))

/** Prefill, a second prefill behind it, copies, ragged decoding, and every way of sampling. */
async function play(engine: Engine): Promise<SampledToken[][]> {
  const ids = Array.from({ length: 12 }, (_, i) => (7 * i + 3) % CONFIG.vocab_size)
  const out: SampledToken[][] = []
  const all = [0, 1, 2, 3].map((slot) => ({ slot, uniform: (slot + 0.37) / 4 }))
  const plain = { temperature: 1, top_k: 0, top_p: 1, min_p: null }
  await engine.prefill(0, ids.slice(0, 5))
  await engine.prefill(1, ids.slice(0, 2))
  await engine.copy(0, [2, 3])
  await engine.prefill(3, ids.slice(5, 8))
  out.push(await engine.sample(all, plain))
  await engine.decode([0, 1, 3].map((slot) => ({ slot, id: ids[slot + 4] as number })))
  await engine.decode([1, 2].map((slot) => ({ slot, id: ids[slot + 6] as number })))
  out.push(await engine.sample(all, { ...plain, temperature: 0.7 }))
  await engine.prefill(1, ids.slice(2, 6))
  // Longer than what one run of the GPU takes.
  await engine.prefill(2, Array.from({ length: 38 }, (_, i) => (5 * i + 1) % CONFIG.vocab_size))
  for (const params of [{ top_k: 3 }, { top_p: 0.6 }, { min_p: 0.2 }, { temperature: 0 }]) out.push(await engine.sample(all, { ...plain, ...params }))
  return out
}

/** Everything once. */
export async function run(request: RunRequest): Promise<RunResult> {
  const seconds: Record<string, number> = {}
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const from = performance.now()
    const result = await work()
    seconds[name] = (performance.now() - from) / 1000
    return result
  }
  const engine = await timed('create', () => start(request))
  try {
    const adapter = randomAdapter(await engine.exportParameters())
    if (engine.lora) await engine.importParameters(adapter)
    const initial = await engine.exportParameters()
    const batch = smallBatch()
    const batches = countBatches()
    const scores = await timed('score', () => engine.score(batch, { temperature: TEMPERATURE }))
    await timed('accumulate', () => engine.accumulate(batch, { temperature: TEMPERATURE }, slopes))
    batches.stop()
    const { gradients, grad_norm } = await readGradients(engine)
    await engine.importParameters(initial)
    const kernels = countKernels()
    const sampled = await timed('play', () => play(engine))
    kernels.stop()
    const bytes: number[] = []
    let stepped: Record<string, number[]> = {}
    for (let k = 0; k < 3; k++) {
      await timed(`step ${k}`, async () => {
        await engine.accumulate(batch, { temperature: TEMPERATURE }, slopes)
        await engine.optimizerStep(OPTIMIZER)
      })
      if (k === 0) stepped = listed(await engine.exportParameters())
      bytes.push(engine.allocatedBytes)
    }
    const lists = (pick: (s: SequenceScores) => ArrayLike<number>): number[][] => scores.map((s) => Array.from(pick(s)))
    return {
      info: engine.info,
      isolated: globalThis.crossOriginIsolated,
      logprobs: lists((s) => s.logprobs),
      entropies: lists((s) => s.entropies),
      argmax: lists((s) => s.argmax),
      gradients: listed(gradients),
      grad_norm,
      stepped,
      sampled,
      kernelDecodes: kernels.decodes(),
      kernelBatches: batches.taken(),
      bytes,
      seconds,
    }
  } finally {
    await engine.dispose()
  }
}

/** How many decodes our own kernels do from now on. */
function countKernels(): { decodes: () => number; stop: () => void } {
  const { decode } = DecodeKernels.prototype
  let decodes = 0
  DecodeKernels.prototype.decode = function (...given) {
    decodes++
    return decode.apply(this, given)
  }
  const stop = (): void => {
    DecodeKernels.prototype.decode = decode
  }
  return { decodes: () => decodes, stop }
}

/** How many micro-batches our own training kernels begin from now on. */
function countBatches(): { taken: () => number; stop: () => void } {
  const { begin } = TrainingKernels.prototype
  let taken = 0
  TrainingKernels.prototype.begin = function (...given) {
    taken++
    return begin.apply(this, given)
  }
  const stop = (): void => {
    TrainingKernels.prototype.begin = begin
  }
  return { taken: () => taken, stop }
}

export interface TwinRequest {
  qwen2: boolean
  precision: Precision
}

export interface TwinResult {
  /** The largest, of everything that is sampled. */
  difference: number
  /** How many our kernels did, with them and without. */
  decodes: [number, number]
}

/** What is sampled after decoding by our kernels and by onnxruntime's graph, with the LoRA and without it. */
export async function kernelTwins({ qwen2, precision }: TwinRequest): Promise<TwinResult> {
  const config = { ...(qwen2 ? QWEN2_CONFIG : CONFIG), hidden_size: 64, intermediate_size: 96, vocab_size: 333 }
  const slots = 10
  const decode = async (): Promise<{ numbers: number[]; decodes: number }> => {
    const engine = await createEngine({ source: randomModel(config), lora: LORA, backend: 'webgpu', threads: 1, precision, slots, contextLength: 80, modelName: 'random', adapterName: 'test' })
    const kernels = countKernels()
    try {
      await engine.importParameters(randomAdapter(await engine.exportParameters()))
      const numbers: number[] = []
      for (const adapter of ['current', 'off'] as const) {
        await engine.useAdapter(adapter)
        // Behind the 64 positions that a workgroup takes at once, at its end, and far before it.
        for (const [slot, length] of [62, 63, 3].entries()) await engine.prefill(slot, Array.from({ length }, (_, i) => (7 * i + slot) % 333))
        await engine.copy(2, Array.from({ length: slots - 3 }, (_, i) => i + 3))
        for (let k = 0; k < 4; k++) await engine.decode(Array.from({ length: slots }, (_, slot) => ({ slot, id: (11 * k + slot) % 333 })).filter(({ slot }) => slot !== 4 || k > 1))
        const sampled = await engine.sample(Array.from({ length: slots }, (_, slot) => ({ slot, uniform: (slot + 0.5) / slots })), { temperature: 1, top_k: 0, top_p: 1, min_p: null })
        numbers.push(...sampled.flatMap(({ id, logprob, entropy, top }) => [id, logprob, entropy, ...top.map(({ prob }) => prob)]))
      }
      return { numbers, decodes: kernels.decodes() }
    } finally {
      kernels.stop()
      await engine.dispose()
    }
  }
  const ours = await decode()
  const { compile } = DecodeKernels.prototype
  DecodeKernels.prototype.compile = () => Promise.resolve(false)
  const theirs = await decode()
  DecodeKernels.prototype.compile = compile
  return { difference: Math.max(...ours.numbers.map((x, i) => Math.abs(x - (theirs.numbers[i] as number)))), decodes: [ours.decodes, theirs.decodes] }
}

/** Creates every artifact of a LoRA spec, over each kind of base, and of a full-parameter spec on the GPU alone; what was refused, with why. */
export async function refusedArtifacts(): Promise<{ made: number; refused: string[] }> {
  const ort = await loadOrt('webgpu', 1)
  const device = new WebGpuDevice(ort, 'test')
  // While no session is open onnxruntime gives its GPU device back.
  await device.createSession(toOnnx(buildArtifact(specOf(LORA), 'accumulate')), false)
  let made = 0
  const refused: string[] = []
  for (const spec of [specOf(LORA), specOf(null), specOf(LORA, 'int4'), specOf(LORA, 'int8')]) {
    for (const name of artifactNames(spec)) {
      try {
        await device.release(await device.createSession(toOnnx(buildArtifact(spec, name)), false))
        made++
      } catch (error) {
        refused.push(`${spec.lora ? 'LoRA' : 'full'} ${spec.precision} ${name}: ${String(error)}`)
      }
    }
  }
  return { made, refused }
}

const specOf = (lora: LoraConfig | null, precision: Precision = 'float32'): ArtifactSpec => ({ config: parseModelConfig(configOf(precision)), lora, precision })

export interface LostResult {
  /** What each call after the loss was rejected with. */
  errors: { kind: string; message: string; advice: string }[]
  /** An engine made afterwards, in the same scope, works. */
  works: boolean
}

/** Takes the GPU away from an engine that is at work. */
export async function loseDevice(): Promise<LostResult> {
  const errors: LostResult['errors'] = []
  const rejected = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      errors.push({ kind: 'none', message: 'the call succeeded', advice: '' })
    } catch (error) {
      const { kind, message, advice } = error instanceof PlaygroundError ? error : { kind: 'not ours', message: String(error), advice: '' }
      errors.push({ kind, message, advice })
    }
  }
  const engine = await start({ backend: 'webgpu' })
  await engine.prefill(0, [1, 2, 3])
  const ort = await loadOrt('webgpu', 1)
  const running = rejected(() => engine.score(smallBatch(), { temperature: 1 }))
  ;(await ort.env.webgpu.device).destroy()
  await running
  await rejected(() => engine.prefill(1, [1, 2, 3]))
  await rejected(() => engine.exportParameters())
  await rejected(() => engine.optimizerStep(OPTIMIZER))
  await engine.dispose()
  const next = await start({ backend: 'webgpu' })
  await next.prefill(0, [1, 2, 3])
  const works = next.length(0) === 3
  await next.dispose()
  return { errors, works }
}

/** Draws from a vocabulary too large for one running sum; ids of ten rows, plain and filtered. */
export async function drawLarge({ backend }: { backend: Backend }): Promise<number[][]> {
  const config = parseModelConfig({ ...CONFIG, vocab_size: 5003 })
  const ort = await loadOrt(backend, 1)
  const device = backend === 'webgpu' ? new WebGpuDevice(ort, 'test') : new WasmDevice(() => Promise.resolve(ort), 1)
  const random = new RandomStream(5)
  const normal = (n: number, size: number): Float32Array => Float32Array.from({ length: n }, () => size * random.normal())
  const [rows, hidden] = [10, config.hidden_size]
  const inputs = {
    x: device.host(normal(rows * hidden, 1), [rows, hidden]),
    norm: device.host(new Float32Array(hidden).fill(1), [hidden]),
    table: device.host(normal(5003 * hidden, 0.3), [5003, hidden]),
    inverse_temperature: device.host(Float32Array.of(1), []),
    uniform: device.host(Float32Array.from({ length: rows }, (_, row) => (row + 0.123) / rows), [rows]),
    top_k: device.host(Float32Array.of(500), []),
    top_p: device.host(Float32Array.of(0.9), []),
    min_p: device.host(Float32Array.of(0), []),
  }
  const draws: number[][] = []
  const sessions: DeviceSession[] = []
  for (const name of ['head_sample', 'head_sample_filtered'] as const) {
    const session = await device.createSession(toOnnx(buildArtifact({ config, lora: LORA, precision: 'float32' }, name)), true)
    const out = await device.run(session, inputs)
    draws.push(Array.from(hostFloats(out.choice)))
    sessions.push(session)
  }
  await device.dispose()
  // Not before the end: with its last session onnxruntime gives the GPU back.
  for (const session of sessions) await device.release(session)
  return draws
}

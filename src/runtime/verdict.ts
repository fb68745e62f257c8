/** Whether a model can be trained here with these settings, and if not, what would help: the plan, put against the device. */

import type { Backend, GrpoConfig, LoraConfig, Precision } from '../core/config'
import { type DeviceReport, type MemoryPlan, MOST_SLOTS, type Verdict } from '../core/plan'
import type { ModelConfig } from '../model/config'
import { countParameters } from '../model/parameters'
import { leastMemory, type PlanOptions, planMemory } from './plan'

type Episodes = Pick<GrpoConfig, 'num_generations' | 'prompts_per_step' | 'max_completion_length'>

const CONTEXT_STEP = 128
/** Tokens of a training micro-batch; a large model's activations are what fills the memory then. */
const MICRO_BATCH = { small: 1024, large: 512 }
const LARGE_HIDDEN = 512

/** How large an engine must be for a run. */
export function engineSizes(
  config: Pick<ModelConfig, 'hidden_size' | 'max_position_embeddings'>,
  backend: Backend,
  { num_generations, prompts_per_step, max_completion_length }: Episodes,
  /** Tokens of the prompt and of what reset adds to it. */
  promptTokens: number,
): Pick<PlanOptions, 'slots' | 'contextLength' | 'microBatchTokens'> {
  return {
    slots: Math.min(num_generations * prompts_per_step, MOST_SLOTS[backend]),
    contextLength: Math.min(Math.ceil((promptTokens + max_completion_length) / CONTEXT_STEP) * CONTEXT_STEP, config.max_position_embeddings),
    microBatchTokens: config.hidden_size < LARGE_HIDDEN ? MICRO_BATCH.small : MICRO_BATCH.large,
  }
}

/** Floating-point operations a second of one row of a matrix product, measured on two threads of a small server and on SwiftShader. */
const RATES = { wasm: { float32: 1.1e9, int8: 0.5e9, int4: 0.3e9 }, software: 0.5e9 }
const MEASURED_THREADS = 2
/** A 32-bit WASM heap, less what the page itself needs. */
const WASM_BYTES = 3.5e9
/** Nobody waits longer for a token. */
const SLOWEST_TOKEN = 1

export interface JudgeRequest {
  config: ModelConfig
  lora: LoraConfig | null
  precision: Precision
  backend: Backend
  grpo: Episodes
  promptTokens: number
  device: DeviceReport
}

/** The plan for these settings, and what it means. A run that fits but would take seconds a token is 'too-slow'. */
export function judge(request: JudgeRequest): { plan: MemoryPlan; verdict: Verdict } {
  const { device, grpo } = request
  const least = leastFor(request, smallest(grpo))
  if (excess(least, request) > 0) return { plan: leastFor(request, grpo), verdict: { kind: 'too-large', needs: least.peak, has: limit(request) } }
  const plan = planFor(request, grpo)
  const secondsPerToken = estimateSeconds(request)
  if ((request.backend === 'wasm' || device.gpu?.software) && secondsPerToken > SLOWEST_TOKEN) return { plan, verdict: { kind: 'too-slow', secondsPerToken } }
  if (excess(plan, request) > 0) {
    const smaller = smallerSettings(request)
    if (smaller) return { plan, verdict: { kind: 'reduce', ...smaller } }
    return { plan, verdict: { kind: 'too-large', needs: planFor(request, smallest(grpo)).peak, has: limit(request) } }
  }
  return { plan, verdict: { kind: 'fits' } }
}

function planFor(request: JudgeRequest, grpo: Episodes): MemoryPlan {
  const { config, lora, precision, backend, promptTokens } = request
  const largestBinding = backend === 'wasm' ? 0 : largestBuffer(request)
  return planMemory({ config, lora, precision, largestBinding, ...engineSizes(config, backend, grpo, promptTokens) })
}

function leastFor({ config, lora, precision, backend, promptTokens }: JudgeRequest, grpo: Episodes): MemoryPlan {
  return leastMemory({ config, lora, precision, ...engineSizes(config, backend, grpo, promptTokens) })
}

const limit = ({ backend, device }: JudgeRequest): number => (backend === 'wasm' ? WASM_BYTES : device.gpuBudget)

/** Most bytes of one buffer that the adapter makes and binds. */
const largestBuffer = ({ backend, device: { gpu } }: JudgeRequest): number => (backend === 'webgpu' && gpu ? Math.min(gpu.maxBufferSize, gpu.maxStorageBufferBindingSize) : Infinity)

/** Bytes by which the plan is too large; a single buffer that the adapter refuses counts in full. */
function excess(plan: MemoryPlan, request: JudgeRequest): number {
  const largest = largestBuffer(request)
  return plan.largestBuffer > largest ? plan.largestBuffer : Math.max(0, plan.peak - limit(request))
}

const smallest = (grpo: Episodes): Episodes => ({ num_generations: 2, prompts_per_step: 1, max_completion_length: Math.min(128, grpo.max_completion_length) })

/** The first that fits of: fewer prompts, fewer generations, shorter completions; null when none does. */
function smallerSettings(request: JudgeRequest): Episodes | null {
  let grpo = { ...request.grpo }
  const least = smallest(grpo)
  for (;;) {
    if (grpo.prompts_per_step > least.prompts_per_step) grpo = { ...grpo, prompts_per_step: Math.floor(grpo.prompts_per_step / 2) }
    else if (grpo.num_generations > 4) grpo = { ...grpo, num_generations: Math.max(4, Math.floor(grpo.num_generations / 2)) }
    else if (grpo.max_completion_length > least.max_completion_length) {
      grpo = { ...grpo, max_completion_length: Math.max(least.max_completion_length, Math.floor(grpo.max_completion_length / 2)) }
    } else if (grpo.num_generations > least.num_generations) grpo = { ...grpo, num_generations: least.num_generations }
    else return null
    if (excess(leastFor(request, grpo), request) === 0 && excess(planFor(request, grpo), request) === 0) return { num_generations: grpo.num_generations, prompts_per_step: grpo.prompts_per_step, max_completion_length: grpo.max_completion_length }
  }
}

/** Two operations a weight and token. */
function estimateSeconds({ config, backend, precision, device }: JudgeRequest): number {
  const rate = backend === 'wasm' ? (RATES.wasm[precision] * device.threads) / MEASURED_THREADS : RATES.software
  return (2 * countParameters(config)) / rate
}

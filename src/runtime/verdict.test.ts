import { describe, expect, it, vi } from 'vitest'
import { SHAPES } from '../../e2e/models/shapes'
import { DEFAULT_GRPO, DEFAULT_LORA } from '../core/config'
import type { DeviceReport } from '../core/plan'
import { parseModelConfig } from '../model/config'
import { planMemory } from './plan'
import { engineSizes, judge, type JudgeRequest } from './verdict'

vi.mock('./plan', async (original) => {
  const plan = await original<typeof import('./plan')>()
  return { ...plan, planMemory: vi.fn(plan.planMemory) }
})

const GB = 1e9
const gpu = { name: 'A GPU', software: false, shaderF16: true, maxBufferSize: 2 * GB, maxStorageBufferBindingSize: 1 * GB }
const device: DeviceReport = { gpu, threads: 4, gpuBudget: 4 * GB, storage: null }
const qwen3 = parseModelConfig(SHAPES['qwen3-0.6b'])
const request = (more: Partial<JudgeRequest> = {}): JudgeRequest => ({
  config: qwen3, lora: DEFAULT_LORA, precision: 'int4', backend: 'webgpu', grpo: DEFAULT_GRPO, promptTokens: 200, device, ...more,
})

describe('judge', () => {
  it('lets Qwen3-0.6B in 4 bits train on a laptop’s GPU, by the plan of the engine’s own sizes', () => {
    const { plan, verdict } = judge(request())
    expect(verdict).toEqual({ kind: 'fits' })
    const sizes = engineSizes(qwen3, 'webgpu', DEFAULT_GRPO, 200)
    expect(sizes).toEqual({ slots: 8, contextLength: 768, microBatchTokens: 512 })
    expect(plan).toEqual(planMemory({ config: qwen3, lora: DEFAULT_LORA, precision: 'int4', ...sizes }))
  })

  it('names smaller settings that fit where the asked ones do not', () => {
    const wide = request({ grpo: { ...DEFAULT_GRPO, num_generations: 16, prompts_per_step: 4, max_completion_length: 2048 } })
    const { verdict } = judge(wide)
    expect(verdict.kind).toBe('reduce')
    if (verdict.kind !== 'reduce') return
    expect(verdict.num_generations * verdict.prompts_per_step * verdict.max_completion_length).toBeLessThan(16 * 4 * 2048)
    expect(judge({ ...wide, grpo: verdict }).verdict).toEqual({ kind: 'fits' })
  })

  it('says what is needed and there when nothing helps', () => {
    const { verdict } = judge(request({ precision: 'float32', device: { ...device, gpuBudget: 1 * GB } }))
    expect(verdict).toMatchObject({ kind: 'too-large', has: 1 * GB })
    expect(verdict.kind === 'too-large' && verdict.needs).toBeGreaterThan(2.4 * GB)
  })

  it('refuses a buffer that the adapter cannot bind, whatever the memory', () => {
    const small = { ...device, gpu: { ...gpu, maxStorageBufferBindingSize: 64e6 }, gpuBudget: 100 * GB }
    expect(judge(request({ device: small })).verdict.kind).toBe('too-large')
  })

  it('answers for a model that no setting makes fit without going through a plan, which takes seconds', () => {
    const huge = { ...qwen3, num_hidden_layers: 512, hidden_size: 8192, intermediate_size: 32_768, vocab_size: 2_000_000 }
    vi.mocked(planMemory).mockClear()
    expect(judge(request({ config: huge })).verdict.kind).toBe('too-large')
    expect(planMemory).not.toHaveBeenCalled()
    judge(request())
    expect(planMemory).toHaveBeenCalled()
  })

  it('says how slow it would be without a GPU', () => {
    const slow = judge(request({ backend: 'wasm', device: { ...device, gpu: null } })).verdict
    expect(slow.kind).toBe('too-slow')
    expect(slow.kind === 'too-slow' && slow.secondsPerToken).toBeCloseTo(2, 0)
    expect(judge(request({ device: { ...device, gpu: { ...gpu, software: true } } })).verdict.kind).toBe('too-slow')
    const tiny = parseModelConfig({ ...SHAPES['test-30m'], hidden_size: 64, vocab_size: 512 })
    expect(judge(request({ config: tiny, backend: 'wasm', device: { ...device, gpu: null } })).verdict.kind).toBe('fits')
  })
})

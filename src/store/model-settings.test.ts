import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, type RunConfig } from '../core/config'
import { DEFAULT_STAGE } from '../core/stage'
import { CURATED_MODELS, isHubModel } from '../env/models'
import { TINY_MODEL } from '../env/presets'
import { defaultWithModel, isFromHub, needsLoad, withModel } from './model-settings'
import { plannedConfig } from './planned'
import { defaultConfig, presetByName } from './presets'
import { presetConfig } from '../worker/protocol'

const catchTheBall = defaultConfig({ kind: 'builtin', name: 'catch' })
const qwen = { model: 'Qwen/Qwen3-0.6B', model_revision: 'main' }
const tiny = { model: TINY_MODEL, model_revision: 'main' }

describe('the settings that suit a model', () => {
  it('a Hub model starts from 4 bits and the defaults, with the environment, its turns, prompts, seed and LoRA kept', () => {
    const mine: RunConfig = {
      ...catchTheBall,
      user_prompt: 'Mine.',
      backend: 'wasm',
      grpo: { ...catchTheBall.grpo, seed: 7 },
      lora: { ...catchTheBall.lora, r: 4 },
    }
    expect(withModel(mine, qwen)).toEqual({
      ...mine,
      ...qwen,
      precision: 'int4',
      grpo: { ...DEFAULT_GRPO, max_tool_calling_iterations: 7, seed: 7 },
    })
    expect(withModel(mine, qwen).grpo).toMatchObject({ learning_rate: 2e-5, num_generations: 8, prompts_per_step: 1, max_completion_length: 512 })
  })

  it('learning rates of planned stages go with the model, those that a person chose stay', () => {
    const staged = presetConfig(presetByName('staged'))
    const [sft, dpo] = staged.stages ?? []
    const mine = { ...staged, stages: [sft!, { ...dpo!, settings: { ...dpo!.settings, learning_rate: 0.5 } }] }
    const rates = (config: RunConfig) => config.stages?.map(({ settings }) => settings.learning_rate)
    expect(rates(withModel(mine, qwen))).toEqual([DEFAULT_STAGE.sft.learning_rate, 0.5])
    expect(withModel(withModel(mine, qwen), tiny).stages).toEqual(mine.stages)
    expect(rates(plannedConfig('staged', withModel(catchTheBall, qwen)))).toEqual([DEFAULT_STAGE.sft.learning_rate, DEFAULT_STAGE.dpo.learning_rate])
  })

  it('going back to the shipped model restores its preset and float32, but for the seed', () => {
    const there = withModel({ ...catchTheBall, grpo: { ...catchTheBall.grpo, seed: 7 } }, qwen)
    expect(withModel(there, tiny)).toEqual({ ...catchTheBall, grpo: { ...catchTheBall.grpo, seed: 7 } })
  })

  it('from one Hub model to another keeps settings that were changed, and drops the adapter of the other base', () => {
    const there = withModel(catchTheBall, qwen)
    const changed: RunConfig = {
      ...there,
      precision: 'int8',
      adapter: { kind: 'hub', repo: 'me/lora', revision: 'main' },
      grpo: { ...there.grpo, num_generations: 4 },
    }
    const next = withModel(changed, { model: 'Qwen/Qwen3-1.7B', model_revision: 'v1' })
    expect(next).toEqual({ ...changed, model: 'Qwen/Qwen3-1.7B', model_revision: 'v1', adapter: null })
  })

  it('another revision of the same model changes nothing else', () => {
    const there: RunConfig = { ...withModel(catchTheBall, qwen), adapter: { kind: 'file', name: 'mine' } }
    expect(withModel(there, { ...qwen, model_revision: 'v2' })).toEqual({ ...there, model_revision: 'v2' })
  })

  it('another environment keeps model, precision and adapter', () => {
    const there: RunConfig = { ...withModel(catchTheBall, qwen), precision: 'int8', adapter: { kind: 'file', name: 'mine' } }
    expect(defaultWithModel({ kind: 'builtin', name: 'lane' }, there)).toMatchObject({
      environment: { name: 'lane' }, ...qwen, precision: 'int8', adapter: { kind: 'file', name: 'mine' },
      grpo: { learning_rate: 2e-5, max_tool_calling_iterations: 3 },
    })
  })

  it('another environment brings the shipped model back where a link named a folder that may not be there', () => {
    const lane = { kind: 'builtin', name: 'lane' } as const
    expect(defaultWithModel(lane, { ...catchTheBall, model: 'models/none' })).toEqual(defaultConfig(lane))
    expect(defaultWithModel(lane, { ...catchTheBall, precision: 'int8' })).toEqual({ ...defaultConfig(lane), precision: 'int8' })
  })
})

describe('what waits for Load', () => {
  const there = withModel(catchTheBall, qwen)
  const lora: RunConfig = { ...catchTheBall, adapter: { kind: 'hub', repo: 'me/lora', revision: 'main' } }

  it('weights from the Hub that were not loaded, in whatever revision, precision or adapter differs', () => {
    expect(needsLoad({ config: there, applied: null })).toBe(true)
    expect(needsLoad({ config: there, applied: catchTheBall })).toBe(true)
    expect(needsLoad({ config: there, applied: { ...there, model_revision: 'v2' } })).toBe(true)
    expect(needsLoad({ config: there, applied: { ...there, precision: 'int8' } })).toBe(true)
    expect(needsLoad({ config: lora, applied: catchTheBall })).toBe(true)
  })

  it('never the shipped model, files at hand, or other settings of a loaded model', () => {
    expect(needsLoad({ config: catchTheBall, applied: there })).toBe(false)
    expect(needsLoad({ config: { ...catchTheBall, adapter: { kind: 'file', name: 'mine' } }, applied: catchTheBall })).toBe(false)
    expect(needsLoad({ config: { ...there, grpo: { ...there.grpo, seed: 1 } }, applied: there })).toBe(false)
  })

  it('the curated list is two shipped models and four of the Hub, each with its size', () => {
    expect(CURATED_MODELS.map((m) => isHubModel(m.model))).toEqual([false, false, true, true, true, true])
    // bfloat16: two bytes a parameter.
    for (const m of CURATED_MODELS.slice(2)) expect(m.downloadBytes).toBe(2 * m.parameters)
    expect(CURATED_MODELS.map((m) => isFromHub({ model: m.model, adapter: null }))).toEqual([false, false, true, true, true, true])
  })
})

it('keeps what a person changed when another model is chosen, there and back', () => {
  const start = defaultConfig()
  const edited = { ...start, grpo: { ...start.grpo, prompts_per_step: 3, learning_rate: 5e-4 } }
  const hub = withModel(edited, { model: 'Qwen/Qwen3-0.6B', model_revision: 'main' })
  expect(hub.grpo).toMatchObject({ prompts_per_step: 3, learning_rate: 5e-4, max_completion_length: 512 })
  const back = withModel(hub, { model: start.model, model_revision: 'main' })
  expect(back.grpo).toEqual(edited.grpo)
})

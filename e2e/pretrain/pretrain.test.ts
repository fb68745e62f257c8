import { describe, expect, it } from 'vitest'
import { builtinEnvironment } from '../../src/env/builtin/index'
import { countParameters } from '../../src/model/parameters'
import { parseModelConfig } from '../../src/model/config'
import { CUE, underCue } from './cue'
import { initialWeights } from './initial'
import { MODEL_CONFIG } from './model-config'
import { LEARNING_RATE, learningRate, PHASES, VARIANTS, type Phase } from './recipe'

describe('initial weights', () => {
  const config = parseModelConfig(MODEL_CONFIG)
  const tensors = initialWeights(config, 1)
  const std = (name: string): number => {
    const data = tensors.find((t) => t.name === name)?.data ?? new Float32Array()
    return Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length)
  }

  it('are half a million, with no head of their own', () => {
    expect(tensors.reduce((sum, t) => sum + t.data.length, 0)).toBe(countParameters(config))
    expect(countParameters(config)).toBe(492_640)
    expect(tensors.some((t) => t.name === 'lm_head.weight')).toBe(false)
  })

  it('have the sizes of the recipe', () => {
    expect(std('model.embed_tokens.weight')).toBeCloseTo(0.02, 3)
    expect(std('model.layers.0.self_attn.q_proj.weight')).toBeCloseTo(96 ** -0.5, 2)
    expect(std('model.layers.3.mlp.down_proj.weight')).toBeCloseTo(256 ** -0.5 / Math.sqrt(8), 3)
    expect(std('model.layers.1.self_attn.o_proj.weight')).toBeCloseTo(96 ** -0.5 / Math.sqrt(8), 3)
    expect([...(tensors.find((t) => t.name === 'model.norm.weight')?.data ?? [])].every((x) => x === 1)).toBe(true)
  })

  it('depend on the seed alone', () => {
    expect(initialWeights(config, 1)[0]?.data).toEqual(tensors[0]?.data)
    expect(initialWeights(config, 2)[0]?.data).not.toEqual(tensors[0]?.data)
  })
})

describe('learning rate', () => {
  const [a, b] = PHASES as [Phase, Phase]
  it('warms up, stays, then falls to a twentieth', () => {
    expect(learningRate(a, 0, 0)).toBeCloseTo(LEARNING_RATE / 50)
    expect(learningRate(a, 479, 479)).toBe(LEARNING_RATE)
    expect(learningRate(b, 480, 0)).toBeCloseTo(LEARNING_RATE)
    expect(learningRate(b, 819, 339)).toBeCloseTo(LEARNING_RATE * 0.05)
  })
  it('is a number in a phase of one step', () => {
    expect(learningRate({ ...b, steps: 1 }, 100, 0)).toBeCloseTo(LEARNING_RATE)
  })
})

describe('the cue', () => {
  it('stands before everything the environment says and changes nothing else', async () => {
    const plain = await builtinEnvironment('catch').open()
    const environment = underCue(builtinEnvironment('catch'))
    const cued = await environment.open()
    const options = { seed: 4, episode_id: 'e', split: 'train' as const }
    const call = { name: 'move', arguments: { to: 'left' } }
    for (const pair of [[plain.reset(options), cued.reset(options)], [plain.step(call), cued.step(call)]]) {
      const [without, with_] = await Promise.all(pair)
      expect(with_).toEqual({ ...without, text: CUE + (without?.text ?? '') })
    }
    expect(environment.episodeReward([1])).toBe(1)
  })
})

describe('variants', () => {
  it('change the number of echo games and nothing else', () => {
    const echoes = (name: string) => VARIANTS[name]?.map(({ portions }) => portions.filter((p) => p.task === 'echo').map((p) => p.count))
    const others = (name: string) => VARIANTS[name]?.map(({ portions }) => portions.filter((p) => p.task !== 'echo'))
    expect([echoes('no-echo'), echoes('more-echo')]).toEqual([[[], []], [[16], [16]]])
    expect(others('no-echo')).toEqual(others('default'))
    expect(others('more-echo')).toEqual(others('default'))
  })
})

/** The list of passes by what it must hold: how many, what they bind, which rows, columns and gradients they write. */

import { describe, expect, it } from 'vitest'
import { SHAPES } from '../../../e2e/models/shapes'
import type { ArtifactSpec } from '../../artifacts/spec'
import { DEFAULT_LORA, LORA_TARGETS, type LoraTarget, type Precision } from '../../core/config'
import { parseModelConfig } from '../../model/config'
import { loraParameters } from '../../model/parameters'
import { CONFIG, LORA, QWEN2_CONFIG } from '../testing/random-model'
import { type GradientJob, gradientGroups, gradientShader } from './product-shaders'
import { loraLayerSize, trainingPasses } from './training-passes'
import { kernelsFit, workBytes, workLayout } from './training-work'
import { vectorLayout } from './vectors'

const specOf = (config: object, precision: Precision = 'float32', targets: readonly LoraTarget[] = LORA_TARGETS): ArtifactSpec => ({
  config: parseModelConfig(config),
  lora: { ...LORA, target_modules: [...targets] },
  precision,
})
const all = (spec: ArtifactSpec) => {
  const { inside, last, backward } = trainingPasses(spec)
  return [...inside, last, ...backward]
}

describe('the passes of a layer', () => {
  it('are 13 forward and 28 backward, and few of them without a LoRA', () => {
    const { inside, last, backward } = trainingPasses(specOf(CONFIG))
    expect([inside.length + 1, inside.length + backward.length]).toEqual([13, 28])
    expect([...inside, last].filter(({ loraOnly }) => !loraOnly)).toHaveLength(9)
    expect(last.name).toBe('down')
  })

  it('leave out what no target asks for', () => {
    const names = all(specOf(CONFIG, 'float32', ['q_proj', 'v_proj'])).map(({ name }) => name)
    expect(names.filter((name) => name.includes('low'))).toEqual(['low qkv', 'd low qkv'])
  })

  it('bind what they name, once, in no more storage buffers than most GPUs have', () => {
    for (const precision of ['float32', 'int8', 'int4'] as const) {
      for (const config of [CONFIG, QWEN2_CONFIG]) {
        for (const { name, shader, targets } of all(specOf({ ...config, hidden_size: 64, intermediate_size: 96 }, precision))) {
          const declared = [...shader.code.matchAll(/@binding\((\d+)\) var<(\w+)/g)]
          expect(declared.map(([, binding]) => Number(binding))).toEqual(shader.uses.map(({ binding }) => binding))
          expect(declared.filter(([, , space]) => space === 'storage').length, name).toBeLessThanOrEqual(precision === 'float32' ? 6 : 9)
          expect(shader.uses.filter((use) => use.name.startsWith('matrix'))).toHaveLength(targets.length)
          expect(shader.uses.filter((use) => use.name.startsWith('scales'))).toHaveLength(precision === 'float32' ? 0 : targets.length)
        }
      }
    }
  })

  it('cover every row and column, and no dispatch is larger than WebGPU allows', () => {
    const spec = { config: parseModelConfig(SHAPES['qwen3-0.6b']), lora: DEFAULT_LORA, precision: 'int4' } as const
    for (const { name, groups } of all(spec)) {
      const [few, many] = [groups(32), groups(2048)]
      expect(Math.max(...few, ...many), name).toBeLessThanOrEqual(65_535)
      expect(Math.min(...few), name).toBeGreaterThan(0)
    }
    const groupsOf = (name: string) => all(spec).find((pass) => pass.name === name)?.groups(500)
    expect(groupsOf('qkv')).toEqual([(2048 + 1024 + 1024) / 64, 8])
    expect(groupsOf('d gate_up')).toEqual([1024 / 64, 8])
    // Sixteen ranks are one tile of sixteen columns, and then a workgroup has 64 rows.
    expect(groupsOf('low qkv')).toEqual([3, 8])
  })

  it('read vectors inside the layer’s part', () => {
    const spec = specOf(QWEN2_CONFIG)
    const { size } = vectorLayout(spec.config)
    const offsets = all(spec).flatMap(({ shader }) => [...shader.code.matchAll(/layer\.x \+ (\d+)u/g)].map(([, offset]) => Number(offset)))
    expect(new Set(offsets)).toEqual(new Set(vectorLayout(spec.config).offsets.values()))
    expect(Math.max(...offsets)).toBeLessThan(size)
  })
})

describe('the gradients', () => {
  it('fill the layer’s part of the vector, each tensor once', () => {
    const spec = specOf(CONFIG)
    const shader = all(spec).find(({ name }) => name === 'gradients')?.shader.code as string
    const written = [...shader.matchAll(/columns = (\d+)u;.* to = layer\.y \+ (\d+)u; turned = (\w+);/g)].map(([, columns, to, turned]) => ({ from: Number(to), size: Number(columns) * LORA.r, turned }))
    written.sort((a, b) => a.from - b.from)
    let next = 0
    for (const { from, size } of written) {
      expect(from).toBe(next)
      next = from + size
    }
    expect(next).toBe(loraLayerSize(spec))
    const names = loraParameters(spec.config, spec.lora as typeof LORA).map(({ name }) => name)
    expect(written.map(({ turned }) => (turned === 'true' ? 'A' : 'B'))).toEqual(names.map((name) => name.at(-1)))
  })

  it('of any rank have a tile for every rank and column', () => {
    const job: GradientJob = { left: { region: 'norm1' }, columns: 100, right: { region: 'dLow' }, scale: 1, to: 0, turned: true }
    const layout = workLayout(parseModelConfig(CONFIG), LORA)
    for (const rank of [1, 16, 17, 40, 64, 128]) {
      const [x, y] = gradientGroups([job, job], rank)
      const tall = Number(/tile \* (\d+)u/.exec(gradientShader(layout, [job, job], rank).code)?.[1])
      const wide = Number(/group\.y \* (\d+)u/.exec(gradientShader(layout, [job, job], rank).code)?.[1])
      expect(x).toBe(2 * Math.ceil(100 / tall))
      expect(y * wide).toBeGreaterThanOrEqual(rank)
      expect((y - 1) * wide).toBeLessThan(rank)
    }
  })
})

describe('the work', () => {
  it('has its regions one behind the other, what forward needs first', () => {
    const { regions, forward, all: whole } = workLayout(parseModelConfig(CONFIG), LORA)
    let next = 0
    for (const { prefix, stride } of Object.values(regions)) {
      expect(prefix).toBe(next)
      next += stride
    }
    expect(next).toBe(whole)
    expect(regions.dy.prefix).toBe(forward)
    expect(workBytes({ regions, forward, all: whole }, 32, false).work).toBeLessThan(workBytes({ regions, forward, all: whole }, 32, true).work)
  })

  it('is not for a model whose every weight is trained, nor for odd widths', () => {
    const spec = specOf(CONFIG)
    expect(kernelsFit(spec)).toBe(true)
    expect(kernelsFit({ ...spec, lora: null })).toBe(false)
    expect(kernelsFit({ ...spec, config: { ...spec.config, intermediate_size: 50 } })).toBe(false)
  })
})

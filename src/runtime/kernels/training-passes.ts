/** A decoder layer's training as a list of compute passes: 13 forward, and 28 backward with what of the forward it computes again. */

import { loraScale, type LoraConfig, type LoraTarget } from '../../core/config'
import { linearDims, modulePath } from '../../core/linear-layers'
import { trainedBlockTensors } from '../../artifacts/blocks'
import type { ArtifactSpec } from '../../artifacts/spec'
import { bitsOf } from '../../model/linear-weight'
import { elements } from '../../model/parameters'
import { attentionForwardShader, attentionKeysShader, attentionQueriesShader } from './attention-shaders'
import { gradientGroups, type GradientJob, gradientShader, type Output, productGroups, productShader, type ProductShape, type Term } from './product-shaders'
import {
  dotGroups, dotShader, gateBackwardShader, gateGroups, gateShader, type HeadsShape, normBackwardShader, normShader, type NormShape, rotateBackwardShader, rotateShader,
} from './row-shaders'
import type { Columns, Shader } from './shader-text'
import { ATTENTION_TILE, LOW_START, type RegionName, workLayout } from './training-work'
import { vectorLayout } from './vectors'

export interface Pass {
  name: string
  shader: Shader
  /** Workgroups over so many rows. */
  groups(rows: number): readonly [x: number, y: number]
  /** Whose matrices are matrix0, matrix1, …. */
  targets: readonly LoraTarget[]
  /** Left out where the LoRA takes no part. */
  loraOnly: boolean
}

export interface TrainingPasses {
  /** From 'x' to what backward needs, and the last one, which puts the layer's result into 'x'. */
  inside: Pass[]
  last: Pass
  /** From 'dy' to the layer's gradients, and to d x in 'dy'. */
  backward: Pass[]
}

/** Projections of the same input, and where that and their results stand. */
const GROUPS = {
  qkv: { targets: ['q_proj', 'k_proj', 'v_proj'], input: 'norm1', output: 'qkv', slopes: 'dQkv', residual: null },
  o: { targets: ['o_proj'], input: 'mixed', output: 'middle', slopes: 'dMiddle', residual: 'x' },
  gate_up: { targets: ['gate_proj', 'up_proj'], input: 'norm2', output: 'gateUp', slopes: 'gateUp', residual: null },
  down: { targets: ['down_proj'], input: 'activated', output: 'x', slopes: 'dy', residual: 'middle' },
} as const satisfies Record<string, { targets: readonly LoraTarget[]; input: RegionName; output: RegionName; slopes: RegionName; residual: RegionName | null }>
type GroupName = keyof typeof GROUPS

/** Numbers of a layer's part of the flat LoRA vector. */
export const loraLayerSize = (spec: ArtifactSpec): number => trainedBlockTensors(spec).reduce((n, { dims }) => n + elements(dims), 0)

class Builder {
  private readonly layout
  private readonly vectors
  private readonly lora: LoraConfig
  private readonly offsets = new Map<string, number>()

  constructor(private readonly spec: ArtifactSpec) {
    if (!spec.lora) throw new Error('trainingPasses: there is no LoRA.')
    this.lora = spec.lora
    this.layout = workLayout(spec.config, spec.lora)
    this.vectors = vectorLayout(spec.config).offsets
    let offset = 0
    for (const { name, dims } of trainedBlockTensors(spec)) {
      this.offsets.set(name, offset)
      offset += elements(dims)
    }
  }

  passes(): TrainingPasses {
    const { layout, spec } = this
    const { config } = spec
    const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim, rms_norm_eps: epsilon } = config
    const norm = (name: string, from: RegionName, which: 0 | 1): NormShape => ({ hidden, epsilon, weight: this.vector(name), from, which })
    const [first, second] = [norm('input_layernorm.weight', 'x', 0), norm('post_attention_layernorm.weight', 'middle', 1)]
    const shape: HeadsShape = {
      heads, kv, dim,
      norm: config.qk_norm ? { epsilon, q: this.vector('self_attn.q_norm.weight'), k: this.vector('self_attn.k_norm.weight') } : null,
    }
    const rows = (name: string, shader: Shader): Pass => pass(name, shader, (n) => [n, 1])
    const perHead = (name: string, shader: Shader, count: number): Pass => pass(name, shader, (n) => [count, n])
    const attention = (name: string, shader: Shader, count: number): Pass => pass(name, shader, (n) => [count, n / ATTENTION_TILE])
    return {
      inside: [
        rows('norm1', normShader(layout, first, 'norm1')),
        ...this.forward('qkv'),
        perHead('rotate', rotateShader(layout, shape), heads + kv),
        attention('attention', attentionForwardShader(layout, shape), heads),
        ...this.forward('o'),
        rows('norm2', normShader(layout, second, 'norm2')),
        ...this.forward('gate_up'),
        perHead('gate', gateShader(layout, inner), gateGroups(inner)),
        ...this.low('down'),
      ],
      last: this.whole('down'),
      backward: [
        ...this.backward('down'),
        perHead('d gate', gateBackwardShader(layout, inner), gateGroups(inner)),
        ...this.backward('gate_up'),
        rows('d norm2', normBackwardShader(layout, second, 'dy', 'dMiddle')),
        ...this.backward('o'),
        perHead('dot', dotShader(layout, shape), dotGroups(heads)),
        attention('d queries', attentionQueriesShader(layout, shape), heads),
        attention('d keys', attentionKeysShader(layout, shape), kv),
        perHead('d rotate', rotateBackwardShader(layout, shape), heads + kv),
        ...this.backward('qkv'),
        // Before d x takes the place of dy.
        this.gradients(),
        rows('d norm1', normBackwardShader(layout, first, 'dMiddle', 'dy')),
      ],
    }
  }

  private vector(name: string): number {
    const offset = this.vectors.get(name)
    if (offset === undefined) throw new Error(`The layer has no vector ${name}.`)
    return offset
  }

  private adapter(target: LoraTarget, matrix: 'A' | 'B'): number | null {
    return this.offsets.get(`${modulePath(target)}.lora_${matrix}`) ?? null
  }

  /** The group's targets with their columns in its results and in 'low'. */
  private members(group: GroupName) {
    let from = 0
    return GROUPS[group].targets.map((target, m) => {
      const [columns, depth] = linearDims(this.spec.config, target)
      const low = (LOW_START[group] + m) * this.lora.r
      const member = { target, m, columns, depth, from, low, a: this.adapter(target, 'A'), b: this.adapter(target, 'B') }
      from += columns
      return member
    })
  }

  private product(name: string, group: GroupName, outputs: readonly Output[], thin: boolean): Pass[] {
    if (outputs.length === 0) return []
    const shape: ProductShape = { outputs, weights: bitsOf(this.spec.precision) ?? 32, thin }
    return [{ ...pass(name, productShader(this.layout, shape), (n) => productGroups(shape, n)), targets: thin ? [] : GROUPS[group].targets, loraOnly: thin }]
  }

  /** A · input. */
  private low(group: GroupName): Pass[] {
    const outputs = this.members(group).flatMap(({ a, depth, low }): Output[] => {
      if (a === null) return []
      return [{ columns: this.lora.r, to: { region: 'low', from: low }, terms: [{ left: { region: GROUPS[group].input }, depth, of: { lora: a }, transposed: true }] }]
    })
    return this.product(`low ${group}`, group, outputs, true)
  }

  /** W · input + bias + s · B · low + residual. */
  private whole(group: GroupName): Pass {
    const { input, output, residual } = GROUPS[group]
    const outputs = this.members(group).map(({ target, m, columns, depth, from, low, b }): Output => {
      const bias = this.vectors.get(`${modulePath(target)}.bias`)
      const terms: Term[] = [{ left: { region: input }, depth, of: { matrix: m }, transposed: true }]
      if (b !== null) terms.push({ left: { region: 'low', from: low }, depth: this.lora.r, scale: loraScale(this.lora), of: { lora: b }, transposed: true })
      return { columns, to: { region: output, from }, terms, ...(bias !== undefined && { bias }), ...(residual && { residual: { region: residual } }) }
    })
    return this.product(group, group, outputs, false)[0] as Pass
  }

  private forward(group: GroupName): Pass[] {
    return [...this.low(group), this.whole(group)]
  }

  /** s · d · B into 'dLow', then d · W + that · A of all members into 'passed'. */
  private backward(group: GroupName): Pass[] {
    const members = this.members(group)
    const slopes = (from: number): Columns => ({ region: GROUPS[group].slopes, from })
    const low = members.flatMap(({ b, columns, from, low }): Output[] => {
      if (b === null) return []
      const term: Term = { left: slopes(from), depth: columns, scale: loraScale(this.lora), of: { lora: b }, transposed: false }
      return [{ columns: this.lora.r, to: { region: 'dLow', from: low }, terms: [term] }]
    })
    const terms = members.flatMap(({ m, a, columns, from, low }): Term[] => [
      { left: slopes(from), depth: columns, of: { matrix: m }, transposed: false },
      ...(a === null ? [] : [{ left: { region: 'dLow' as const, from: low }, depth: this.lora.r, of: { lora: a }, transposed: false }]),
    ])
    const whole: Output = { columns: members[0]?.depth as number, to: { region: 'passed' }, terms }
    return [...this.product(`d low ${group}`, group, low, true), ...this.product(`d ${group}`, group, [whole], false)]
  }

  /** The gradients of every A and B of the layer. */
  private gradients(): Pass {
    const jobs = (Object.keys(GROUPS) as GroupName[]).flatMap((group) =>
      this.members(group).flatMap(({ a, b, columns, depth, from, low }): GradientJob[] => {
        if (a === null || b === null) return []
        return [
          { left: { region: GROUPS[group].input }, columns: depth, right: { region: 'dLow', from: low }, scale: 1, to: a, turned: true },
          { left: { region: GROUPS[group].slopes, from }, columns, right: { region: 'low', from: low }, scale: loraScale(this.lora), to: b, turned: false },
        ]
      }),
    )
    return pass('gradients', gradientShader(this.layout, jobs, this.lora.r), () => gradientGroups(jobs, this.lora.r))
  }
}

const pass = (name: string, shader: Shader, groups: Pass['groups']): Pass => ({ name, shader, groups, targets: [], loraOnly: false })

/** The passes of a layer. `spec` has a LoRA. */
export const trainingPasses = (spec: ArtifactSpec): TrainingPasses => new Builder(spec).passes()

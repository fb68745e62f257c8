/** Where everything of a model lies in the kernels' memory: packed matrices, norms, biases, the LoRA. Plain numbers, the same for all threads. */

import { loraScale, type LoraConfig, type LoraTarget } from '../../core/config'
import { linearDims, modulePath } from '../../core/linear-layers'
import type { ModelConfig } from '../../model/config'
import { matrixName } from '../../model/parameters'
import type { Heap } from './heap'
import { OUTER_COLUMNS, PANEL } from './kernels'
import type { Packed } from './packed'

/** Projections that read the same input: one product with all their matrices side by side. */
export const GROUPS = {
  qkv: ['q_proj', 'k_proj', 'v_proj'],
  o: ['o_proj'],
  gateUp: ['gate_proj', 'up_proj'],
  down: ['down_proj'],
} as const satisfies Record<string, readonly LoraTarget[]>
export type GroupName = keyof typeof GROUPS
export const GROUP_NAMES = Object.keys(GROUPS) as GroupName[]

/** One projection of a group that the LoRA changes. */
export interface LoraMember {
  target: LoraTarget
  /** First of its columns in the group's output, and how many. */
  column: number
  out: number
  /** First of its columns in the group's low-rank values. */
  low: number
  /** s · B from slopes of `out` to those of low; the other way it lies behind the group's matrix. */
  upBack: Packed
}

export interface GroupPlan {
  input: number
  out: number
  /** Behind them in each panel: s · B of the panel's member, and A of all members. */
  forward: Packed
  backward: Packed
  /** [out] or null. */
  bias: number | null
  /** The group's columns from left to right, in panels of `forward`: those of each member of the LoRA, and what lies between. */
  spans: { first: number; panels: number; member: LoraMember | null }[]
  lora: {
    /** A of all members: input → low. */
    down: Packed
    width: number
    members: LoraMember[]
  } | null
}

export interface LayerPlan {
  norm1: number
  norm2: number
  /** Of each head; null where the model has none. */
  qNorm: number | null
  kNorm: number | null
  groups: Record<GroupName, GroupPlan>
}

/** Final norm and output table; scores are of the logits over `vocab` ids. */
export interface HeadPlan {
  /** The norm's weights, and the same over the temperature of the last call. */
  norm: number
  scaledNorm: number
  vocab: number
  table: Packed
  tableBack: Packed
  /** Mean of the table's rows, [hidden]. */
  meanRow: number
}

export interface Plan {
  head: HeadPlan
  hidden: number
  inner: number
  heads: number
  kv: number
  dim: number
  epsilon: number
  /** Width of a LoRA's low-rank values, a whole number of tiles; 0 without. */
  rank: number
  scale: number
  layers: LayerPlan[]
  /** [positions, dim / 2] */
  cos: number
  sin: number
}

export const queryWidth = ({ heads, dim }: Plan): number => heads * dim
export const keyWidth = ({ kv, dim }: Plan): number => kv * dim
/** Of q, k and v side by side. */
export const qkvWidth = (plan: Plan): number => queryWidth(plan) + 2 * keyWidth(plan)

/** Whether the kernels' blocks fit the model's widths. */
export function fits(config: ModelConfig): boolean {
  const { hidden_size: hidden, intermediate_size: inner, head_dim: dim } = config
  return [hidden, inner, dim].every((width) => width % OUTER_COLUMNS === 0)
}

/** A layer's tensors by their names in the block: base and LoRA. */
export type LayerTensors = (layer: number, name: string) => Float32Array

/** Final norm [hidden] and output table [vocab, hidden]. */
export interface HeadTensors {
  norm: Float32Array
  table: Float32Array
}

/** Packs the base; the LoRA has its room, and is empty until `packLora`. `cos`, `sin`: [positions, dim / 2]. */
export function makePlan(heap: Heap, config: ModelConfig, lora: LoraConfig | null, tensor: LayerTensors, outer: HeadTensors, tables: { cos: Float32Array; sin: Float32Array }): Plan {
  const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim } = config
  const rank = lora ? Math.ceil(lora.r / OUTER_COLUMNS) * OUTER_COLUMNS : 0
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer): LayerPlan => {
    const of = (name: string): Float32Array => tensor(layer, name)
    const group = (name: GroupName): GroupPlan => {
      const targets = GROUPS[name]
      const [, input] = linearDims(config, targets[0])
      const out = targets.reduce((sum, target) => sum + linearDims(config, target)[0], 0)
      const matrix = joined(targets.map((target) => of(matrixName(target))))
      const biased = name === 'qkv' && config.qkv_bias
      const low = loraPlan(heap, config, lora, targets, rank)
      return {
        input,
        out,
        spans: spansOf(out, low?.members ?? []),
        forward: heap.pack(matrix, out, input, low ? rank : 0),
        backward: heap.packTransposed(matrix, out, input, low?.width ?? 0),
        bias: biased ? heap.put(joined(targets.map((target) => of(`${modulePath(target)}.bias`)))) : null,
        lora: low,
      }
    }
    return {
      norm1: heap.put(of('input_layernorm.weight')),
      norm2: heap.put(of('post_attention_layernorm.weight')),
      qNorm: config.qk_norm ? heap.put(of('self_attn.q_norm.weight')) : null,
      kNorm: config.qk_norm ? heap.put(of('self_attn.k_norm.weight')) : null,
      groups: { qkv: group('qkv'), o: group('o'), gateUp: group('gateUp'), down: group('down') },
    }
  })
  const [cos, sin] = [heap.put(tables.cos), heap.put(tables.sin)]
  const head = headPlan(heap, config, outer)
  return { head, hidden, inner, heads, kv, dim, epsilon: config.rms_norm_eps, rank, scale: lora ? loraScale(lora) : 0, layers, cos, sin }
}

function headPlan(heap: Heap, { vocab_size: vocab, hidden_size: hidden }: ModelConfig, { norm, table }: HeadTensors): HeadPlan {
  const mean = new Float64Array(hidden)
  for (let i = 0; i < vocab * hidden; i++) mean[i % hidden] = (mean[i % hidden] as number) + (table[i] as number) / vocab
  return {
    norm: heap.put(norm),
    scaledNorm: heap.put(norm),
    vocab,
    table: heap.pack(table, vocab, hidden),
    tableBack: heap.packTransposed(table, vocab, hidden),
    meanRow: heap.put(mean),
  }
}

function spansOf(out: number, members: readonly LoraMember[]): GroupPlan['spans'] {
  const spans: GroupPlan['spans'] = []
  let end = 0
  const until = (column: number): void => {
    if (column > end) spans.push({ first: end / PANEL, panels: Math.ceil((column - end) / PANEL), member: null })
    end = column
  }
  for (const member of members) {
    until(member.column)
    spans.push({ first: member.column / PANEL, panels: member.out / PANEL, member })
    end = member.column + member.out
  }
  until(out)
  return spans
}

function loraPlan(heap: Heap, config: ModelConfig, lora: LoraConfig | null, targets: readonly LoraTarget[], rank: number): GroupPlan['lora'] {
  const changed = targets.filter((target) => lora?.target_modules.includes(target))
  if (changed.length === 0) return null
  const [, input] = linearDims(config, targets[0] as LoraTarget)
  const width = changed.length * rank
  const empty = (out: number, from: number): Float32Array => new Float32Array(out * from)
  let column = 0
  const members: LoraMember[] = []
  for (const target of targets) {
    const [out] = linearDims(config, target)
    if (changed.includes(target)) {
      const b = empty(out, rank)
      members.push({ target, column, out, low: members.length * rank, upBack: heap.packTransposed(b, out, rank) })
    }
    column += out
  }
  const a = empty(width, input)
  return { down: heap.pack(a, width, input), width, members }
}

/** Writes a LoRA over the last one: A [r, input] and B [out, r] of each projection, PEFT's orientation. */
export function packLora(heap: Heap, plan: Plan, r: number, tensor: LayerTensors): void {
  plan.layers.forEach(({ groups }, layer) => {
    for (const { lora, input, forward, backward } of Object.values(groups)) {
      if (!lora) continue
      const a = new Float32Array(lora.width * input)
      for (const { target, column, out, low, upBack } of lora.members) {
        a.set(tensor(layer, `${modulePath(target)}.lora_A`), low * input)
        const given = tensor(layer, `${modulePath(target)}.lora_B`)
        const b = new Float32Array(out * plan.rank)
        for (let row = 0; row < out; row++) b.set(given.subarray(row * r, (row + 1) * r), row * plan.rank)
        heap.packExtra(forward, column, out, (k, n) => (b[n * plan.rank + k] as number) * plan.scale)
        heap.repackTransposed(upBack, b, plan.scale)
      }
      heap.repack(lora.down, a)
      heap.packExtra(backward, 0, input, (k, n) => a[k * input + n] as number)
    }
  })
}

function joined(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0] as Float32Array
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

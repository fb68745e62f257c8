/** The work of our training kernels: what each token of a micro-batch has in one buffer while a layer runs forward and backward, and its bytes. */

import type { LoraConfig, Precision } from '../../core/config'
import type { ModelConfig } from '../../model/config'
import { bufferBytes } from '../device'

/** Rows of attention's tiles: a sequence's padded length must be whole tiles, as ROW_MULTIPLE makes it on WebGPU. */
export const ATTENTION_TILE = 32

export type RegionName =
  | 'x' | 'norm1' | 'qkv' | 'rotated' | 'mixed' | 'lse' | 'middle' | 'norm2' | 'gateUp' | 'activated' | 'low' | 'inverse'
  | 'dy' | 'passed' | 'dMiddle' | 'dQkv' | 'dot' | 'dLow'

/** One part of the work: all rows of a region stand together, behind the regions before it. */
export interface Region {
  /** Numbers a row of all regions before it: it begins at rows · prefix. */
  prefix: number
  /** Numbers a row. */
  stride: number
}

export interface WorkLayout {
  regions: Record<RegionName, Region>
  /** Numbers a row of what forward alone needs, and of everything. */
  forward: number
  all: number
}

/** Columns of 'low' and 'dLow' where each group's begin, in ranks. */
export const LOW_START = { qkv: 0, o: 3, gate_up: 4, down: 6 } as const
const LOW_RANKS = 7

/** Where everything lies. 'passed' is what goes back from one step to the next: d activated, d norm2, d mixed, d norm1. */
export function workLayout(config: ModelConfig, lora: LoraConfig): WorkLayout {
  const { hidden_size: hidden, num_attention_heads: heads, num_key_value_heads: kv, head_dim: dim, intermediate_size: inner } = config
  const low = LOW_RANKS * lora.r
  const forward: Partial<Record<RegionName, number>> = {
    x: hidden, norm1: hidden, qkv: (heads + 2 * kv) * dim, rotated: (heads + kv) * dim, mixed: heads * dim, lse: heads,
    middle: hidden, norm2: hidden, gateUp: 2 * inner, activated: inner, low, inverse: 2,
  }
  const backward: Partial<Record<RegionName, number>> = {
    dy: hidden, passed: Math.max(hidden, heads * dim, inner), dMiddle: hidden, dQkv: (heads + 2 * kv) * dim, dot: heads, dLow: low,
  }
  const regions: Partial<Record<RegionName, Region>> = {}
  let prefix = 0
  const place = (strides: Partial<Record<RegionName, number>>): number => {
    for (const [name, stride] of Object.entries(strides)) {
      regions[name as RegionName] = { prefix, stride }
      prefix += stride
    }
    return prefix
  }
  const [ofForward, all] = [place(forward), place(backward)]
  return { regions: regions as Record<RegionName, Region>, forward: ofForward, all }
}

/** Bytes of the work of a micro-batch of so many tokens, and of the places of its tokens. */
export function workBytes({ forward, all }: WorkLayout, rows: number, trains: boolean): { work: number; places: number } {
  return { work: bufferBytes(rows * (trains ? all : forward) * 4), places: bufferBytes(rows * 8) }
}

/** Whether the kernels can compute a model at all: what is left is the GPU's to refuse. */
export function kernelsFit({ config, lora }: { config: ModelConfig; lora: LoraConfig | null; precision: Precision }): boolean {
  // Matrices are read four numbers at a time.
  return lora !== null && config.head_dim % 2 === 0 && config.hidden_size % 4 === 0 && config.intermediate_size % 4 === 0 && (config.num_attention_heads * config.head_dim) % 4 === 0
}

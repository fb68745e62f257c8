/** What the WGSL of all training kernels shares: the buffers by their names, declared where a text uses them, and places in the work. */

import type { RegionName, WorkLayout } from './training-work'

/** Buffers that a shader may use; a binding's number is its place here. */
const DECLARATIONS = {
  work: 'var<storage, read_write> work: array<f32>',
  /** rows, tokens of each sequence, whether the LoRA takes part. */
  shape: 'var<uniform> shape: vec4<u32>',
  /** Where the layer's vectors and its part of the LoRA begin. */
  layer: 'var<uniform> layer: vec4<u32>',
  vectors: 'var<storage, read> vectors: array<f32>',
  lora: 'var<storage, read> lora: array<f32>',
  gradient: 'var<storage, read_write> gradient: array<f32>',
  /** Position and branch of each token. */
  places: 'var<storage, read> places: array<vec2<u32>>',
  cosine: 'var<storage, read> cosine: array<f32>',
  sine: 'var<storage, read> sine: array<f32>',
  matrix0: 'var<storage, read> matrix0: array<MATRIX>',
  matrix1: 'var<storage, read> matrix1: array<MATRIX>',
  matrix2: 'var<storage, read> matrix2: array<MATRIX>',
  scales0: 'var<storage, read> scales0: array<f32>',
  scales1: 'var<storage, read> scales1: array<f32>',
  scales2: 'var<storage, read> scales2: array<f32>',
} as const

export type BufferName = keyof typeof DECLARATIONS
const NAMES = Object.keys(DECLARATIONS) as BufferName[]

export interface Shader {
  code: string
  /** What must be bound, and under which number. */
  uses: readonly { name: BufferName; binding: number }[]
}

/** The whole text: the buffers that the body uses, then the body. Matrices are read as vectors of four floats or as words of codes. */
export function shader(body: string, matrix: 'vec4<f32>' | 'u32' = 'vec4<f32>'): Shader {
  const uses = NAMES.flatMap((name, binding) => (new RegExp(`\\b${name}\\b`).test(body) ? [{ name, binding }] : []))
  const declared = uses.map(({ name, binding }) => `@group(0) @binding(${binding}) ${DECLARATIONS[name].replace('MATRIX', matrix)};`)
  return { code: `${declared.join('\n')}\n${body}`, uses }
}

/** Columns of a region. */
export interface Columns {
  region: RegionName
  /** First column; 0 unless given. */
  from?: number
}

/** WGSL of a place in the work: where the columns begin, and numbers from row to row. */
export function columnsText({ regions }: WorkLayout, { region, from = 0 }: Columns): { base: string; stride: string } {
  const { prefix, stride } = regions[region]
  return { base: `(shape.x * ${prefix}u + ${from}u)`, stride: `${stride}u` }
}

/** WGSL of one row's first column. */
export function rowText(layout: WorkLayout, columns: Columns, row: string): string {
  const { base, stride } = columnsText(layout, columns)
  return `(${base} + (${row}) * ${stride})`
}

/** A number as WGSL reads it. */
export const float = (x: number): string => (Number.isInteger(x) ? `${x}.0` : `${x}`)

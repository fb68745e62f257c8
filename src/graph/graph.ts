/** The graph under construction: values, nodes, inputs, outputs, constants. Operators live in ops/, gradients in gradients.ts. */

import { PlaygroundError } from '../core/errors'
import { type Dim, type Shape, show } from './dims'

export type DType = 'float32' | 'int64' | 'int32' | 'bool' | 'uint8' | 'uint4'

/** ONNX's numbers for them, TensorProto.DataType. */
export const ELEMENT_TYPE: Record<DType, number> = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, uint4: 21 }

/** The result of a node, a graph input or a constant. Shape inference has run when it exists. */
export interface Value {
  readonly graph: Graph
  readonly name: string
  readonly dtype: DType
  readonly shape: Shape
  readonly producer: Node | null
}

export type Attribute = { int: number } | { float: number } | { ints: number[] } | { string: string }
export type Attributes = Readonly<Record<string, Attribute>>

export interface Node {
  readonly op: string
  /** '' is ONNX itself; 'com.microsoft' holds onnxruntime's own operators. */
  readonly domain: string
  readonly inputs: readonly (Value | null)[]
  readonly outputs: Value[]
  readonly attributes: Attributes
}

export interface Constant {
  readonly value: Value
  readonly dims: number[]
  /** uint4: two elements a byte, the first in the low half. */
  readonly data: Float32Array | BigInt64Array | Int32Array | Uint8Array
}

export function graphError(message: string): PlaygroundError {
  return new PlaygroundError('graph', message, 'This is a fault of the graph builder: please report it.')
}

export class Graph {
  readonly nodes: Node[] = []
  readonly inputs: Value[] = []
  readonly outputs: { name: string; value: Value }[] = []
  readonly constants: Constant[] = []
  private readonly names = new Set<string>()
  private readonly constantKeys = new Map<string, Value>()
  private counter = 0

  constructor(readonly name: string) {}

  /** Declares a graph input. Throws when the name is taken. */
  input(name: string, dtype: DType, shape: Shape): Value {
    if (this.names.has(name)) throw graphError(`Graph ${this.name}: the name ${name} is used twice.`)
    const value = this.value(name, dtype, shape, null)
    this.inputs.push(value)
    return value
  }

  /** Names a value as graph output. Output names are free of each other and of inputs. */
  output(name: string, value: Value): void {
    if (this.outputs.some((o) => o.name === name)) throw graphError(`Graph ${this.name}: output ${name} is declared twice.`)
    this.outputs.push({ name, value })
  }

  /** A float32 constant; equal constants are stored once. */
  constant(data: number | readonly number[] | Float32Array, dims?: readonly number[]): Value {
    const array = typeof data === 'number' ? Float32Array.of(data) : Float32Array.from(data)
    return this.store('float32', array, dims ?? (typeof data === 'number' ? [] : [array.length]))
  }

  /** An integer constant: int64 for shapes and axes, int32 where it is computed with (onnxruntime's WebGPU has no int64 arithmetic). */
  integers(data: readonly number[], dims?: readonly number[], dtype: 'int64' | 'int32' = 'int64'): Value {
    const array = dtype === 'int64' ? BigInt64Array.from(data, (x) => BigInt(x)) : Int32Array.from(data)
    return this.store(dtype, array, dims ?? [data.length])
  }

  /** A constant of small unsigned integers, as its raw bytes. */
  bytes(dtype: 'uint8' | 'uint4', data: Uint8Array, dims: readonly number[]): Value {
    const value = this.value(`const_${this.constants.length}`, dtype, dims, null)
    this.constants.push({ value, dims: [...dims], data })
    return value
  }

  /** A weight baked into the graph instead of passed as an input. */
  weight(name: string, data: Float32Array, dims: readonly number[]): Value {
    if (this.names.has(name)) throw graphError(`Graph ${this.name}: the name ${name} is used twice.`)
    const value = this.value(name, 'float32', dims, null)
    this.constants.push({ value, dims: [...dims], data })
    return value
  }

  /** The same constant as another graph has. */
  copyConstant({ value: { dtype, name }, dims, data }: Constant): Value {
    if (dtype === 'uint8' || dtype === 'uint4') return this.bytes(dtype, data as Uint8Array, dims)
    // Small ones are stored once; a baked weight is known by its name.
    if (name.startsWith('const_')) return this.store(dtype, data, dims)
    return this.weight(name, data as Float32Array, dims)
  }

  /** Appends a node. Callers (ops/) have checked the inputs and inferred the output types. */
  node(
    op: string,
    inputs: readonly (Value | null)[],
    outputs: readonly { dtype: DType; shape: Shape }[],
    attributes: Attributes = {},
    domain = '',
  ): Value[] {
    for (const input of inputs) {
      if (input && input.graph !== this) throw graphError(`${op}: input ${input.name} belongs to graph ${input.graph.name}, not ${this.name}.`)
    }
    const node: Node = { op, domain, inputs, attributes, outputs: [] }
    for (const { dtype, shape } of outputs) node.outputs.push(this.value(`${op.toLowerCase()}_${this.counter++}`, dtype, shape, node))
    this.nodes.push(node)
    return node.outputs
  }

  /** Nodes that some output needs, in order of creation. */
  liveNodes(): Node[] {
    const needed = new Set<Value>(this.outputs.map((o) => o.value))
    const live: Node[] = []
    for (let i = this.nodes.length - 1; i >= 0; i--) {
      const node = this.nodes[i] as Node
      if (!node.outputs.some((o) => needed.has(o))) continue
      live.push(node)
      for (const input of node.inputs) if (input) needed.add(input)
    }
    return live.reverse()
  }

  /** Inputs that some output needs; the others are left out of the file (an unused GPU input costs time at every run). */
  liveInputs(): Value[] {
    const used = new Set<Value | null>(this.outputs.map((o) => o.value))
    for (const node of this.liveNodes()) for (const input of node.inputs) used.add(input)
    return this.inputs.filter((input) => used.has(input))
  }

  private store(dtype: DType, data: Constant['data'], dims: readonly number[]): Value {
    const key = `${dtype}:${dims.join(',')}:${data.join(',')}`
    const known = this.constantKeys.get(key)
    if (known) return known
    const value = this.value(`const_${this.constants.length}`, dtype, dims, null)
    this.constants.push({ value, dims: [...dims], data })
    this.constantKeys.set(key, value)
    return value
  }

  private value(name: string, dtype: DType, shape: Shape, producer: Node | null): Value {
    if (shape.some((dim: Dim) => typeof dim === 'number' && (!Number.isInteger(dim) || dim < 0))) {
      throw graphError(`Graph ${this.name}: ${name} would have the shape ${show(shape)}.`)
    }
    this.names.add(name)
    return { graph: this, name, dtype, shape, producer }
  }
}

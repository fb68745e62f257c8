/** Writes a graph as ONNX bytes. The same graph always gives the same bytes. Field numbers: onnx.proto3. */

import type { Attribute, Constant, Graph, Node, Value } from './graph'
import { ELEMENT_TYPE, graphError } from './graph'
import { ProtoWriter } from './protobuf'

/** ONNX opset the graphs are written for. */
export const OPSET = 23
const IR_VERSION = 11

function writeAttribute(w: ProtoWriter, name: string, attribute: Attribute): void {
  w.string(1, name)
  if ('int' in attribute) w.int(3, attribute.int).int(20, 2)
  else if ('float' in attribute) w.float(2, attribute.float).int(20, 1)
  else if ('string' in attribute) w.string(4, attribute.string).int(20, 3)
  else {
    for (const x of attribute.ints) w.int(8, x)
    w.int(20, 7)
  }
}

function writeNode(w: ProtoWriter, node: Node, nameOf: (value: Value) => string): void {
  for (const input of node.inputs) w.string(1, input ? nameOf(input) : '')
  for (const output of node.outputs) w.string(2, nameOf(output))
  w.string(3, nameOf(node.outputs[0] as Value)).string(4, node.op)
  for (const name of Object.keys(node.attributes).sort()) {
    w.message(5, (a) => writeAttribute(a, name, node.attributes[name] as Attribute))
  }
  w.string(7, node.domain)
}

function writeTensor(w: ProtoWriter, { value, dims, data }: Constant): void {
  for (const dim of dims) w.int(1, dim)
  w.int(2, ELEMENT_TYPE[value.dtype]).string(8, value.name)
  w.raw(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
}

function writeValueInfo(w: ProtoWriter, name: string, value: Value): void {
  w.string(1, name).message(2, (type) =>
    type.message(1, (tensor) => {
      tensor.int(1, ELEMENT_TYPE[value.dtype]).message(2, (shape) => {
        for (const dim of value.shape) shape.message(1, (d) => (typeof dim === 'number' ? d.int(1, dim) : d.string(2, dim)))
      })
    }),
  )
}

/**
 * The graph as a serialised ONNX ModelProto: only nodes, inputs and constants that an output needs.
 * Throws when there is no output or when an output is itself an input or constant (onnxruntime handles those badly).
 */
export function toOnnx(graph: Graph): Uint8Array {
  if (graph.outputs.length === 0) throw graphError(`Graph ${graph.name} has no outputs.`)
  const renamed = new Map<Value, string>()
  for (const { name, value } of graph.outputs) {
    if (!value.producer) throw graphError(`Graph ${graph.name}: output ${name} is an input or a constant.`)
    if (renamed.has(value)) throw graphError(`Graph ${graph.name}: outputs ${renamed.get(value) ?? ''} and ${name} are one value.`)
    renamed.set(value, name)
  }
  const nameOf = (value: Value): string => renamed.get(value) ?? value.name
  const nodes = graph.liveNodes()
  const used = new Set<Value | null>(nodes.flatMap((node) => node.inputs))

  const writer = new ProtoWriter().int(1, IR_VERSION).string(2, 'grpo-playground')
  writer.message(7, (g) => {
    for (const node of nodes) g.message(1, (w) => writeNode(w, node, nameOf))
    g.string(2, graph.name)
    for (const constant of graph.constants) if (used.has(constant.value)) g.message(5, (w) => writeTensor(w, constant))
    for (const input of graph.liveInputs()) g.message(11, (w) => writeValueInfo(w, input.name, input))
    for (const { name, value } of graph.outputs) g.message(12, (w) => writeValueInfo(w, name, value))
  })
  writer.message(8, (o) => o.string(1, '').int(2, OPSET))
  writer.message(8, (o) => o.string(1, 'com.microsoft').int(2, 1))
  return writer.finish()
}

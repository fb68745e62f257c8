/** Cuts a graph in two: values that were computed before become inputs of what comes after, which is copied into a graph of its own. */

import type { Shape } from './dims'
import { Graph, type Node, type Value } from './graph'

/** Operators whose results are worth keeping; everything between them is cheaper to compute again than to hand over. */
const COSTLY = new Set(['Gemm', 'MatMul', 'MatMulNBits'])

/** Grows with the square of a dimension, as attention's weights do: measured, handing it over costs what computing it again does. */
const isQuadratic = ({ shape }: Value): boolean => {
  const symbols = shape.flatMap((dim) => (typeof dim === 'string' ? dim.split('*').filter((factor) => !/^\d+$/.test(factor)) : []))
  return new Set(symbols).size < symbols.length
}

/**
 * What must be kept of `forward` (the first nodes of a graph) so that the rest of the graph need not multiply the forward's matrices again:
 * the costly values from which everything that the rest reads can be had cheaply.
 */
export function worthKeeping(graph: Graph, forward: ReadonlySet<Node>): Value[] {
  const kept = new Set<Value>()
  const seen = new Set<Value>()
  const keep = (value: Value): void => {
    if (seen.has(value) || !value.producer) return
    seen.add(value)
    if (COSTLY.has(value.producer.op) && !isQuadratic(value)) kept.add(value)
    else for (const input of value.producer.inputs) if (input) keep(input)
  }
  for (const node of graph.liveNodes()) {
    if (forward.has(node)) continue
    for (const input of node.inputs) if (input?.producer && forward.has(input.producer)) keep(input)
  }
  return [...kept]
}

/** The part of a graph that leads to its outputs from the `cut` values, which become inputs under the names given. */
export function after(graph: Graph, name: string, cut: ReadonlyMap<Value, string>): Graph {
  const out = new Graph(name)
  const copies = new Map<Value, Value>()
  const needed = nodesAfter(graph, cut)
  const copy = (value: Value): Value => {
    const known = copies.get(value)
    if (known) return known
    const cutName = cut.get(value)
    const constant = graph.constants.find((c) => c.value === value)
    const made = cutName !== undefined ? out.input(cutName, value.dtype, value.shape) : constant ? out.copyConstant(constant) : out.input(value.name, value.dtype, value.shape)
    copies.set(value, made)
    return made
  }
  // Inputs in their old order, whatever reads them first.
  const read = new Set(needed.flatMap(({ inputs }) => inputs))
  for (const input of graph.inputs) if (read.has(input)) copy(input)
  for (const node of needed) {
    const outputs = node.outputs.map(({ dtype, shape }): { dtype: Value['dtype']; shape: Shape } => ({ dtype, shape }))
    const made = out.node(node.op, node.inputs.map((input) => input && copy(input)), outputs, node.attributes, node.domain)
    node.outputs.forEach((value, i) => copies.set(value, made[i] as Value))
  }
  for (const { name: label, value } of graph.outputs) out.output(label, copy(value))
  return out
}

function nodesAfter(graph: Graph, cut: ReadonlyMap<Value, string>): Node[] {
  const wanted = new Set<Value>(graph.outputs.map(({ value }) => value))
  const found: Node[] = []
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    const node = graph.nodes[i] as Node
    if (!node.outputs.some((value) => wanted.has(value) && !cut.has(value))) continue
    found.push(node)
    for (const input of node.inputs) if (input) wanted.add(input)
  }
  return found.reverse()
}

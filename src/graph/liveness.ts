/** Which buffers a run of a graph needs and for how long, node by node: what a memory plan is made of. */

import { evaluate } from './dims'
import type { DType, Graph, Node, Value } from './graph'

/** One node's turn: buffers that come to be before it runs, and those that nothing needs after it, by the names of the values that made them. */
export interface Turn {
  made: { name: string; bytes: number }[]
  freed: string[]
}

const BYTES: Record<DType, number> = { float32: 4, int32: 4, int64: 8, bool: 1, uint8: 1, uint4: 0.5 }

/** The output is the input under another shape. */
const VIEWS = new Set(['Reshape'])
/** onnxruntime lets the output take the place of an input of the same size that nobody needs any more. */
const IN_PLACE = new Set(['Add', 'Sub', 'Mul', 'Div', 'Neg', 'Exp', 'Log', 'Sqrt', 'Reciprocal', 'Sigmoid', 'Tanh'])

/**
 * The turns of a run with these values for the symbolic dims, in the order of creation, which is the order of execution. Inputs and
 * constants are not in it; the buffers of outputs are made and never freed.
 */
export function turnsOf(graph: Graph, dims: Readonly<Record<string, number>>): Turn[] {
  const nodes = graph.liveNodes()
  const bytesOf = ({ dtype, shape }: Value): number => shape.reduce((n: number, dim) => n * evaluate(dim, dims), BYTES[dtype])
  const viewed = (value: Value): Value => {
    const { producer } = value
    const input = producer && VIEWS.has(producer.op) ? producer.inputs[0] : null
    return input ? viewed(input) : value
  }
  const kept = new Set(graph.outputs.map(({ value }) => viewed(value)))
  const lastUse = new Map<Value, number>()
  nodes.forEach((node, i) => {
    for (const value of [...node.inputs, ...node.outputs]) if (value) lastUse.set(viewed(value), i)
  })
  /** The buffer that a value lies in, by the name of the value that made it. */
  const buffers = new Map<Value, string>()

  return nodes.map((node, i) => {
    const turn: Turn = { made: [], freed: [] }
    if (VIEWS.has(node.op)) return turn
    const dying = inputsOf(node).map(viewed).filter((value) => lastUse.get(value) === i && buffers.has(value) && !kept.has(value))
    const output = node.outputs[0] as Value
    const replaced = IN_PLACE.has(node.op) ? dying.find((value) => bytesOf(value) === bytesOf(output)) : undefined
    for (const value of node.outputs) {
      if (replaced) buffers.set(value, buffers.get(replaced) as string)
      else {
        buffers.set(value, value.name)
        turn.made.push({ name: value.name, bytes: bytesOf(value) })
      }
    }
    const unused = node.outputs.filter((value) => lastUse.get(value) === i && !kept.has(value))
    turn.freed = [...new Set([...dying, ...unused])].filter((value) => value !== replaced).map((value) => buffers.get(value) as string)
    return turn
  })
}

const inputsOf = (node: Node): Value[] => node.inputs.filter((value) => value !== null)

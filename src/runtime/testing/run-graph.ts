/** Runs a graph of the builder through onnxruntime on WASM, for the tests of graph/ and model/. */

import type { Graph, Value } from '../../graph/graph'
import { toOnnx } from '../../graph/onnx'
import { loadOrt } from '../ort'

export type Numbers = Float32Array | Int32Array | BigInt64Array

/** A graph that is ready to run: `run` takes each input's data and its dims where the declared ones are symbolic. */
export interface RunnableGraph {
  run(feeds: Readonly<Record<string, Numbers>>, dims?: Readonly<Record<string, readonly number[]>>): Promise<Record<string, { dims: readonly number[]; data: Numbers }>>
  release(): Promise<void>
}

const TYPE = { Float32Array: 'float32', Int32Array: 'int32', BigInt64Array: 'int64' } as const

/** Builds the session. Throws what onnxruntime throws. */
export async function runnable(graph: Graph): Promise<RunnableGraph> {
  const ort = await loadOrt('wasm', 1)
  const session = await ort.InferenceSession.create(toOnnx(graph), { executionProviders: ['wasm'], graphOptimizationLevel: 'basic' })
  const declared = new Map(graph.liveInputs().map((input) => [input.name, input]))
  return {
    async run(feeds, dims = {}) {
      const tensors = Object.entries(feeds).map(([name, data]) => {
        const type = TYPE[data.constructor.name as keyof typeof TYPE]
        return [name, new ort.Tensor(type, data as Float32Array, dims[name] ?? shapeOf(declared.get(name), name))] as const
      })
      const out = await session.run(Object.fromEntries(tensors))
      return Object.fromEntries(Object.entries(out).map(([name, tensor]) => [name, { dims: tensor.dims, data: tensor.data as Numbers }]))
    },
    release: () => session.release(),
  }
}

function shapeOf(value: Value | undefined, name: string): number[] {
  if (!value) throw new Error(`The graph has no input ${name}.`)
  return value.shape.map((dim) => {
    if (typeof dim === 'string') throw new Error(`Input ${name} needs dims: ${dim} is not a number.`)
    return dim
  })
}

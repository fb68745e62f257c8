/** (spec, name) → graph → ONNX bytes, and the manifest of a whole set. */

import { PlaygroundError } from '../core/errors'
import type { Graph } from '../graph/graph'
import { OPSET, toOnnx } from '../graph/onnx'
import { blockBackward, blockForward, decodeGraph, hostDecodeGraph, keepingBlock } from './blocks'
import { accumulate, adamw, gradNorm } from './optimizer'
import {
  embed, embedBackward, headBackwardEndGraph, headBackwardGraph, headBackwardPartGraph, headBackwardStartGraph, headForwardGraph, headForwardPartGraph,
  headSampleGraph,
} from './outer'
import { type ArtifactName, artifactNames, type ArtifactSpec } from './spec'

/** Frozen weights to bake in as initializers, for backends that copy every input (WASM). */
export interface FrozenWeights {
  block(layer: number, name: string): Float32Array
  table: Float32Array
  norm: Float32Array
  head: Float32Array
}

/** The graph of one artifact. `frozen` concerns embed, the decoders and the samplers only. */
export function buildArtifact(spec: ArtifactSpec, name: ArtifactName, frozen?: FrozenWeights): Graph {
  const blockBatch = /^block_(forward|backward)_(\d+)$/.exec(name)
  if (blockBatch) return (blockBatch[1] === 'forward' ? blockForward : blockBackward)(spec, Number(blockBatch[2]))
  const keeping = /^block_(forward_keep|backward_kept)_(\d+)$/.exec(name)
  if (keeping) return keepingBlock(spec, Number(keeping[2]))[keeping[1] === 'forward_keep' ? 'forward' : 'backward']
  const head = frozen && { norm: frozen.norm, table: frozen.head }
  switch (name) {
    case 'embed':
      return embed(spec, frozen?.table)
    case 'embed_backward':
      return embedBackward(spec)
    case 'decode':
    case 'prefill':
      return decodeGraph(spec, name, frozen && ((layer, tensor) => frozen.block(layer, tensor)))
    case 'decode_host':
    case 'prefill_host':
      return hostDecodeGraph(spec, name, frozen && ((layer, tensor) => frozen.block(layer, tensor)))
    case 'head_sample':
      return headSampleGraph(spec, false, head)
    case 'head_sample_filtered':
      return headSampleGraph(spec, true, head)
    case 'head_forward':
      return headForwardGraph(spec)
    case 'head_backward':
      return headBackwardGraph(spec)
    case 'head_forward_part':
      return headForwardPartGraph(spec)
    case 'head_backward_start':
      return headBackwardStartGraph(spec)
    case 'head_backward_part':
      return headBackwardPartGraph(spec)
    case 'head_backward_end':
      return headBackwardEndGraph(spec)
    case 'accumulate':
      return accumulate()
    case 'grad_norm':
      return gradNorm()
    case 'adamw':
      return adamw()
    default:
      throw new PlaygroundError('graph', `There is no artifact named ${name}.`)
  }
}

export interface Manifest {
  format: 'grpo-playground-artifacts/1'
  spec: ArtifactSpec
  opset: number
  onnxruntime: string
  files: { name: ArtifactName; file: string; sha256: string; bytes: number; inputs: TensorInfo[]; outputs: TensorInfo[] }[]
}

interface TensorInfo {
  name: string
  dtype: string
  shape: (number | string)[]
}

/** Every artifact of a spec (weights as inputs) and the manifest that describes them. Same spec, same bytes. */
export async function buildAll(spec: ArtifactSpec, onnxruntime: string): Promise<{ manifest: Manifest; files: Map<string, Uint8Array> }> {
  const manifest: Manifest = { format: 'grpo-playground-artifacts/1', spec, opset: OPSET, onnxruntime, files: [] }
  const files = new Map<string, Uint8Array>()
  for (const name of artifactNames(spec)) {
    const graph = buildArtifact(spec, name)
    const bytes = toOnnx(graph)
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
    manifest.files.push({
      name,
      file: `${name}.onnx`,
      sha256: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
      bytes: bytes.length,
      inputs: graph.liveInputs().map(({ name: n, dtype, shape }) => ({ name: n, dtype, shape: [...shape] })),
      outputs: graph.outputs.map(({ name: n, value }) => ({ name: n, dtype: value.dtype, shape: [...value.shape] })),
    })
    files.set(`${name}.onnx`, bytes)
  }
  return { manifest, files }
}

/** The artifacts made of decoder layers: block_forward, block_backward, and decode / prefill over the KV cache. */

import { evaluate, product } from '../graph/dims'
import { gradients } from '../graph/gradients'
import { Graph, type Value } from '../graph/graph'
import { after, worthKeeping } from '../graph/split'
import { type BlockWeights, declareBlock, decodingBlock, trainingBlock } from '../model/block'
import { hostCacheBlock } from '../model/host-cache-block'
import { blockParameters, loraParameters } from '../model/parameters'
import type { ArtifactSpec } from './spec'

/** Frozen tensors to bake in as initializers instead of inputs (WASM copies every input at every run). Safetensors names. */
export type BakedWeights = (layer: number, name: string) => Float32Array

interface BlockGraph {
  g: Graph
  x: Value
  y: Value
  weights: BlockWeights
}

function buildBlock(name: string, spec: ArtifactSpec, batch: number): BlockGraph {
  const { config, lora } = spec
  const g = new Graph(name)
  const tokens = 'tokens'
  const half = config.head_dim / 2
  const x = g.input('x', 'float32', [product([batch, tokens]), config.hidden_size])
  const context = {
    batch,
    tokens,
    positions: g.input('positions', 'int64', [batch, tokens]),
    bias: g.input('bias', 'float32', [batch, 1, tokens, tokens]),
    cos: g.input('cos', 'float32', ['positions', half]),
    sin: g.input('sin', 'float32', ['positions', half]),
  }
  const weights = declareBlock(g, spec)
  return { g, x, y: trainingBlock(x, config, lora, weights, context), weights }
}

/** x [batch · tokens, hidden], positions, bias, cos, sin, the layer's tensors → y. */
export function blockForward(spec: ArtifactSpec, batch: number): Graph {
  const { g, y } = buildBlock(`block_forward_${batch}`, spec, batch)
  g.output('y', y)
  return g
}

/**
 * x, dy → dx and the gradient of every trained tensor, named 'd.' + its name. The layer is computed again from x: only
 * block inputs are kept between forward and backward.
 */
export function blockBackward(spec: ArtifactSpec, batch: number): Graph {
  const { g, x, y, weights } = buildBlock(`block_backward_${batch}`, spec, batch)
  outputGradients(g, spec, x, y, weights)
  return g
}

function outputGradients(g: Graph, spec: ArtifactSpec, x: Value, y: Value, weights: BlockWeights): void {
  const dy = g.input('dy', 'float32', y.shape)
  const trained = trainedBlockTensors(spec)
  const [dx, ...parts] = gradients([{ output: y, seed: dy }], [x, ...trained.map((t) => weights.tensor(t.name) as Value)])
  g.output('dx', dx as Value)
  trained.forEach((tensor, i) => g.output(`d.${tensor.name}`, parts[i] as Value))
}

/**
 * blockForward and blockBackward with the costly values of the forward kept between them ('keep.0', 'keep.1', …) instead of computed again:
 * the same numbers for more memory. Few bytes enough are kept where `keptBytes` says so.
 */
export function keepingBlock(spec: ArtifactSpec, batch: number): { forward: Graph; backward: Graph } {
  const { g: forward, y: forwardY } = buildBlock(`block_forward_keep_${batch}`, spec, batch)
  const { g, x, y, weights } = buildBlock(`block_backward_kept_${batch}`, spec, batch)
  const [first, second] = [[...forward.nodes], [...g.nodes]]
  outputGradients(g, spec, x, y, weights)
  // Both graphs were built by the same code: a value of one has its twin at the same place in the other.
  const twins = new Map(second.flatMap((node, n) => node.outputs.map((value, i) => [value, first[n]?.outputs[i] as Value] as const)))
  const kept = worthKeeping(g, new Set(second))
  forward.output('y', forwardY)
  kept.forEach((value, i) => forward.output(`keep.${i}`, twins.get(value) as Value))
  return { forward, backward: after(g, `block_backward_kept_${batch}`, new Map(kept.map((value, i) => [value, `keep.${i}`]))) }
}

/** Bytes that one layer keeps of a micro-batch of `batch` rows of `tokens`. */
export function keptBytes(forward: Graph, tokens: number): number {
  const kept = forward.outputs.filter(({ name }) => name.startsWith('keep.'))
  return kept.reduce((sum, { value }) => sum + value.shape.reduce((n: number, dim) => n * evaluate(dim, { tokens }), 4), 0)
}

/** Trained tensors of a layer, in the order in which they lie in the flat parameter vector. */
export function trainedBlockTensors({ config, lora }: ArtifactSpec): { name: string; dims: number[] }[] {
  return lora ? loraParameters(config, lora) : blockParameters(config)
}

/**
 * The whole depth over new tokens and the KV cache. 'decode': one token for each of `slots` rows; 'prefill': n tokens of
 * one row. x [rows, hidden], past.{i}.key/value [slots, kv, capacity, head_dim] → y [rows, hidden], present.{i}.key/value.
 * Layers' tensors are inputs named 'layers.{i}.' + name, or baked in.
 */
export function decodeGraph(spec: ArtifactSpec, mode: 'decode' | 'prefill', baked?: BakedWeights): Graph {
  const { config, lora } = spec
  const g = new Graph(mode)
  const [slots, tokens] = mode === 'decode' ? ['slots', 1] : [1, 'tokens']
  const half = config.head_dim / 2
  const rows = product([slots, tokens])
  const shared = {
    lastIndex: g.input('last_index', 'int32', [slots]),
    total: g.input('total', 'int32', [1]),
    cos: g.input('cos', 'float32', ['positions', half]),
    sin: g.input('sin', 'float32', ['positions', half]),
  }
  let x = g.input('x', 'float32', [rows, config.hidden_size])
  const cache = [slots, config.num_key_value_heads, 'capacity', config.head_dim]
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const weights = declareLayer(g, spec, layer, baked)
    const past = { key: g.input(`past.${layer}.key`, 'float32', cache), value: g.input(`past.${layer}.value`, 'float32', cache) }
    const [y, key, value] = decodingBlock(x, config, lora, weights, { slots, tokens, ...shared, ...past })
    g.output(`present.${layer}.key`, key)
    g.output(`present.${layer}.value`, value)
    x = y
  }
  g.output('y', x)
  return g
}

/**
 * The same over a cache that the host keeps ('decode_host', 'prefill_host'): past.{i}.key [slots, kv, head_dim, capacity] and
 * past.{i}.value [slots, kv, capacity, head_dim] are read only; present.{i}.key and value [slots, kv, tokens, head_dim] are the new
 * tokens alone, which the host appends. past_bias [slots, 1, 1, capacity], new_bias [1, 1, tokens, tokens] (prefill).
 */
export function hostDecodeGraph(spec: ArtifactSpec, mode: 'decode_host' | 'prefill_host', baked?: BakedWeights): Graph {
  const { config, lora } = spec
  const { head_dim: dim, num_key_value_heads: kv } = config
  const g = new Graph(mode)
  const [slots, tokens] = mode === 'decode_host' ? ['slots', 1] : [1, 'tokens']
  const shared = {
    positions: g.input('positions', 'int64', [slots, tokens]),
    pastBias: g.input('past_bias', 'float32', [slots, 1, 1, 'capacity']),
    newBias: mode === 'prefill_host' ? g.input('new_bias', 'float32', [1, 1, tokens, tokens]) : null,
    cos: g.input('cos', 'float32', ['positions', dim / 2]),
    sin: g.input('sin', 'float32', ['positions', dim / 2]),
  }
  let x = g.input('x', 'float32', [product([slots, tokens]), config.hidden_size])
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const weights = declareLayer(g, spec, layer, baked)
    const past = {
      key: g.input(`past.${layer}.key`, 'float32', [slots, kv, dim, 'capacity']),
      value: g.input(`past.${layer}.value`, 'float32', [slots, kv, 'capacity', dim]),
    }
    const [y, key, value] = hostCacheBlock(x, config, lora, weights, { slots, tokens, ...shared, ...past })
    g.output(`present.${layer}.key`, key)
    g.output(`present.${layer}.value`, value)
    x = y
  }
  g.output('y', x)
  return g
}

/** A layer's tensors as inputs named 'layers.{i}.' + name, the frozen ones baked in where asked. */
function declareLayer(g: Graph, spec: ArtifactSpec, layer: number, baked: BakedWeights | undefined): BlockWeights {
  const bake = baked ? (name: string, dims: number[]): Value => g.weight(`layers.${layer}.${name}`, baked(layer, name), dims) : undefined
  return declareBlock(g, spec, `layers.${layer}.`, bake)
}

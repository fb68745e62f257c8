/** Reverse-mode differentiation: walks a built graph backwards and appends the nodes of the gradient to it. */

import { show } from './dims'
import { graphError, type Node, type Value } from './graph'
import { add } from './ops/elementwise'
import { describe } from './ops/check'
import { RULES } from './rules'

/**
 * Gradients of Σ (output · seed) by each of `wanted`.
 * @param seeds d loss / d output for each output that the loss depends on; same shapes as the outputs
 * @returns one value per wanted, in order; null where no path leads from it to an output
 * Throws when a node on the way has no gradient rule.
 */
export function gradients(seeds: readonly { output: Value; seed: Value }[], wanted: readonly Value[]): (Value | null)[] {
  const graph = wanted[0]?.graph
  if (!graph) return []
  const forward = [...graph.nodes]
  const active = reachableFrom(wanted, forward)
  const gradient = new Map<Value, Value>()
  const accumulate = (value: Value, part: Value): void => {
    if (part.shape.join() !== value.shape.join()) {
      throw graphError(`Gradient of ${describe(value)} came out as ${show(part.shape)}.`)
    }
    const sum = gradient.get(value)
    gradient.set(value, sum ? add(sum, part) : part)
  }
  for (const { output, seed } of seeds) accumulate(output, seed)

  for (let i = forward.length - 1; i >= 0; i--) {
    const node = forward[i] as Node
    const upstream = node.outputs.map((output) => gradient.get(output) ?? null)
    if (upstream.every((g) => g === null) || !node.inputs.some((input) => input && active.has(input))) continue
    const rule = RULES[node.op]
    if (!rule) throw graphError(`${node.op} (${node.outputs[0]?.name ?? ''}) has no gradient rule.`)
    const needed = node.inputs.map((input) => input !== null && active.has(input))
    rule(node, upstream, needed).forEach((part, k) => {
      const input = node.inputs[k]
      if (part && input && needed[k]) accumulate(input, part)
    })
  }
  return wanted.map((value) => gradient.get(value) ?? null)
}

/** Values that depend on one of `wanted`, themselves included. */
function reachableFrom(wanted: readonly Value[], nodes: readonly Node[]): Set<Value> {
  const active = new Set<Value>(wanted)
  for (const node of nodes) {
    if (node.inputs.some((input) => input && active.has(input))) for (const output of node.outputs) active.add(output)
  }
  return active
}

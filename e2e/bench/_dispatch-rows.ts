/** Counted dispatches become rows: per layer, for the rest, and for the whole of a real model. No browser in here. */

import type { ArtifactName } from '../../src/artifacts/spec'
import type { DispatchCounts } from '../models/dispatch-run'
import type { BenchRow } from '../tools/bench-rows'

/** What one layer more costs, and what is there without layers. */
export interface DispatchSummary {
  embed: number
  decode: { layer: number; rest: number }
  prefill: { layer: number; rest: number }
  blockForward: number
  blockBackward: number
  accumulate: number
  gradNorm: number
  adamw: number
}

/** Of the head that goes by parts of the vocabulary. */
export interface HeadSummary {
  sample: number
  sampleFiltered: number
  forwardPart: number
  backwardStart: number
  backwardPart: number
  backwardEnd: number
}

/** Dispatches of one run. Throws when the artifact did not run. */
function of(counts: DispatchCounts, name: ArtifactName): number {
  const found = counts[name]
  if (!found) throw new Error(`${name} did not run: there is nothing to count.`)
  return found.dispatches
}

/**
 * From two models that differ in their layers alone; only decoding is read of the one with more. Throws when an artifact did not run, or
 * the difference is no whole number a layer.
 */
export function summarize(few: { layers: number; counts: DispatchCounts }, many: { layers: number; counts: DispatchCounts }): DispatchSummary {
  const split = (name: ArtifactName): { layer: number; rest: number } => {
    const layer = (of(many.counts, name) - of(few.counts, name)) / (many.layers - few.layers)
    if (!Number.isInteger(layer)) throw new Error(`${name} took ${layer} dispatches a layer: no whole number.`)
    return { layer, rest: of(few.counts, name) - few.layers * layer }
  }
  return {
    embed: of(few.counts, 'embed'),
    decode: split('decode'),
    prefill: split('prefill'),
    blockForward: of(few.counts, 'block_forward_1'),
    blockBackward: of(few.counts, 'block_backward_1'),
    accumulate: of(few.counts, 'accumulate'),
    gradNorm: of(few.counts, 'grad_norm'),
    adamw: of(few.counts, 'adamw'),
  }
}

export function summarizeHead(counts: DispatchCounts): HeadSummary {
  return {
    sample: of(counts, 'head_sample'),
    sampleFiltered: of(counts, 'head_sample_filtered'),
    forwardPart: of(counts, 'head_forward_part'),
    backwardStart: of(counts, 'head_backward_start'),
    backwardPart: of(counts, 'head_backward_part'),
    backwardEnd: of(counts, 'head_backward_end'),
  }
}

const row = (name: string, value: number): BenchRow => ({ bench: 'dispatches', row: name, value, unit: 'dispatches' })

/** Rows of one architecture and precision; `kind` is such as 'qwen3/int4'. */
export function blockRows(kind: string, s: DispatchSummary): BenchRow[] {
  return [
    row(`${kind}/decode per layer`, s.decode.layer),
    row(`${kind}/decode besides layers`, s.decode.rest + s.embed),
    row(`${kind}/prefill per layer`, s.prefill.layer),
    row(`${kind}/training per layer`, s.blockForward + s.blockBackward),
    row(`${kind}/block_forward`, s.blockForward),
    row(`${kind}/block_backward`, s.blockBackward),
  ]
}

/** Rows of the head of a precision, whose training passes take `parts` parts of the vocabulary. */
export function headRows(precision: string, head: HeadSummary, parts: number): BenchRow[] {
  return [
    row(`head/${precision}/sample`, head.sample),
    row(`head/${precision}/sample filtered`, head.sampleFiltered),
    row(`head/${precision}/forward, ${parts} parts`, parts * head.forwardPart),
    row(`head/${precision}/backward, ${parts} parts`, trainedHead(head, parts) - parts * head.forwardPart),
  ]
}

const trainedHead = (head: HeadSummary, parts: number): number => parts * (head.forwardPart + head.backwardPart) + head.backwardStart + head.backwardEnd

/** Rows of a whole model: a token of all slots, a micro-batch, and the optimizer's share. */
export function modelRows(model: string, layers: number, s: DispatchSummary, head: HeadSummary, parts: number): BenchRow[] {
  return [
    row(`${model}/decoded token of all slots`, s.embed + s.decode.rest + layers * s.decode.layer + head.sample),
    row(`${model}/training micro-batch`, s.embed + layers * (s.blockForward + s.blockBackward) + trainedHead(head, parts) + s.accumulate),
    row(`${model}/optimizer step`, s.gradNorm + s.adamw),
  ]
}

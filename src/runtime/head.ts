/**
 * The output head in training: log-probs and entropies of the scored rows, and d loss / d x from their derivatives. In chunks of rows
 * and, where the vocabulary or the precision asks for it, in parts of the vocabulary: never a [tokens, vocab] array of a whole batch.
 */

import { headInParts } from '../artifacts/spec'
import { joinParts } from '../model/head-parts'
import { type Device, type DeviceTensor, hostFloats, hostIntegers } from './device'
import { integers, type LoadedModel, scalar, type Scope } from './model'
import type { HeadRow } from './packing'

/** Most of the head that exists at once. */
export interface HeadLimits {
  /** Elements of a [rows, vocab] array. */
  logits: number
  /** Elements of the output table that are made float32. */
  table: number
  /** Rows of a chunk when the head goes by parts: with more of them the table is dequantised less often. */
  rows: number
}

/** 16 MB of logits, 64 MB of the table. */
export const HEAD_LIMITS: HeadLimits = { logits: 4_000_000, table: 16_000_000, rows: 512 }
/** Parts are multiples of this, so that few shapes occur. */
const PART_STEP = 64

export interface HeadPlan {
  /** Rows of a chunk. */
  rows: number
  /** Vocabulary ids of a part; the whole vocabulary when the head does not go by parts. */
  part: number
}

/** How the head is divided for `rows` scored rows. */
export function planHead({ spec, headLimits }: Pick<LoadedModel, 'spec' | 'headLimits'>, rows: number): HeadPlan {
  const { vocab_size: vocab, hidden_size: hidden } = spec.config
  if (!headInParts(spec)) return { rows: Math.max(1, Math.floor(headLimits.logits / vocab)), part: vocab }
  const chunk = Math.max(1, Math.min(rows, headLimits.rows))
  const most = Math.floor(Math.min(headLimits.logits / chunk, headLimits.table / hidden) / PART_STEP) * PART_STEP
  const parts = Math.ceil(vocab / Math.max(PART_STEP, most))
  return { rows: headLimits.rows, part: Math.min(vocab, Math.ceil(vocab / parts / PART_STEP) * PART_STEP) }
}

export interface HeadChunk {
  rows: HeadRow[]
  /** Row of x for each head row, target id. */
  at: DeviceTensor
  target: DeviceTensor
  part: number
  logprob: Float32Array
  entropy: Float32Array
  lse: Float32Array
  argmax: Int32Array
  meanLogit: Float32Array
}

/** Scores `rows` of x [all, hidden]. */
export async function scoreRows(model: LoadedModel, x: DeviceTensor, rows: readonly HeadRow[], temperature: number): Promise<HeadChunk[]> {
  const plan = planHead(model, rows.length)
  const chunks: HeadChunk[] = []
  for (let start = 0; start < rows.length; start += plan.rows) {
    const part = rows.slice(start, start + plan.rows)
    const at = integers(model.device, part.map((row) => row.at))
    const target = integers(model.device, part.map((row) => row.target))
    const score = headInParts(model.spec) ? scoreByParts : scoreWhole
    chunks.push({ rows: part, at, target, part: plan.part, ...(await score(model, x, { rows: part, at, target, part: plan.part }, temperature)) })
  }
  return chunks
}

type Placed = Pick<HeadChunk, 'rows' | 'at' | 'target' | 'part'>
type Scores = Pick<HeadChunk, 'logprob' | 'entropy' | 'lse' | 'argmax' | 'meanLogit'>

function headInputs({ device, weights }: LoadedModel, at: DeviceTensor, temperature: number): Record<string, DeviceTensor> {
  return { rows: at, norm: weights.norm, ...weights.head, inverse_temperature: scalar(device, 1 / temperature) }
}

async function scoreWhole(model: LoadedModel, x: DeviceTensor, { at, target }: Placed, temperature: number): Promise<Scores> {
  const { device, sessions } = model
  const out = await device.run(await sessions.get('head_forward'), { x, ...headInputs(model, at, temperature), target })
  device.free(...Object.values(out))
  return {
    logprob: hostFloats(out.logprob),
    entropy: hostFloats(out.entropy),
    lse: hostFloats(out.lse),
    argmax: Int32Array.from(hostIntegers(out.argmax), Number),
    meanLogit: hostFloats(out.mean_logit),
  }
}

/** Vocabulary ids of the parts: [start, ids as an input]. */
function* partsOf(device: Device, vocab: number, part: number): Generator<{ start: number; size: number; ids: DeviceTensor }> {
  for (let start = 0; start < vocab; start += part) {
    const size = Math.min(part, vocab - start)
    yield { start, size, ids: device.host(Int32Array.from({ length: size }, (_, i) => start + i), [size]) }
  }
}

async function scoreByParts(model: LoadedModel, x: DeviceTensor, { rows, at, part }: Placed, temperature: number): Promise<Scores> {
  const { device, sessions, spec } = model
  const n = rows.length
  const parts: { max: Float32Array; sum: Float32Array; weighted: Float32Array }[] = []
  const targetLogit = new Float32Array(n)
  const best = new Float32Array(n).fill(-Infinity)
  const argmax = new Int32Array(n)
  const meanLogit = new Float32Array(n)
  for (const { start, size, ids } of partsOf(device, spec.config.vocab_size, part)) {
    const local = integers(device, rows.map(({ target }) => Math.min(size - 1, Math.max(0, target - start))))
    const out = await device.run(await sessions.get('head_forward_part'), { x, ...headInputs(model, at, temperature), ids, target: local })
    device.free(...Object.values(out))
    const [max, sum, weighted, total, logit] = [out.max, out.sum, out.weighted, out.total, out.target_logit].map(hostFloats) as [Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]
    const likeliest = hostIntegers(out.argmax)
    parts.push({ max, sum, weighted })
    rows.forEach(({ target }, i) => {
      meanLogit[i] = (meanLogit[i] as number) + (total[i] as number) / spec.config.vocab_size
      if (target >= start && target < start + size) targetLogit[i] = logit[i] as number
      // A number that is none is the best nowhere, and stays visible in the sums.
      if ((max[i] as number) > (best[i] as number)) {
        best[i] = max[i] as number
        argmax[i] = start + Number(likeliest[i])
      }
    })
  }
  const scores: Scores = { logprob: new Float32Array(n), entropy: new Float32Array(n), lse: new Float32Array(n), argmax, meanLogit }
  for (let i = 0; i < n; i++) {
    const ofRow = parts.map(({ max, sum, weighted }) => ({ max: max[i] as number, sum: sum[i] as number, weighted: weighted[i] as number }))
    const joined = joinParts(ofRow, targetLogit[i] as number)
    scores.logprob[i] = joined.logprob
    scores.entropy[i] = joined.entropy
    scores.lse[i] = joined.lse
  }
  return scores
}

/** Derivatives of one head row. */
export type RowGradient = (sequence: number, token: number) => { dLogprob: number; dEntropy: number }

/** Inputs that say what each head row's slopes are, and where its gradient goes among the `all` rows of x. */
export function slopeInputs(device: Device, chunk: HeadChunk, all: number, gradientOf: RowGradient): Record<string, DeviceTensor> {
  const n = chunk.rows.length
  const dLogprob = new Float32Array(n)
  const dEntropy = new Float32Array(n)
  const inverse = new Int32Array(all)
  const present = new Float32Array(all)
  chunk.rows.forEach(({ sequence, token, at }, i) => {
    const gradient = gradientOf(sequence, token)
    dLogprob[i] = gradient.dLogprob
    dEntropy[i] = gradient.dEntropy
    inverse[at] = i
    present[at] = 1
  })
  return {
    target: chunk.target,
    lse: device.host(chunk.lse, [n]),
    entropy: device.host(chunk.entropy, [n]),
    d_logprob: device.host(dLogprob, [n]),
    d_entropy: device.host(dEntropy, [n]),
    inverse: device.host(inverse, [all]),
    present: device.host(present, [all, 1]),
  }
}

/** A chunk's share of d loss / d x, added to dx_in [all, hidden]: the whole head's outputs ('dx', and in full training 'd_norm', 'd_table'). */
export async function headGradient(
  model: LoadedModel,
  scope: Scope,
  x: DeviceTensor,
  chunk: HeadChunk,
  slopes: Record<string, DeviceTensor>,
  before: Record<string, DeviceTensor>,
  temperature: number,
): Promise<Record<string, DeviceTensor>> {
  const { device, sessions, spec } = model
  const inputs = { x, ...headInputs(model, chunk.at, temperature), ...slopes }
  if (!headInParts(spec)) return device.run(await sessions.get('head_backward'), { ...inputs, ...before })
  let acc = (await device.run(await sessions.get('head_backward_start'), inputs)).acc as DeviceTensor
  for (const { ids } of partsOf(device, spec.config.vocab_size, chunk.part)) {
    const next = (await device.run(await sessions.get('head_backward_part'), { ...inputs, ids, acc_in: acc })).acc as DeviceTensor
    device.free(acc)
    acc = next
  }
  scope.keep(acc)
  return device.run(await sessions.get('head_backward_end'), { ...inputs, ...before, acc })
}

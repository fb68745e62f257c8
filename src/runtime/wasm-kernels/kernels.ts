/** The inner loops of our own engine on WebAssembly, as code: products over packed matrices, norms, rotation, attention, SwiGLU. */

import { type Code, f32, f32x4, FunctionWriter, get, i32, type Local, set, type Type, when, type WrittenFunction, writeModule } from './assembler'
import { writeScores8, writeSoftmax8, writeSoftmaxBackward8, writeSpread8 } from './attention-code'
import { expIn } from './exponential'
import { writeLanes, writeMix, writeOuter, writePanels, writeProduct, writeProduct8, writeScores, writeSpread, writeTouch } from './product-code'

export { DEPTH_STEP, LANES, OUTER_COLUMNS, OUTER_ROWS, PANEL } from './product-code'

export type Product = (a: number, aStride: number, w: number, out: number, outStride: number, depth: number, panels: number, from: number, b: number, bStride: number, rank: number, steps: number, apart: number) => void

/** Addresses and strides are bytes, counts are elements. */
export interface Kernels {
  /**
   * out [R, 4 · panels] = what lies at `from`, if anything (in steps of outStride), + a [R, depth] · w + b [R, rank] · what lies behind w in
   * each panel, for R = 4, 2, 1 rows: over one panel, or over several at once (`panels` a multiple of them). The depth lies in pieces of so many
   * `steps`, and `apart` bytes from the end of one to the beginning of the next. Every element is summed in the order of the depth, so a row
   * does not depend on its company.
   */
  product4: Product
  product4of2: Product
  product2: Product
  product2of4: Product
  product1: Product
  product1of4: Product
  /**
   * The same for 5 to 8 `rows` that are lanes, a and b one behind the other: one pass over w for all of them. Sums of a piece of the depth go
   * to `after` as they are, [4 · panels, 8], and the next piece begins with them, given as `before`; 0 where there is none. `skip`: bytes of a
   * panel that are left out behind what is multiplied.
   */
  product8(a: number, w: number, out: number, outStride: number, depth: number, panels: number, from: number, skip: number, before: number, after: number, rows: number): void
  /** x [rows ≤ 8, dim] as a matrix in panels, [8, dim]: what lies behind the last row is zero. */
  panels(x: number, xStride: number, rows: number, out: number, dim: number): void
  /** Reads so many bytes, for the cache. */
  touch(at: number, size: number): number
  /** x [rows, depth] as lanes [depth, 8]: what lies behind the last row is the last row again. */
  lanes(x: number, xStride: number, rows: number, out: number, depth: number): void
  /** out [4, 8 · tiles] = Σ over rows of p[row, 0..4]ᵀ · q[row, …], or added to it. */
  outer(p: number, pStride: number, q: number, qStride: number, out: number, outStride: number, rows: number, tiles: number, add: number): void
  /** out = x / rms(x) · w; returns 1 / rms(x). */
  rmsNorm(x: number, w: number, out: number, n: number, epsilon: number): number
  /** The same for rows, whose 1 / rms go to `rstd`. */
  rmsNorms(x: number, xStride: number, w: number, out: number, outStride: number, rstd: number, rstdStride: number, rows: number, n: number, epsilon: number): void
  /** dx, or dx += with `add`, of rmsNorm. */
  rmsNormBackward(x: number, w: number, dy: number, rstd: number, dx: number, n: number, add: number): void
  /** Rotates the halves of one head; `sign` −1 turns back. In place allowed. */
  rotate(x: number, cos: number, sin: number, out: number, half: number, sign: number): void
  /** The same forward for heads side by side. */
  rotateHeads(x: number, cos: number, sin: number, out: number, half: number, heads: number): void
  copy(from: number, to: number, n: number): void
  /** out[j] = scale · q · k[j], j < n; writes on to the next multiple of 4. */
  scores(q: number, k: number, kStride: number, out: number, n: number, dim: number, scale: number): void
  /** The same for the queries q and q + dim at once; the second's scores go outStride bytes behind the first's. */
  scores2(q: number, k: number, kStride: number, out: number, outStride: number, n: number, dim: number, scale: number): void
  /** Scores of eight queries, lanes [dim, 8], over n keys: [n, 8]; writes on to the next multiple of 4 keys. */
  scores8(q: number, k: number, kStride: number, out: number, n: number, dim: number, scale: number): void
  /** In place over [n, 8], each lane for itself. */
  softmax8(p: number, n: number): void
  /** d[j] = p[j] · (d[j] − Σ p · d) · scale over [n, 8]. */
  softmaxBackward8(p: number, d: number, n: number, scale: number): void
  /** out[j] += Σ over eight queries of weights [n, 8] · x, queries in panels, [dim / 4, 8, 4]. */
  spread8(weights: number, x: number, out: number, outStride: number, n: number, dim: number): void
  /** In place over n scores; what lies behind them up to a multiple of 4 is overwritten. */
  softmax(p: number, n: number): void
  /** out = Σ p[j] · v[j], or added to it. */
  mix(p: number, v: number, vStride: number, out: number, n: number, dim: number, add: number): void
  /** The same for two: p and what lies pStride bytes behind it, to out and out + dim. */
  mix2(p: number, pStride: number, v: number, vStride: number, out: number, n: number, dim: number, add: number): void
  dot(a: number, b: number, n: number): number
  /** out += scale · x */
  axpy(out: number, x: number, n: number, scale: number): void
  /** out[j] += weights[j] · x, for j < n. */
  spread(weights: number, x: number, out: number, outStride: number, n: number, dim: number): void
  /** out[j] = p[j] · (d[j] − mean) · scale */
  softmaxBackward(p: number, d: number, out: number, n: number, mean: number, scale: number): void
  /** Of n logits z: their maximum, Σ e and Σ e · (z − maximum) with e = exp(z − maximum) go to out. What lies behind them up to a multiple of 4 becomes very small. */
  logitSums(z: number, n: number, out: number): void
  /** out[j] = −exp(z[j] − lse) · (a + b · (z[j] − lse + entropy)): the slope of a · log p(target) + b · H but for the target's own a. In place allowed. */
  logitSlopes(z: number, out: number, n: number, lse: number, a: number, b: number, entropy: number): void
  /** out = silu(gate) · up */
  swiglu(gate: number, up: number, out: number, n: number): void
  swigluBackward(gate: number, up: number, dOut: number, dGate: number, dUp: number, n: number): void
}

const bytes = (count: Code): Code => i32.mul(count, i32.const(4))
const plus = (local: Local, by: Code): Code => set(local, i32.add(get(local), by))
const sumOf = (v: Code): Code => f32.add(f32.add(f32x4.lane(v, 0), f32x4.lane(v, 1)), f32.add(f32x4.lane(v, 2), f32x4.lane(v, 3)))

/** A function whose pointers walk together, four floats a turn. */
function walking(name: string, types: readonly Type[], result: Type | null, write: (writer: FunctionWriter, walk: (pointers: readonly Local[], n: Local, body: Code) => Code) => Code): WrittenFunction {
  const writer = new FunctionWriter(types, result)
  const i = writer.local('i32')
  const walk = (pointers: readonly Local[], n: Local, body: Code): Code => writer.loop(i, get(n), 4, [...body, ...pointers.flatMap((pointer) => plus(pointer, i32.const(16)))])
  return { name, writer, body: write(writer, walk) }
}

const back = (pointer: Local, n: Local): Code => set(pointer, i32.sub(get(pointer), bytes(get(n))))

function writeNorms(): WrittenFunction[] {
  const forward = walking('rmsNorm', ['i32', 'i32', 'i32', 'i32', 'f32'], 'f32', (writer, walk) => {
    const [x, w, out, n, epsilon] = writer.params as [Local, Local, Local, Local, Local]
    const squares = writer.local('v128')
    const rstd = writer.local('f32')
    return [
      ...walk([x], n, set(squares, f32x4.add(get(squares), f32x4.mul(f32x4.load(get(x)), f32x4.load(get(x)))))),
      ...back(x, n),
      ...set(rstd, f32.div(f32.const(1), f32.sqrt(f32.add(f32.div(sumOf(get(squares)), f32.fromInt(get(n))), get(epsilon))))),
      ...walk([x, w, out], n, f32x4.store(get(out), f32x4.mul(f32x4.mul(f32x4.load(get(x)), f32x4.splat(get(rstd))), f32x4.load(get(w))))),
      ...get(rstd),
    ]
  })
  const backward = walking('rmsNormBackward', ['i32', 'i32', 'i32', 'f32', 'i32', 'i32', 'i32'], null, (writer, walk) => {
    const [x, w, dy, rstd, dx, n, add] = writer.params as [Local, Local, Local, Local, Local, Local, Local]
    const [sum, slope] = writer.localsOf('v128', 2) as [Local, Local]
    const along = writer.local('f32')
    const weighted = f32x4.mul(f32x4.load(get(w)), f32x4.load(get(dy)))
    return [
      ...walk([x, w, dy], n, set(sum, f32x4.add(get(sum), f32x4.mul(weighted, f32x4.load(get(x)))))),
      ...[x, w, dy].flatMap((pointer) => back(pointer, n)),
      // rstd³ · Σ w dy x / n
      ...set(along, f32.div(f32.mul(f32.mul(f32.mul(get(rstd), get(rstd)), get(rstd)), sumOf(get(sum))), f32.fromInt(get(n)))),
      ...walk([x, w, dy, dx], n, [
        ...set(slope, f32x4.sub(f32x4.mul(weighted, f32x4.splat(get(rstd))), f32x4.mul(f32x4.load(get(x)), f32x4.splat(get(along))))),
        ...when(get(add), set(slope, f32x4.add(get(slope), f32x4.load(get(dx))))),
        ...f32x4.store(get(dx), get(slope)),
      ]),
    ]
  })
  const several = walking('rmsNorms', [...Array.from({ length: 9 }, () => 'i32' as const), 'f32'], null, (writer, walk) => {
    const [x, xStride, w, out, outStride, rstd, rstdStride] = writer.params as [Local, Local, Local, Local, Local, Local, Local]
    const [rows, n, epsilon] = writer.params.slice(7) as [Local, Local, Local]
    const [row, from, weight, to] = writer.localsOf('i32', 4) as [Local, Local, Local, Local]
    const squares = writer.local('v128')
    const value = writer.local('f32')
    return writer.loop(row, get(rows), 1, [
      ...set(squares, f32x4.const(0)),
      ...set(from, get(x)),
      ...walk([from], n, set(squares, f32x4.add(get(squares), f32x4.mul(f32x4.load(get(from)), f32x4.load(get(from)))))),
      ...set(value, f32.div(f32.const(1), f32.sqrt(f32.add(f32.div(sumOf(get(squares)), f32.fromInt(get(n))), get(epsilon))))),
      ...f32.store(get(rstd), get(value)),
      ...set(from, get(x)),
      ...set(weight, get(w)),
      ...set(to, get(out)),
      ...walk([from, weight, to], n, f32x4.store(get(to), f32x4.mul(f32x4.mul(f32x4.load(get(from)), f32x4.splat(get(value))), f32x4.load(get(weight))))),
      ...plus(x, get(xStride)),
      ...plus(out, get(outStride)),
      ...plus(rstd, get(rstdStride)),
    ])
  })
  return [forward, several, backward]
}

function writeRotations(): WrittenFunction[] {
  const several = walking('rotateHeads', Array.from({ length: 6 }, () => 'i32' as const), null, (writer, walk) => {
    const [x, cos, sin, out, half, heads] = writer.params as [Local, Local, Local, Local, Local, Local]
    const [head, x2, out2, c, s] = writer.localsOf('i32', 5) as [Local, Local, Local, Local, Local]
    const [a, b, cosine, sine] = writer.localsOf('v128', 4) as [Local, Local, Local, Local]
    return writer.loop(head, get(heads), 1, [
      ...set(x2, i32.add(get(x), bytes(get(half)))),
      ...set(out2, i32.add(get(out), bytes(get(half)))),
      ...set(c, get(cos)),
      ...set(s, get(sin)),
      ...walk([x, x2, c, s, out, out2], half, [
        ...set(a, f32x4.load(get(x))),
        ...set(b, f32x4.load(get(x2))),
        ...set(cosine, f32x4.load(get(c))),
        ...set(sine, f32x4.load(get(s))),
        ...f32x4.store(get(out), f32x4.sub(f32x4.mul(get(a), get(cosine)), f32x4.mul(get(b), get(sine)))),
        ...f32x4.store(get(out2), f32x4.add(f32x4.mul(get(b), get(cosine)), f32x4.mul(get(a), get(sine)))),
      ]),
      ...set(x, get(x2)),
      ...set(out, get(out2)),
    ])
  })
  return [writeRotate(), several]
}

function writeRotate(): WrittenFunction {
  return walking('rotate', ['i32', 'i32', 'i32', 'i32', 'i32', 'f32'], null, (writer, walk) => {
    const [x, cos, sin, out, half, sign] = writer.params as [Local, Local, Local, Local, Local, Local]
    const [x2, out2] = writer.localsOf('i32', 2) as [Local, Local]
    const [a, b, c, s] = writer.localsOf('v128', 4) as [Local, Local, Local, Local]
    return [
      ...set(x2, i32.add(get(x), bytes(get(half)))),
      ...set(out2, i32.add(get(out), bytes(get(half)))),
      ...walk([x, x2, cos, sin, out, out2], half, [
        ...set(a, f32x4.load(get(x))),
        ...set(b, f32x4.load(get(x2))),
        ...set(c, f32x4.load(get(cos))),
        ...set(s, f32x4.mul(f32x4.load(get(sin)), f32x4.splat(get(sign)))),
        ...f32x4.store(get(out), f32x4.sub(f32x4.mul(get(a), get(c)), f32x4.mul(get(b), get(s)))),
        ...f32x4.store(get(out2), f32x4.add(f32x4.mul(get(b), get(c)), f32x4.mul(get(a), get(s)))),
      ]),
    ]
  })
}

function writeSoftmax(): WrittenFunction[] {
  const forward = walking('softmax', ['i32', 'i32'], null, (writer, walk) => {
    const [p, n] = writer.params as [Local, Local]
    const [j, padded] = writer.localsOf('i32', 2) as [Local, Local]
    const [most, sum, value] = writer.localsOf('v128', 3) as [Local, Local, Local]
    const exp = expIn(writer)
    const pairs = (v: Local): Code => f32.max(f32.max(f32x4.lane(get(v), 0), f32x4.lane(get(v), 1)), f32.max(f32x4.lane(get(v), 2), f32x4.lane(get(v), 3)))
    const end = i32.add(get(p), bytes(get(n)))
    return [
      ...set(padded, i32.and(i32.add(get(n), i32.const(3)), i32.const(-4))),
      ...writer.loop(j, i32.sub(get(padded), get(n)), 1, f32.store(i32.add(end, bytes(get(j))), f32.const(-Infinity))),
      ...set(most, f32x4.const(-Infinity)),
      ...walk([p], padded, set(most, f32x4.max(get(most), f32x4.load(get(p))))),
      ...back(p, padded),
      ...set(most, f32x4.splat(pairs(most))),
      ...walk([p], padded, [
        ...set(value, exp(f32x4.sub(f32x4.load(get(p)), get(most)))),
        ...set(sum, f32x4.add(get(sum), get(value))),
        ...f32x4.store(get(p), get(value)),
      ]),
      ...back(p, padded),
      ...set(sum, f32x4.splat(f32.div(f32.const(1), sumOf(get(sum))))),
      ...walk([p], padded, f32x4.store(get(p), f32x4.mul(f32x4.load(get(p)), get(sum)))),
    ]
  })
  const backward = walking('softmaxBackward', ['i32', 'i32', 'i32', 'i32', 'f32', 'f32'], null, (writer, walk) => {
    const [p, d, out, n, mean, scale] = writer.params as [Local, Local, Local, Local, Local, Local]
    const slope = f32x4.mul(f32x4.load(get(p)), f32x4.sub(f32x4.load(get(d)), f32x4.splat(get(mean))))
    return walk([p, d, out], n, f32x4.store(get(out), f32x4.mul(slope, f32x4.splat(get(scale)))))
  })
  return [forward, backward]
}

function writeVectors(): WrittenFunction[] {
  const dot = walking('dot', ['i32', 'i32', 'i32'], 'f32', (writer, walk) => {
    const [a, b, n] = writer.params as [Local, Local, Local]
    const sum = writer.local('v128')
    return [...walk([a, b], n, set(sum, f32x4.add(get(sum), f32x4.mul(f32x4.load(get(a)), f32x4.load(get(b)))))), ...sumOf(get(sum))]
  })
  const axpy = walking('axpy', ['i32', 'i32', 'i32', 'f32'], null, (writer, walk) => {
    const [out, x, n, scale] = writer.params as [Local, Local, Local, Local]
    return walk([out, x], n, f32x4.store(get(out), f32x4.add(f32x4.load(get(out)), f32x4.mul(f32x4.load(get(x)), f32x4.splat(get(scale))))))
  })
  const copy = walking('copy', ['i32', 'i32', 'i32'], null, (writer, walk) => {
    const [from, to, n] = writer.params as [Local, Local, Local]
    return walk([from, to], n, f32x4.store(get(to), f32x4.load(get(from))))
  })
  return [dot, axpy, copy]
}

function writeSwiglu(): WrittenFunction[] {
  const sigmoidIn = (writer: FunctionWriter): ((x: Code) => Code) => {
    const exp = expIn(writer)
    return (x) => f32x4.div(f32x4.const(1), f32x4.add(f32x4.const(1), exp(f32x4.neg(x))))
  }
  const forward = walking('swiglu', ['i32', 'i32', 'i32', 'i32'], null, (writer, walk) => {
    const [gate, up, out, n] = writer.params as [Local, Local, Local, Local]
    const g = writer.local('v128')
    const sigmoid = sigmoidIn(writer)
    return walk([gate, up, out], n, [...set(g, f32x4.load(get(gate))), ...f32x4.store(get(out), f32x4.mul(f32x4.mul(get(g), sigmoid(get(g))), f32x4.load(get(up))))])
  })
  const backward = walking('swigluBackward', ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], null, (writer, walk) => {
    const [gate, up, dOut, dGate, dUp, n] = writer.params as [Local, Local, Local, Local, Local, Local]
    const [g, s, d, u] = writer.localsOf('v128', 4) as [Local, Local, Local, Local]
    const sigmoid = sigmoidIn(writer)
    return walk([gate, up, dOut, dGate, dUp], n, [
      ...set(g, f32x4.load(get(gate))),
      ...set(s, sigmoid(get(g))),
      ...set(d, f32x4.load(get(dOut))),
      ...set(u, f32x4.load(get(up))),
      ...f32x4.store(get(dUp), f32x4.mul(get(d), f32x4.mul(get(g), get(s)))),
      // silu′ = s · (1 + g · (1 − s))
      ...f32x4.store(get(dGate), f32x4.mul(f32x4.mul(f32x4.mul(get(d), get(u)), get(s)), f32x4.add(f32x4.const(1), f32x4.mul(get(g), f32x4.sub(f32x4.const(1), get(s)))))),
    ])
  })
  return [forward, backward]
}

/** A logit that no softmax sees, and whose product with its share is next to nothing. */
const UNSEEN = -1e30

function writeLogits(): WrittenFunction[] {
  const sums = walking('logitSums', ['i32', 'i32', 'i32'], null, (writer, walk) => {
    const [z, n, out] = writer.params as [Local, Local, Local]
    const [j, padded] = writer.localsOf('i32', 2) as [Local, Local]
    const [most, sum, weighted, e, d] = writer.localsOf('v128', 5) as [Local, Local, Local, Local, Local]
    const exp = expIn(writer)
    const lanes = [0, 1, 2, 3].map((lane) => f32x4.lane(get(most), lane)) as [Code, Code, Code, Code]
    return [
      ...set(padded, i32.and(i32.add(get(n), i32.const(3)), i32.const(-4))),
      ...writer.loop(j, i32.sub(get(padded), get(n)), 1, f32.store(i32.add(i32.add(get(z), bytes(get(n))), bytes(get(j))), f32.const(UNSEEN))),
      ...set(most, f32x4.const(-Infinity)),
      ...walk([z], padded, set(most, f32x4.max(get(most), f32x4.load(get(z))))),
      ...back(z, padded),
      ...set(most, f32x4.splat(f32.max(f32.max(lanes[0], lanes[1]), f32.max(lanes[2], lanes[3])))),
      ...walk([z], padded, [
        ...set(d, f32x4.sub(f32x4.load(get(z)), get(most))),
        ...set(e, exp(get(d))),
        ...set(sum, f32x4.add(get(sum), get(e))),
        ...set(weighted, f32x4.add(get(weighted), f32x4.mul(get(e), get(d)))),
      ]),
      ...f32.store(get(out), f32x4.lane(get(most), 0)),
      ...f32.store(get(out), sumOf(get(sum)), 4),
      ...f32.store(get(out), sumOf(get(weighted)), 8),
    ]
  })
  const slopes = walking('logitSlopes', ['i32', 'i32', 'i32', 'f32', 'f32', 'f32', 'f32'], null, (writer, walk) => {
    const [z, out, n, lse, a, b, entropy] = writer.params as [Local, Local, Local, Local, Local, Local, Local]
    const d = writer.local('v128')
    const exp = expIn(writer)
    return walk([z, out], n, [
      ...set(d, f32x4.sub(f32x4.load(get(z)), f32x4.splat(get(lse)))),
      ...f32x4.store(
        get(out),
        f32x4.neg(f32x4.mul(exp(get(d)), f32x4.add(f32x4.splat(get(a)), f32x4.mul(f32x4.splat(get(b)), f32x4.add(get(d), f32x4.splat(get(entropy))))))),
      ),
    ])
  })
  return [sums, slopes]
}

/** The module; it imports memory 'env.memory', whose exports are Kernels. */
export function kernelModule(shared: boolean, maximumPages: number): Uint8Array<ArrayBuffer> {
  const functions = [
    writeProduct('product4', 4, 1, 1),
    writeProduct('product4of2', 4, 2, 1),
    writeProduct('product2', 2, 1, 1),
    writeProduct('product2of4', 2, 4, 1),
    writeProduct('product1', 1, 1, 1),
    writeProduct('product1of4', 1, 4, 2),
    writeProduct8(),
    writeLanes(),
    writePanels(),
    writeTouch(),
    writeOuter(),
    ...writeNorms(),
    ...writeRotations(),
    writeScores(1),
    writeScores(2),
    writeScores8(),
    writeSoftmax8(),
    writeSoftmaxBackward8(),
    writeSpread8(),
    ...writeSoftmax(),
    writeMix(1),
    writeMix(2),
    writeSpread(),
    ...writeVectors(),
    ...writeSwiglu(),
    ...writeLogits(),
  ]
  return writeModule(functions, shared, maximumPages)
}

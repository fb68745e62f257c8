/** One memory of our own kernels: places in it, matrices packed for products, and the loops that call the kernels over rows. */

import { PlaygroundError } from '../../core/errors'
import { type Kernels, kernelModule, LANES, OUTER_COLUMNS, OUTER_ROWS, PANEL, type Product } from './kernels'
import { layoutOf, type Packed, PANEL_BYTES, panelSize, type Piece, roundUp, sizeOf, writeExtra, writeMatrix } from './packed'

const PAGE = 65_536
/** Memory may grow up to this: 2 GB, or less where the browser does not promise as much. */
const MOST_PAGES = [32_768, 16_384, 8192] as const
/** Places begin at multiples of this, bytes. */
const ALIGN = 64
/** Reads of whole blocks may go so far past what was asked for, bytes: three rows of the widest layer and more. */
const SLACK = 1024 * 1024
/** Bytes of a matrix that a block of rows goes over before the next: they stay in a core's own cache. */
const CACHED_BYTES = 192 * 1024
/** Depths of a product's two factors that lanes are made of; deeper ones are multiplied four rows at a time. */
const LANE_DEPTHS = [4096, 512] as const
/** Panels whose sums wait for the next piece of the depth. */
const WAITING_PANELS = 512
/** Bytes of a matrix from which it comes from memory each time: one stream after the other is read, not several side by side. */
const FAR_BYTES = 1024 * 1024
/** Bytes of a thread's lanes, and with the sums that wait. */
const LANES_END = 4 * LANES * (LANE_DEPTHS[0] + LANE_DEPTHS[1])
export const LANE_BYTES = LANES_END + 4 * LANES * PANEL * WAITING_PANELS

/** Rows in memory: where the first begins, bytes; floats from one to the next. */
export interface Rows {
  at: number
  stride: number
}

export class Heap {
  private view: Float32Array
  private readonly free: { at: number; size: number }[] = []
  private readonly taken = new Map<number, number>()
  private end = ALIGN + LANE_BYTES

  private constructor(
    readonly memory: WebAssembly.Memory,
    readonly module: WebAssembly.Module,
    readonly kernels: Kernels,
    /** Room for this thread's lanes. */
    private readonly lanes: number,
  ) {
    this.view = new Float32Array(memory.buffer)
  }

  /** A new memory; shared between threads when there are several. Throws what the browser throws where it refuses memory or code. */
  static make(threads: number): Heap {
    const shared = threads > 1
    for (const maximum of MOST_PAGES) {
      try {
        const memory = new WebAssembly.Memory({ initial: 16, maximum, shared })
        return Heap.over(memory, new WebAssembly.Module(kernelModule(shared, maximum)))
      } catch (error) {
        if (!(error instanceof RangeError) || maximum === MOST_PAGES[MOST_PAGES.length - 1]) throw error
      }
    }
    throw new RangeError('No memory.')
  }

  /** The same memory as another thread sees it, with LANE_BYTES at `lanes` of its own; only the first allocates. */
  static over(memory: WebAssembly.Memory, module: WebAssembly.Module, lanes = ALIGN): Heap {
    return new Heap(memory, module, new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernels, lanes)
  }

  /** Bytes in use. */
  get allocatedBytes(): number {
    return [...this.taken.values()].reduce((sum, size) => sum + size, 0)
  }

  /** Room for `count` floats, whose content is undefined. Throws PlaygroundError('memory') when the browser gives no more. */
  allocate(count: number): number {
    const size = roundUp(Math.max(1, count) * 4, ALIGN)
    const fits = this.free.findIndex((block) => block.size >= size)
    const block = this.free[fits]
    if (block) {
      const { at } = block
      if (block.size === size) this.free.splice(fits, 1)
      else [block.at, block.size] = [at + size, block.size - size]
      this.taken.set(at, size)
      return at
    }
    const at = this.end
    this.grow(at + size + SLACK)
    this.end = at + size
    this.taken.set(at, size)
    return at
  }

  /** Gives places back; neighbours become one. */
  release(...places: readonly number[]): void {
    for (const at of places) {
      const size = this.taken.get(at)
      if (size === undefined) throw new Error(`Nothing was allocated at ${at}.`)
      this.taken.delete(at)
      this.free.push({ at, size })
    }
    this.free.sort((a, b) => a.at - b.at)
    for (let i = this.free.length - 1; i > 0; i--) {
      const [before, here] = [this.free[i - 1], this.free[i]] as [{ at: number; size: number }, { at: number; size: number }]
      if (before.at + before.size !== here.at) continue
      before.size += here.size
      this.free.splice(i, 1)
    }
    const last = this.free[this.free.length - 1]
    if (last && last.at + last.size === this.end) {
      this.end = last.at
      this.free.pop()
    }
  }

  /** `count` floats from `at` on; good until the memory grows. */
  floats(at: number, count: number): Float32Array {
    if (this.view.buffer !== this.memory.buffer) this.view = new Float32Array(this.memory.buffer)
    return this.view.subarray(at / 4, at / 4 + count)
  }

  /** The same for whole numbers. */
  integers(at: number, count: number): Int32Array {
    return new Int32Array(this.memory.buffer, at, count)
  }

  /** A place that holds `values`. */
  put(values: ArrayLike<number>): number {
    const at = this.allocate(values.length)
    this.floats(at, values.length).set(values)
    return at
  }

  /** W [out, input], as PyTorch has it, for y = W x. `extra`: depth of a second matrix that will lie behind it. */
  pack(w: Float32Array, out: number, input: number, extra = 0): Packed {
    const packed = this.room(input, out, extra, false)
    this.repack(packed, w)
    return packed
  }

  /** W [out, input] for dx = Wᵀ dy. */
  packTransposed(w: Float32Array, out: number, input: number, extra = 0): Packed {
    const packed = this.room(out, input, extra, true)
    this.repackTransposed(packed, w)
    return packed
  }

  /** Overwrites a matrix by another [columns, depth] of the same shape. */
  repack(packed: Packed, w: Float32Array): void {
    const input = w.length / packed.columns
    writeMatrix(this.panelsOf(packed), packed, input, (k, n) => w[n * input + k] as number)
  }

  /** The same for W [depth, columns], times `scale`. */
  repackTransposed(packed: Packed, w: Float32Array, scale = 1): void {
    const { columns } = packed
    writeMatrix(this.panelsOf(packed), packed, w.length / columns, (k, n) => (w[k * columns + n] as number) * scale)
  }

  /** Writes columns of what lies behind a matrix, from `column` on. */
  packExtra(packed: Packed, column: number, columns: number, value: (k: number, n: number) => number): void {
    writeExtra(this.panelsOf(packed), packed, column, columns, value)
  }

  private room(given: number, columns: number, extra: number, whole: boolean): Packed {
    const packed = layoutOf((count) => this.allocate(count), given, columns, extra, whole)
    this.panelsOf(packed).fill(0)
    return packed
  }

  private panelsOf(packed: Packed): Float32Array {
    return this.floats(packed.at, sizeOf(packed))
  }

  /**
   * y [rows, 4 · panels] = x · w, added to what lies at `from` in y's strides, if anything (it may be y), and to `second` [rows, extra] times
   * what lies behind w. `part` takes the panels from … to below …
   */
  multiply(x: Rows, rows: number, w: Packed, y: Rows, from = 0, [first, last]: readonly [number, number] = [0, w.panels], second: Rows | null = null): void {
    const narrow = w.depth <= LANE_DEPTHS[0] && w.extra <= LANE_DEPTHS[1]
    if (rows > 4 && rows <= LANES && narrow) return this.multiplyLanes(x, rows, w, y, from, [first, last], second)
    const size = PANEL_BYTES * (w.depth + w.extra)
    if (rows <= 4 && w.panels * size >= FAR_BYTES) {
      const joined = second && narrow ? this.joinedRows(x, rows, w, second) : null
      const { at: left, stride } = joined ?? x
      for (const { at, first: step, depth, extra } of w.pieces) {
        const piece = { ...w, at, ...(joined ? { depth: depth + extra, extra: 0 } : { depth, extra }) }
        this.multiplyRows({ at: left + 4 * step, stride }, rows, piece, y, step === 0 ? from : y.at, [first, last], joined ? null : second, true)
      }
      return
    }
    const most = rows <= 2 || rows === 4 ? last - first : Math.max(4, 2 * Math.floor(CACHED_BYTES / size / 2))
    for (let panel = first; panel < last; panel += most) {
      const count = Math.min(most, last - panel)
      if (w.panels * size >= FAR_BYTES) for (const { at } of w.pieces) this.kernels.touch(at + panel * panelSize(w), count * panelSize(w))
      this.multiplyRows(x, rows, w, y, from, [panel, panel + count], second, false)
    }
  }

  /** Few rows with `second` behind each: a loop that ends twice a panel waits for memory twice. */
  private joinedRows(x: Rows, rows: number, { depth, extra }: Packed, second: Rows): Rows {
    const joined = { at: this.lanes, stride: depth + extra }
    for (let row = 0; row < rows; row++) {
      const to = joined.at + 4 * joined.stride * row
      this.kernels.copy(x.at + 4 * x.stride * row, to, depth)
      this.kernels.copy(second.at + 4 * second.stride * row, to + 4 * depth, extra)
    }
    return joined
  }

  private multiplyLanes(x: Rows, rows: number, w: Packed, y: Rows, onto: number, [from, to]: readonly [number, number], second: Rows | null): void {
    const { kernels, lanes } = this
    kernels.lanes(x.at, x.stride * 4, rows, lanes, w.depth)
    if (second) kernels.lanes(second.at, second.stride * 4, rows, lanes + 4 * LANES * w.depth, w.extra)
    const [size, last, waiting] = [panelSize(w), w.pieces.length - 1, lanes + LANES_END]
    for (let panel = from; panel < to; panel += WAITING_PANELS) {
      const [count, shifted] = [Math.min(WAITING_PANELS, to - panel), panel * PANEL * 4]
      for (let i = 0; i <= last; i++) {
        const { at, first, depth, extra } = w.pieces[i] as Piece
        const rank = second ? extra : 0
        const start = i > 0 || onto === 0 ? 0 : onto + shifted
        const [before, after] = [i > 0 ? waiting : 0, i < last ? waiting : 0]
        kernels.product8(lanes + 4 * LANES * first, at + panel * size, y.at + shifted, y.stride * 4, depth + rank, count, start, PANEL_BYTES * (extra - rank), before, after, rows)
      }
    }
  }

  /** `far`: w comes from memory and is read from its beginning to its end. */
  private multiplyRows(x: Rows, rows: number, w: Packed, y: Rows, from: number, [first, last]: readonly [number, number], second: Rows | null, far: boolean): void {
    const { kernels } = this
    const { steps } = w
    const size = panelSize(w)
    const apart = (w.panels - 1) * size
    const [stride, rank] = second ? [second.stride * 4, w.extra] : [0, 0]
    let row = 0
    for (const height of [4, 2, 1] as const) {
      const [several, single, together] =
        height === 4 ? ([kernels.product4of2, kernels.product4, 2] as const) : height === 2 ? ([kernels.product2of4, kernels.product2, 4] as const) : ([kernels.product1of4, kernels.product1, 4] as const)
      const rest = far ? first : last - ((last - first) % together)
      for (; row + height <= rows; row += height) {
        const given = (panel: number, count: number, product: Product): void => {
          if (count === 0) return
          const place = 4 * (y.stride * row + PANEL * panel)
          const b = second ? second.at + stride * row : 0
          product(x.at + 4 * x.stride * row, x.stride * 4, w.at + panel * size, y.at + place, y.stride * 4, w.depth, count, from === 0 ? 0 : from + place, b, stride, rank, steps, apart)
        }
        given(first, rest - first, several)
        given(rest, last - rest, single)
      }
    }
  }

  /** out [pWidth, qWidth] = pᵀ · q over rows; widths are multiples of 4 and 8. `part`: of p's columns, in steps of 4, from … to below … */
  outer(p: Rows, pWidth: number, q: Rows, qWidth: number, rows: number, out: Rows, [from, to]: readonly [number, number] = [0, pWidth / OUTER_ROWS]): void {
    for (let i = from; i < to; i++) {
      const column = i * OUTER_ROWS
      this.kernels.outer(p.at + column * 4, p.stride * 4, q.at, q.stride * 4, out.at + column * out.stride * 4, out.stride * 4, rows, qWidth / OUTER_COLUMNS, 0)
    }
  }

  private grow(bytes: number): void {
    const missing = Math.ceil((bytes - this.memory.buffer.byteLength) / PAGE)
    if (missing <= 0) return
    try {
      this.memory.grow(missing)
    } catch (error) {
      throw new PlaygroundError('memory', `The engine asked for ${Math.round(bytes / 1e6)} MB, which the browser did not give.`, 'Lower num_generations, prompts_per_step or max_completion_length.', { cause: error })
    }
  }
}

/** One memory of our own kernels: places in it, matrices packed for products, and the loops that call the kernels over rows. */

import { PlaygroundError } from '../../core/errors'
import { DEPTH_STEP, type Kernels, kernelModule, OUTER_ROWS, PANEL } from './kernels'

const PAGE = 65_536
/** Memory may grow up to this: 2 GB, or less where the browser does not promise as much. */
const MOST_PAGES = [32_768, 16_384, 8192] as const
/** Places begin at multiples of this, bytes. */
const ALIGN = 64
/** Reads of whole blocks may go so far past what was asked for, bytes: three rows of the widest layer and more. */
const SLACK = 1024 * 1024
/** Bytes of a matrix that a block of rows goes over before the next: they stay in a core's own cache. */
const CACHED_BYTES = 192 * 1024

/** Rows in memory: where the first begins, bytes; floats from one to the next. */
export interface Rows {
  at: number
  stride: number
}

/** [depth, columns] cut into panels, the rest of the last one zero. */
export interface Packed {
  at: number
  depth: number
  columns: number
  panels: number
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

export class Heap {
  private view: Float32Array
  private readonly free: { at: number; size: number }[] = []
  private readonly taken = new Map<number, number>()
  private end = ALIGN

  private constructor(
    readonly memory: WebAssembly.Memory,
    readonly module: WebAssembly.Module,
    readonly kernels: Kernels,
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

  /** The same memory as another thread sees it; only the first allocates. */
  static over(memory: WebAssembly.Memory, module: WebAssembly.Module): Heap {
    return new Heap(memory, module, new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernels)
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

  /** W [out, input], as PyTorch has it, for y = W x. `into` overwrites an earlier pack of the same shape; `scale` multiplies it. */
  pack(w: Float32Array, out: number, input: number, into?: Packed, scale = 1): Packed {
    return this.packWith(input, out, (k, n) => (w[n * input + k] as number) * scale, into)
  }

  /** W [out, input] for dx = Wᵀ dy. */
  packTransposed(w: Float32Array, out: number, input: number, into?: Packed, scale = 1): Packed {
    return this.packWith(out, input, (k, n) => (w[k * input + n] as number) * scale, into)
  }

  private packWith(given: number, columns: number, value: (k: number, n: number) => number, into?: Packed): Packed {
    const depth = roundUp(given, DEPTH_STEP)
    const panels = Math.ceil(columns / PANEL)
    const at = into?.at ?? this.allocate(panels * PANEL * depth)
    const to = this.floats(at, panels * PANEL * depth)
    for (let panel = 0; panel < panels; panel++) {
      const width = Math.min(PANEL, columns - panel * PANEL)
      for (let k = 0; k < depth; k++) {
        const place = (panel * depth + k) * PANEL
        for (let c = 0; c < PANEL; c++) to[place + c] = k < given && c < width ? value(k, panel * PANEL + c) : 0
      }
    }
    return { at, depth, columns, panels }
  }

  /** y [rows, 8 · panels] = x · w, or y += with `add`. `part` takes panels from … to below … */
  multiply(x: Rows, rows: number, w: Packed, y: Rows, add: boolean, [from, to]: readonly [number, number] = [0, w.panels]): void {
    const { kernels } = this
    const [xStride, yStride] = [x.stride * 4, y.stride * 4]
    const panelBytes = w.depth * PANEL * 4
    const flag = add ? 1 : 0
    const most = rows <= 4 ? to - from : Math.max(4, Math.floor(CACHED_BYTES / panelBytes))
    for (let first = from; first < to; first += most) {
      const count = Math.min(most, to - first)
      const matrix = w.at + first * panelBytes
      const out = y.at + first * PANEL * 4
      let row = 0
      for (; row + 4 <= rows; row += 4) kernels.product4(x.at + row * xStride, xStride, matrix, out + row * yStride, yStride, w.depth, count, flag)
      for (const size of [2, 1] as const) {
        for (; row + size <= rows; row += size) {
          const [a, b] = [x.at + row * xStride, out + row * yStride]
          const [several, single, together] = size === 2 ? ([kernels.product2of2, kernels.product2, 2] as const) : ([kernels.product1of4, kernels.product1, 4] as const)
          const whole = count - (count % together)
          several(a, xStride, matrix, b, yStride, w.depth, whole, flag)
          single(a, xStride, matrix + whole * panelBytes, b + whole * PANEL * 4, yStride, w.depth, count - whole, flag)
        }
      }
    }
  }

  /** out [pWidth, qWidth] = pᵀ · q over rows; widths are multiples of 4 and 8. `part`: of p's columns, in steps of 4, from … to below … */
  outer(p: Rows, pWidth: number, q: Rows, qWidth: number, rows: number, out: Rows, [from, to]: readonly [number, number] = [0, pWidth / OUTER_ROWS]): void {
    for (let i = from; i < to; i++) {
      const column = i * OUTER_ROWS
      this.kernels.outer(p.at + column * 4, p.stride * 4, q.at, q.stride * 4, out.at + column * out.stride * 4, out.stride * 4, rows, qWidth / PANEL)
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

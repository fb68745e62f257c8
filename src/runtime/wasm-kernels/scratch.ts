/** Places in the kernels' memory that are given back together. */

import type { Heap, Rows } from './heap'

export class Scratch {
  readonly places: number[] = []

  constructor(private readonly heap: Heap) {}

  /** [count, stride], undefined content. */
  rows(count: number, stride: number): Rows {
    const at = this.heap.allocate(count * stride)
    this.places.push(at)
    return { at, stride }
  }

  floats(values: ArrayLike<number>): number {
    const { at } = this.rows(1, values.length)
    this.heap.floats(at, values.length).set(values)
    return at
  }

  integers(values: ArrayLike<number>): number {
    const { at } = this.rows(1, values.length)
    this.heap.integers(at, values.length).set(values)
    return at
  }

  release(): void {
    this.heap.release(...this.places.splice(0))
  }

  /** Scratch for as long as `work` takes. */
  static during<T>(heap: Heap, work: (scratch: Scratch) => T): T {
    const scratch = new Scratch(heap)
    try {
      return work(scratch)
    } finally {
      scratch.release()
    }
  }
}

/**
 * onnxruntime's pool of GPU buffers, simulated: requests are rounded up to a bucket, buffers that are given back are used again after
 * the next flush, and a bucket keeps only so many. It is the 'bucket' mode, the default of the WebGPU provider in 1.30.
 */

/** Bytes of a bucket, and how many free buffers it keeps. */
const BUCKETS: readonly (readonly [bytes: number, kept: number])[] = [
  [64, 250], [128, 200], [256, 200], [512, 200], [2048, 230], [4096, 200], [8192, 50], [16_384, 50], [32_768, 50], [65_536, 50], [131_072, 50],
  [262_144, 50], [524_288, 50], [1_048_576, 50], [2_097_152, 30], [4_194_304, 20], [8_388_608, 10], [12_582_912, 10], [16_777_216, 10],
  [26_214_400, 15], [33_554_432, 22], [44_236_800, 2], [58_982_400, 6], [67_108_864, 6], [134_217_728, 6], [167_772_160, 6],
]

/** Dispatches between two flushes; the end of a run is one too. */
const FLUSH = 16

export class BufferPool {
  /** Bytes of all buffers, used and free. */
  total = 0
  largest = 0
  private readonly free = new Map<number, number>()
  private pending: number[] = []
  private dispatches = 0

  /** Takes a buffer of at least `bytes`; returns its size, by which it is given back. */
  take(bytes: number): number {
    const bucket = BUCKETS.find(([size]) => size >= bytes)
    const size = bucket ? bucket[0] : Math.ceil(bytes / 16) * 16
    const there = this.free.get(size) ?? 0
    if (there > 0) this.free.set(size, there - 1)
    else {
      this.total += size
      this.largest = Math.max(this.largest, size)
    }
    return size
  }

  give(size: number): void {
    this.pending.push(size)
  }

  dispatch(): void {
    if (++this.dispatches >= FLUSH) this.flush()
  }

  /** What was given back can be used again, or is gone. */
  flush(): void {
    for (const size of this.pending) {
      const limit = BUCKETS.find(([bytes]) => bytes === size)?.[1] ?? 0
      const there = this.free.get(size) ?? 0
      if (there < limit) this.free.set(size, there + 1)
      else this.total -= size
    }
    this.pending = []
    this.dispatches = 0
  }
}

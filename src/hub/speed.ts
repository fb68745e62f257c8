/** How far a download is: bytes of each file in, total, speed and time left out. Pure but for the clock, which is given. */

import type { LoadProgress } from '../core/events'

/** The speed is that of the last so many ms. */
const WINDOW_MS = 5000
/** Less than this is no speed yet. */
const LEAST_MS = 500

interface FileCount {
  done: number
  total: number
}

/** One load of a model. Every byte that will be read is announced by `expect` and told by `read`. */
export class LoadMeter {
  private readonly files = new Map<string, FileCount>()
  /** Total done at moments of the window, all from the same place (disk or network). */
  private samples: { ms: number; done: number }[] = []
  private fromDisk = false
  private done = 0

  /** @param now milliseconds of a clock that only goes forward */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** So many more bytes of a file are going to be read, after those that have been. */
  expect(file: string, bytes: number): void {
    const count = this.files.get(file)
    if (count) count.total = count.done + bytes
    else this.files.set(file, { done: 0, total: bytes })
  }

  /** Bytes of a file that have just come, from the store or the network. */
  read(file: string, bytes: number, fromDisk: boolean): void {
    const count = this.files.get(file) ?? { done: 0, total: bytes }
    this.files.set(file, count)
    // A disk is a hundred times as fast: its speed says nothing about the download that follows.
    if (fromDisk !== this.fromDisk || this.samples.length === 0) this.samples = [{ ms: this.now(), done: this.done }]
    this.fromDisk = fromDisk
    this.done += bytes
    count.done += bytes
    count.total = Math.max(count.total, count.done)
    const ms = this.now()
    const last = this.samples.at(-1)
    // A sample each 50 ms is enough for a window of seconds.
    if (last && this.samples.length > 1 && ms - (this.samples.at(-2)?.ms ?? 0) < 50) Object.assign(last, { ms, done: this.done })
    else this.samples.push({ ms, done: this.done })
    while (this.samples.length > 2 && (this.samples[1]?.ms ?? ms) <= ms - WINDOW_MS) this.samples.shift()
  }

  /** What a person is shown about the file that was read last. */
  progress(file: string): LoadProgress {
    const count = this.files.get(file)
    const total = [...this.files.values()].reduce((sum, each) => sum + each.total, 0)
    const [first, last] = [this.samples[0], this.samples.at(-1)]
    // Up to now, not to the last byte: a connection that hangs must be seen to slow down.
    const ms = this.now() - (first?.ms ?? 0)
    const speed = first && last && ms >= LEAST_MS ? ((last.done - first.done) / ms) * 1000 : null
    const secondsLeft = speed ? (total - this.done) / speed : null
    return {
      what: file,
      done: count?.done ?? 0,
      total: count?.total ?? null,
      overall: { done: this.done, total, bytesPerSecond: speed, secondsLeft, fromDisk: this.fromDisk },
    }
  }
}

/** Pause, go on and slow down: the training loop awaits the gate between tokens. */

import { sleep } from '../core/sleep'

export class Gate {
  private closed: { promise: Promise<void>; open: () => void } | null = null
  /** Who waits at it. */
  private waiting = 0
  /** Least time between two ticks, ms. */
  private interval = 0
  private lastTick = -Infinity
  /** Ends the present sleep: what it waits for has changed. */
  private nudge = new AbortController()

  /**
   * @param onWait called when the loop has arrived at the closed gate
   * @param now ms from any origin
   */
  constructor(
    private readonly onWait: () => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The loop stands at the closed gate: it computes nothing until it is opened. */
  get holds(): boolean {
    return this.closed !== null && this.waiting > 0
  }

  close(): void {
    if (this.closed) return
    let open = (): void => undefined
    const promise = new Promise<void>((resolve) => {
      open = resolve
    })
    this.closed = { promise, open }
    this.wake()
  }

  open(): void {
    this.closed?.open()
    this.closed = null
    this.wake()
  }

  /** From now on so much time passes between two ticks; 0 lets them come as fast as they can. */
  pace(interval: number): void {
    this.interval = interval
    this.wake()
  }

  /** The loop has written a token in every slot: whoever comes next waits until another is due. */
  tick(): void {
    this.lastTick = this.now()
  }

  /** Resolves when it is open and a tick is due. Closing it ends the wait for the tick: a pause does not wait for it. */
  pass = async (): Promise<void> => {
    for (;;) {
      if (this.closed) {
        this.waiting++
        this.onWait()
        await this.closed.promise
        this.waiting--
        continue
      }
      const left = this.lastTick + this.interval - this.now()
      if (left <= 0) return
      await sleep(left, this.nudge.signal)
    }
  }

  private wake(): void {
    this.nudge.abort()
    this.nudge = new AbortController()
  }
}

/** Pause and go on: the training loop awaits the gate between tokens. */

export class Gate {
  private closed: { promise: Promise<void>; open: () => void } | null = null

  /** @param onWait called when the loop has arrived at the closed gate */
  constructor(private readonly onWait: () => void) {}

  close(): void {
    if (this.closed) return
    let open = (): void => undefined
    const promise = new Promise<void>((resolve) => {
      open = resolve
    })
    this.closed = { promise, open }
  }

  open(): void {
    this.closed?.open()
    this.closed = null
  }

  /** Resolves at once when open, else when it is opened. */
  pass = async (): Promise<void> => {
    while (this.closed) {
      this.onWait()
      await this.closed.promise
    }
  }
}

/** Lets one loop sleep until something happens; what happens while it is awake is not lost. */
export class Wake {
  private pending = false
  private resolve: (() => void) | null = null

  /** Ends the present sleep, or the next one at once. */
  up(): void {
    this.pending = true
    this.resolve?.()
  }

  async wait(): Promise<void> {
    if (!this.pending) await new Promise<void>((resolve) => (this.resolve = resolve))
    this.resolve = null
    this.pending = false
  }
}

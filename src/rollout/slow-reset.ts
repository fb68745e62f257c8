/** Says of an environment that does not answer to reset that it is waited for: until then nothing of an episode is seen. */

import type { TrainEvent } from '../core/events'

/** Milliseconds after which the silence is worth a word. */
export const SLOW_RESET_MS = 3000

export class SlowResets {
  private readonly timers = new Set<ReturnType<typeof setTimeout>>()
  private slow = 0

  constructor(
    private readonly onEvent: (event: TrainEvent) => void,
    private readonly after = SLOW_RESET_MS,
  ) {}

  /** The answer as it comes; `name`: of the environment that is asked. */
  async watch<T>(name: string, answer: Promise<T>): Promise<T> {
    let told = false
    const timer = setTimeout(() => {
      told = true
      this.timers.delete(timer)
      if (this.slow++ === 0) this.onEvent({ type: 'environment-away', text: `${name} has not answered to reset for ${this.after / 1000} s`, seconds: null })
    }, this.after)
    this.timers.add(timer)
    try {
      return await answer
    } finally {
      clearTimeout(timer)
      this.timers.delete(timer)
      if (told && --this.slow === 0) this.onEvent({ type: 'environment-away', text: null, seconds: null })
    }
  }

  /** Nothing more is said. */
  end(): void {
    for (const timer of this.timers) clearTimeout(timer)
    if (this.slow > 0) this.onEvent({ type: 'environment-away', text: null, seconds: null })
    this.slow = -Infinity
  }
}

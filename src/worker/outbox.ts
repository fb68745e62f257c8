/** What the worker says in one go reaches the page as one message: a step says thousands of things, and each message costs both sides. */

import type { Message } from './protocol'

export class Outbox {
  private waiting: Message[] = []

  constructor(private readonly send: (messages: readonly Message[]) => void) {}

  /** Sends it, and all that is posted before this thread next waits for anything, in their order. */
  post(message: Message): void {
    if (this.waiting.push(message) > 1) return
    queueMicrotask(() => {
      const messages = this.waiting
      this.waiting = []
      this.send(messages)
    })
  }
}

/** The page's side of the engine's worker: starts it, speaks the protocol, and turns its death into a state the page can show. */

import type { Command, Message } from './protocol'

export interface EngineClient {
  send(command: Command): void
  onMessage(listener: (message: Message) => void): void
  /** Ends the worker. */
  terminate(): void
}

/** Starts the worker. A worker that cannot start or dies is reported as a failed state, not as an exception. */
export function createEngineClient(): EngineClient {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' })
  return connectEngine(worker)
}

/** The protocol over anything that looks like a worker. */
export function connectEngine(worker: Worker): EngineClient {
  const listeners: ((message: Message) => void)[] = []
  const tell = (message: Message) => {
    for (const listener of listeners) {
      try {
        listener(message)
      } catch (error) {
        // It is told like any other, but neither the other listeners nor the messages behind it are lost.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
  const fail = (error: string) => {
    const advice = 'Reload the page; if it happens again, choose the other backend or smaller settings.'
    tell({ type: 'state', state: { state: 'failed', error, advice, recoverable: false } })
  }
  worker.onmessage = ({ data }: MessageEvent<readonly Message[]>) => data.forEach(tell)
  worker.onerror = (event) => fail(`The engine's worker stopped: ${event.message || 'its program could not be loaded'}.`)
  worker.onmessageerror = () => fail("A message of the engine's worker could not be read.")
  return {
    send: (command) => worker.postMessage(command, command.type === 'sandbox' ? [command.port] : []),
    onMessage: (listener) => {
      listeners.push(listener)
    },
    terminate: () => worker.terminate(),
  }
}

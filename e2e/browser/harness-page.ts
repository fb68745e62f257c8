/** The page's half of the harness: imports a module of the repository and calls one function of it, here or in a worker. */

import type { HarnessCall, HarnessReply, HarnessWindow } from './harness'

let worker: Worker | null = null
let nextId = 1
const waiting = new Map<number, (reply: HarnessReply) => void>()

/** One worker a page: what a module keeps in its variables is still there at the next call. */
function theWorker(): Worker {
  if (worker !== null) return worker
  worker = new Worker(new URL('./harness-worker.ts', import.meta.url), { type: 'module', name: 'harness' })
  worker.onmessage = (event: MessageEvent<HarnessReply>) => {
    waiting.get(event.data.id)?.(event.data)
    waiting.delete(event.data.id)
  }
  worker.onerror = event => {
    const message = `The harness worker failed: ${event.message || 'no message'} (${event.filename}:${event.lineno})`
    for (const [id, answer] of waiting) answer({ id, error: message })
    waiting.clear()
  }
  return worker
}

const harness: HarnessWindow = {
  callHere: async ({ module, name, arg }) => {
    const exports = (await import(/* @vite-ignore */ module)) as Record<string, unknown>
    const fn = exports[name]
    if (typeof fn !== 'function') throw new Error(`${module} exports no function ${name}`)
    return (await (fn as (arg: unknown) => unknown)(arg)) ?? null
  },
  callInWorker: call =>
    new Promise((resolve, reject) => {
      const id = nextId++
      waiting.set(id, reply => ('error' in reply ? reject(new Error(reply.error)) : resolve(reply.value)))
      theWorker().postMessage({ id, ...call } satisfies { id: number } & HarnessCall)
    }),
}

Object.assign(globalThis, { harness })

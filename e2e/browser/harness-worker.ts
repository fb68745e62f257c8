/** The worker's half of the harness: a dedicated module worker that imports what it is told to and calls it. */

import type { HarnessCall, HarnessReply } from './harness'

self.onmessage = (event: MessageEvent<{ id: number } & HarnessCall>) => {
  const { id, module, name, arg } = event.data
  void (async () => {
    const reply = await call(module, name, arg).then(
      (value): HarnessReply => ({ id, value }),
      (error: unknown): HarnessReply => ({ id, error: error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : String(error) }),
    )
    self.postMessage(reply)
  })()
}

async function call(module: string, name: string, arg: unknown): Promise<unknown> {
  const exports = (await import(/* @vite-ignore */ module)) as Record<string, unknown>
  const fn = exports[name]
  if (typeof fn !== 'function') throw new Error(`${module} exports no function ${name}`)
  return (await (fn as (arg: unknown) => unknown)(arg)) ?? null
}

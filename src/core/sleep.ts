/** Waiting that can be cut short, and that a closed gate holds up: a person's pause. */

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

/** Awaited now and then by what runs; a pause is a promise that does not resolve yet. */
export type PauseGate = () => Promise<void>

/** How long a pause may take to be noticed by what waits. */
const GATE_MS = 100

/** Resolves after so many ms, or early when the signal aborts. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })

/** Waits for the gate, where there is one; an abort ends the wait, since a paused run must still be stoppable. */
export async function waitAtGate(gate: PauseGate | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (!gate || signal?.aborted) return
  if (!signal) return gate()
  let stop: () => void = () => {}
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
  })
  signal.addEventListener('abort', stop)
  try {
    await Promise.race([gate(), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits for the event, or until the signal aborts, and passes the gate every now and then: a run that only waits shows at once that it is paused. */
export async function waitThroughGate(event: Promise<void>, gate: PauseGate | undefined, signal: AbortSignal | undefined): Promise<void> {
  const over = new AbortController()
  const end = () => over.abort()
  void event.then(end, end)
  signal?.addEventListener('abort', end)
  try {
    // An event that is there already is not kept waiting by the gate.
    await Promise.race([event, Promise.resolve()])
    while (!over.signal.aborted && !signal?.aborted) {
      await waitAtGate(gate, signal)
      await sleep(GATE_MS, over.signal)
    }
    if (!signal?.aborted) await event
  } finally {
    signal?.removeEventListener('abort', end)
  }
}

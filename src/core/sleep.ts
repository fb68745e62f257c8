/** A pause that can be cut short. */

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

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

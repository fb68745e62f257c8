/** Errors that stop an update before it reaches the weights. */

import { PlaygroundError } from '../core/errors'

/** The error for a number that is not finite; the optimizer step that it stops is not applied. */
export function nonFinite(what: string, learning_rate: number, cause?: unknown): PlaygroundError {
  return new PlaygroundError(
    'non-finite',
    `${what} is not a finite number, so this optimizer step was not applied.`,
    `Lower learning_rate (now ${learning_rate}) or max_grad_norm, then reset the adapter.`,
    { cause },
  )
}

/** Throws 'non-finite' at the first trained position where a value is NaN or infinite. Arrays are [tokens]. */
export function assertFinite(values: ArrayLike<number>, mask: ArrayLike<number>, what: string, learning_rate: number): void {
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 1 && !Number.isFinite(values[t])) throw nonFinite(`${what} at token ${t} (${values[t]})`, learning_rate)
  }
}

/** Waits for the gate; an abort ends the wait, since a paused run must still be stoppable. */
export async function waitAtGate(gate: () => Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return gate()
  let stop: () => void = () => {}
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
    if (signal.aborted) resolve()
  })
  signal.addEventListener('abort', stop)
  try {
    await Promise.race([gate(), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Throws 'stopped' with the sentence `what` once the signal is aborted. */
export function assertNotStopped(
  signal: AbortSignal | undefined,
  what = 'The step was stopped before its update; the adapter is unchanged.',
): void {
  if (signal?.aborted) throw new PlaygroundError('stopped', what)
}

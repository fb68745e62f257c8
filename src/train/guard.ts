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

/** Larger rewards would overflow when they are squared; larger advantages when the gradient is, which has 32 bits. */
const LARGEST_REWARD = 1e100
const LARGEST_ADVANTAGE = 1e12

/** Throws 'environment' when the rewards are so large that they cannot be compared. Both are [episodes]; null = unscorable. */
export function assertComparable(rewards: readonly (number | null)[], advantages: Float64Array, environment: string): void {
  const given = rewards.filter((reward) => reward !== null)
  if (given.every((reward) => Math.abs(reward) <= LARGEST_REWARD) && advantages.every((advantage) => Math.abs(advantage) <= LARGEST_ADVANTAGE)) return
  const [low, high] = [Math.min(...given), Math.max(...given)]
  throw new PlaygroundError(
    'environment',
    `The rewards of "${environment}" go from ${low} to ${high}, which is too large to be compared.`,
    'Let the environment give rewards of an ordinary size, such as 0 to 1; the adapter is unchanged.',
  )
}

/** Throws 'stopped' with the sentence `what` once the signal is aborted. */
export function assertNotStopped(
  signal: AbortSignal | undefined,
  what = 'The step was stopped before its update; the adapter is unchanged.',
): void {
  if (signal?.aborted) throw new PlaygroundError('stopped', what)
}

/** What a promise that must fail failed with. */

import { PlaygroundError } from '../../src/core/errors'

/** The PlaygroundError that the promise rejects with; throws when it does not reject, or with another error. */
export async function failure(promise: Promise<unknown>): Promise<PlaygroundError> {
  const error: unknown = await promise.then(
    () => null,
    (e: unknown) => e,
  )
  if (!(error instanceof PlaygroundError)) throw new Error(`expected a PlaygroundError, got ${String(error)}`)
  return error
}

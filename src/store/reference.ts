/** Reads what a person types or pastes as a repository on the Hub: an id, an id with a revision, an address. */

import { describeError } from '../core/errors'
import { type ModelReference, parseModelReference } from '../hub/model-reference'
import type { Read } from './settings'

/** The repository and revision that the text names, or a sentence without its full stop that says what is accepted. */
export function readReference(text: string): Read<ModelReference> {
  try {
    return { ok: true, value: parseModelReference(text) }
  } catch (error) {
    return { ok: false, why: describeError(error).replace(/\.$/, '') }
  }
}

/** What a person reads of an error at the bench. */

/** Its sentence; of what is no error, itself as text. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

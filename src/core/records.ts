/** JSON objects that nobody has checked yet. */

/** Whether a value is an object with fields: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

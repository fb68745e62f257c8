/** Whether two plain data say the same. */

/** Alike in all values, whatever the order of their keys; what is undefined is as good as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  const [ours, theirs] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].every((key) => isSame(ours[key], theirs[key]))
}

/** Small things that a browser remembers for its person: read with care, written where it is allowed. Nothing of it is sent. */

import type { z } from 'zod/mini'

/** What was kept under the name, or `otherwise` where nothing was, where it cannot be read, or where it has another shape. */
export function readKept<T>(name: string, schema: z.ZodMiniType<T>, otherwise: T): T {
  try {
    const text = localStorage.getItem(name)
    const read = text === null ? null : schema.safeParse(JSON.parse(text))
    return read?.success ? read.data : otherwise
  } catch {
    return otherwise
  }
}

/** Keeps a value; a browser that forbids it forgets it with the page. */
export function writeKept(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value))
  } catch {
    // Storage is full or forbidden: the page works without.
  }
}

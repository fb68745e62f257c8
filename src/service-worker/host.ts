/** Whether the host still has this site, or another program is served at its address by now; the service worker makes way for that. */

import type { SiteManifest } from './messages'

/** Stands in the start page of every version. */
export const START_PAGE_MARK = '<title>GRPO Playground</title>'

export interface HostQuestion {
  /** Address of the site's folder, with the last slash. */
  scope: string
  /** Address of the service worker's program. */
  program: string
  entry: SiteManifest['entry']
  fetch: (url: string, init?: RequestInit) => Promise<Response>
}

/**
 * Whether the address belongs to something else now: it answers with a start page that is none of this site's, or has no service worker
 * any more. A host that cannot be reached, or says that something is wrong with it (5xx) or with the visitor (401, 403, 429), has not
 * gone. Never rejects.
 */
export async function isGone({ scope, program, entry, fetch }: HostQuestion): Promise<boolean> {
  // Not from the browser's cache, nor by its dates: two programs on one port may well have files of the same name and time.
  const fresh = { cache: 'reload' } as const
  // Both at once: the visitor waits.
  const own = fetch(program, fresh)
  own.catch(() => undefined)
  try {
    const start = await fetch(scope, fresh)
    if (start.ok) {
      const text = await start.text()
      if (!text.includes(START_PAGE_MARK) && !text.includes(entry)) return true
    }
    const { status } = await own
    return status === 404 || status === 410
  } catch {
    return false
  }
}

export interface Visit {
  isGone: () => Promise<boolean>
  /** The start page as it is kept. */
  kept: () => Promise<Response>
  /** What the host has at the address. */
  fromHost: () => Promise<Response>
  /** Resolves when a visitor has waited long enough for the host to say what it is. */
  patience: () => Promise<void>
}

/**
 * Answers a visit of the start page: from what is kept, unless the host is known to be another's in time. `gone` resolves, however long
 * it takes, with whether the service worker is to leave, and whether the visitor got the other program's page.
 */
export function visit({ isGone, kept, fromHost, patience }: Visit): { answer: Promise<Response>; gone: Promise<{ gone: boolean; shown: boolean }> } {
  const asked = isGone()
  const inTime = Promise.race([asked, patience().then(() => false)])
  return {
    answer: inTime.then((gone) => (gone ? fromHost() : kept())),
    gone: Promise.all([asked, inTime]).then(([gone, shown]) => ({ gone, shown })),
  }
}

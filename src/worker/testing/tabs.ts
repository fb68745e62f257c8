/** Locks as the tabs of one browser share them, for tests. */

/** What `navigator.locks` does, as far as runs need it; `others` are names that other tabs hold. */
export function sharedLocks(others: Set<string> = new Set()): { locks: Pick<LockManager, 'request' | 'query'>; others: Set<string> } {
  const request = async (name: string, _options: LockOptions, work: (lock: Lock | null) => unknown): Promise<unknown> => {
    if (others.has(name)) return work(null)
    others.add(name)
    return Promise.resolve(work({ name, mode: 'exclusive' })).finally(() => others.delete(name))
  }
  const query = (): Promise<LockManagerSnapshot> => Promise.resolve({ held: [...others].map((name) => ({ name, mode: 'exclusive' as const })), pending: [] })
  return { locks: { request: request as LockManager['request'], query }, others }
}

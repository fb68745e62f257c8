/** One tab a run: the tab in which a kept run goes on holds its lock, so that no other writes to it or deletes it. */

const nameOf = (id: string): string => `grpo-run-${id}`

/** Holds the run's lock until the returned function is called; where there are no locks, nothing. */
export function holdRun(id: string): () => void {
  if (typeof navigator === 'undefined' || !('locks' in navigator)) return () => undefined
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  void navigator.locks.request(nameOf(id), { ifAvailable: true }, (lock) => (lock ? held : undefined))
  return release
}

/** Whether some tab holds the run. */
export async function isRunHeld(id: string): Promise<boolean> {
  if (typeof navigator === 'undefined' || !('locks' in navigator)) return false
  const { held = [] } = await navigator.locks.query()
  return held.some(({ name }) => name === nameOf(id))
}

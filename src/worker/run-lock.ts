/** One tab a run: the tab in which a kept run goes on holds its lock, so that no other goes on with it or deletes it. */

const nameOf = (id: string): string => `grpo-run-${id}`

const locks = (): LockManager | null => (typeof navigator === 'undefined' ? null : ((navigator.locks) ?? null))

/** Takes the run's lock and returns what gives it back; null when another tab has it. Where there are no locks, every tab gets it. */
export function takeRun(id: string): Promise<(() => void) | null> {
  const manager = locks()
  if (!manager) return Promise.resolve(() => undefined)
  return new Promise((taken, refused) => {
    manager
      .request(nameOf(id), { ifAvailable: true }, (lock) => {
        if (!lock) return taken(null)
        return new Promise<void>((release) => taken(release))
      })
      .catch(refused)
  })
}

/** Whether some tab holds the run. */
export async function isRunHeld(id: string): Promise<boolean> {
  const { held = [] } = (await locks()?.query()) ?? {}
  return held.some(({ name }) => name === nameOf(id))
}

/** One tab a run: the tab in which a kept run goes on holds its lock, so that no other goes on with it or deletes it. */

const PREFIX = 'grpo-run-'
const nameOf = (id: string): string => `${PREFIX}${id}`
/** Runs whose lock this tab has. */
const own = new Set<string>()

const locks = (): LockManager | null => (typeof navigator === 'undefined' ? null : ((navigator.locks) ?? null))

/** Takes the run's lock and returns what gives it back; null when another tab has it. Where there are no locks, every tab gets it. */
export function takeRun(id: string): Promise<(() => void) | null> {
  const manager = locks()
  if (!manager) return Promise.resolve(() => undefined)
  return new Promise((taken, refused) => {
    manager
      .request(nameOf(id), { ifAvailable: true }, (lock) => {
        if (!lock) return taken(null)
        own.add(id)
        return new Promise<void>((release) =>
          taken(() => {
            own.delete(id)
            release()
          }),
        )
      })
      .catch(refused)
  })
}

/** The runs that go on in other tabs. */
export async function runsElsewhere(): Promise<string[]> {
  const { held = [] } = (await locks()?.query()) ?? {}
  return held.flatMap(({ name }) => (name?.startsWith(PREFIX) && !own.has(name.slice(PREFIX.length)) ? [name.slice(PREFIX.length)] : []))
}

/** Room for a run's newest checkpoint where the browser's storage is full: its older ones give way. */

import type { Checkpoint, RunArchive } from './archive'

/** Whether a write failed for lack of room. */
export const isFull = (error: unknown): boolean => error instanceof DOMException && error.name === 'QuotaExceededError'

/**
 * Does a write that brings a checkpoint, again without the run's oldest one each time there is no room. When there is none for it even alone,
 * the newest one that gave way is put back and the failure is thrown.
 */
export async function inPlaceOfOlder<T>(archive: Pick<RunArchive, 'giveUpCheckpoint' | 'addCheckpoint'>, id: string, write: () => Promise<T>): Promise<T> {
  let given: Checkpoint | null = null
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const next: Checkpoint | null = isFull(error) ? await archive.giveUpCheckpoint(id).catch(() => null) : null
      if (!next) {
        if (given) await archive.addCheckpoint(id, given).catch(() => null)
        throw error
      }
      given = next
    }
  }
}

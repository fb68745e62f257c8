/** Which row a group gets, and which rows are never trained on: pure functions of the rows, the run's seed and the draw. */

import type { Draw } from '../../core/environment'
import { hash, RandomStream } from '../../core/random'
import type { PromptRow } from './rows'

/** From so many rows on a part is held out. */
export const HELD_OUT_FROM = 50
/** One row of so many. */
const HELD_OUT_ONE_OF = 10
/** Keep these draws apart from all others of a run. */
const [SPLIT, ORDER, DRAWN] = [0x5b117, 0x0de4, 0xd4a3]

/** Rows with the same prompt are on the same side, whatever else the dataset or the system prompt says; nothing is held out of a small one. */
export function splitRows(rows: readonly PromptRow[]): { train: PromptRow[]; heldout: PromptRow[] } {
  if (rows.length < HELD_OUT_FROM) return { train: [...rows], heldout: [] }
  const isHeld = rows.map(({ messages }) => hash(SPLIT, textHash(JSON.stringify(messages.filter(({ role }) => role !== 'system')))) % HELD_OUT_ONE_OF === 0)
  return { train: rows.filter((_, i) => !isHeld[i]), heldout: rows.filter((_, i) => isHeld[i]) }
}

/** FNV-1a over UTF-16 units. */
function textHash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value
}

/** Rows in the order of a run: shuffled anew each epoch (TRL's shuffle_dataset), so that each comes once an epoch. */
export class RowOrder {
  private epoch = -1
  private places: number[] = []

  constructor(
    private readonly length: number,
    private readonly seed: number,
  ) {}

  /** Index of the row that a draw gets. Evaluations take the held-out rows as they stand. */
  rowOf({ prompt, seed, split }: Draw): number {
    const { length } = this
    if (prompt === undefined) return hash(DRAWN, seed) % length
    return split === 'heldout' ? prompt % length : (this.placesOf(Math.floor(prompt / length))[prompt % length] ?? 0)
  }

  private placesOf(epoch: number): number[] {
    if (epoch !== this.epoch) {
      this.epoch = epoch
      this.places = new RandomStream(this.seed, ORDER, epoch).shuffle(Array.from({ length: this.length }, (_, i) => i))
    }
    return this.places
  }
}

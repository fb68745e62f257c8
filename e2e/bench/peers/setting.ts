/** What every row of `peers` is given, and what all of them find out about the programs that they compare. */

import type { BenchLog, BenchRow } from '../../tools/bench-rows'

export interface PeerSetting {
  /** Pairs, or repeats, that count. */
  count: number
  log: BenchLog
  /** Programs by name, for the report. */
  versions: Record<string, string>
}

export type PeerRows = (setting: PeerSetting) => Promise<BenchRow[]>

/** WebGPU dispatches per layer beside the plain-node prototype's; counted by the benchmark `dispatches`. */

import type { BenchRow } from '../../tools/bench-rows'
import { judged } from '../_pairs'
import { run } from '../dispatches'
import type { PeerSetting } from './setting'

const COMPARED = {
  'decode per layer': { prototype: 31, most: 9 },
  'training per layer': { prototype: 187, most: 90 },
} as const

export async function dispatchesRows({ log }: PeerSetting): Promise<BenchRow[]> {
  return compareDispatches(await run([], log))
}

/** Of Qwen3, each precision. Throws when a row that is compared is missing. */
export function compareDispatches(counted: readonly BenchRow[]): BenchRow[] {
  return (['float32', 'int4'] as const).flatMap((precision) =>
    Object.entries(COMPARED).map(([name, { prototype, most }]): BenchRow => {
      const value = counted.find(({ row }) => row === `qwen3/${precision}/${name}`)?.value
      if (value === undefined) throw new Error(`The dispatches of qwen3/${precision}/${name} were not counted.`)
      const peer = { peer: 'plain-node prototype', peerValue: prototype, ratio: Number((value / prototype).toFixed(3)) }
      const what = name.startsWith('training') ? 'forward and backward' : 'a decoded token'
      return { bench: 'peers', row: `dispatches/${precision}/${name}`, value, unit: 'dispatches', ...peer, ...judged(value, { most }), note: what }
    }),
  )
}

/** One token of 8 slots over one token of 1 slot, our engine on one WASM thread: what batching saves. */

import type { BenchRow } from '../../tools/bench-rows'
import { pairedRow, refusedRow, takeTurns } from '../_pairs'
import { countFrom } from '../_rows'
import { makeModel, MODELS_FOLDER, PEER_MODELS, type PeerModel } from './models'
import { openEngine, withPages, type Pages } from './pages'
import type { PeerSetting } from './setting'

const SLOTS = 8
const PROMPT = 128
/** Tokens whose mean is one figure. */
const TOKENS = 64

export async function batchingRows(setting: PeerSetting): Promise<BenchRow[]> {
  return withPages(async (pages) => {
    const rows: BenchRow[] = []
    for (const model of PEER_MODELS) {
      rows.push(await batchingRow(pages, model, setting).catch((error: unknown) => refusedRow(`batching/${model}`, error)))
    }
    return rows
  })
}

async function batchingRow(pages: Pages, model: PeerModel, { count, log }: PeerSetting): Promise<BenchRow> {
  await makeModel(model)
  const tokens = countFrom(process.env, 'GRPO_BENCH_TOKENS', TOKENS)
  const ours = await pages.ours()
  const milliseconds = (slots: number) => async (): Promise<number> => 1000 * (await ours<number>('decode', { name: `${slots}`, prompt: PROMPT, tokens }))
  for (const slots of [SLOTS, 1]) {
    await openEngine(ours, { name: `${slots}`, model: `/${MODELS_FOLDER}/${model}`, slots, contextLength: PROMPT + tokens, threads: 1 })
  }
  const pairs = await takeTurns(count, milliseconds(SLOTS), milliseconds(1), (pair, n) =>
    log(`${model}${n < 1 ? ' (warming up)' : ''}: ${pair.ours.toFixed(2)} ms for ${SLOTS} slots, ${pair.peer.toFixed(2)} for one`),
  )
  for (const slots of [SLOTS, 1]) await ours('close', { name: `${slots}` })
  const note = `one thread, decoded and sampled, ${PROMPT} tokens before it`
  return pairedRow({ row: `batching/${model}`, unit: 'ms', peer: 'one slot', goal: { most: 1.8 }, note }, pairs)
}

/** Tokens a second of 8 slots: our engine against transformers.js' generate, same weights, browser, threads, prompts, both greedy. */

import { spreadIds } from '../../models/workload'
import type { BenchRow } from '../../tools/bench-rows'
import { pairedRow, refusedRow, takeTurns } from '../_pairs'
import { countFrom } from '../_rows'
import { exportModel, MODELS_FOLDER, PEER_MODELS, type PeerModel } from './models'
import type { Generated } from './ours-run'
import { openEngine, withPages, type Pages } from './pages'
import type { PeerSetting } from './setting'
import type { Loaded } from './transformers-run'

const SLOTS = 8
const PROMPT = 64
/** Tokens that each slot writes. */
const TOKENS = 128
/** Tokens of a slot that must agree before it is believed that both sides have the same model; later a rounding may part them. */
const SAME = 8

export async function rolloutRows(setting: PeerSetting): Promise<BenchRow[]> {
  return withPages(async (pages) => {
    const rows: BenchRow[] = []
    for (const model of PEER_MODELS) {
      rows.push(await rolloutRow(pages, model, setting).catch((error: unknown) => refusedRow(`rollout/${model}`, error)))
    }
    return rows
  })
}

async function rolloutRow(pages: Pages, model: PeerModel, { count, log, versions }: PeerSetting): Promise<BenchRow> {
  await exportModel(model, log)
  const newTokens = countFrom(process.env, 'GRPO_BENCH_TOKENS', TOKENS)
  const [ours, theirs] = [await pages.ours(), await pages.transformers()]
  const threads = await ours<number>('usualThreads')
  const engine = await openEngine(ours, { name: model, model: `/${MODELS_FOLDER}/${model}`, slots: SLOTS, contextLength: PROMPT + newTokens, threads })
  const peer = await theirs<Loaded>('load', { folder: `/${MODELS_FOLDER}/`, name: model, threads })
  Object.assign(versions, { 'onnxruntime-web': engine.ortVersion, 'transformers.js': `${peer.version} on onnxruntime-web ${peer.ortVersion}` })
  log(`${model}: ${engine.parameters} parameters, ${engine.threads} threads, transformers.js ${peer.threads}`)
  if (peer.threads !== engine.threads) throw new Error(`Ours has ${engine.threads} threads, transformers.js ${peer.threads}.`)
  const prompts = Array.from({ length: SLOTS }, (_, slot) => spreadIds(PROMPT, 1000).map((id) => (id + 37 * slot) % 1000))
  const ids: Record<'ours' | 'peer', number[][]> = { ours: [], peer: [] }
  const speed = (side: 'ours' | 'peer', { seconds, ids: written }: Generated): number => {
    ids[side] = written
    if (written.length !== SLOTS || written.some((row) => row.length !== newTokens)) {
      throw new Error(`${side}: ${written.map((row) => row.length).join(', ')} tokens instead of ${SLOTS} × ${newTokens}.`)
    }
    return (SLOTS * newTokens) / seconds
  }
  const pairs = await takeTurns(
    count,
    async () => speed('ours', await ours<Generated>('generate', { name: model, prompts, newTokens })),
    async () => speed('peer', await theirs<Generated>('generate', { prompts, newTokens })),
    ({ ours: a, peer: b }, n) => log(`${model}${n < 1 ? ' (warming up)' : ''}: ${a.toFixed(0)} against ${b.toFixed(0)} tokens/s`),
  )
  const alike = sameBeginnings(ids.ours, ids.peer)
  log(`${model}: tokens until the two part, by slot: ${alike.join(', ')}`)
  if (alike.some((n) => n < Math.min(SAME, newTokens))) throw new Error(`The two do not write the same: they part after ${Math.min(...alike)} tokens.`)
  await Promise.all([ours('close', { name: model }), theirs('unload')])
  const note = `${engine.threads} threads, ${SLOTS} x (${PROMPT} + ${newTokens}) tokens, greedy`
  return pairedRow({ row: `rollout/${model}`, unit: 'tokens/s', peer: 'transformers.js', goal: { least: 4 }, note }, pairs)
}

/** Of each row of two lists, how many tokens at its beginning are the same. */
export function sameBeginnings(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number[] {
  return a.map((row, i) => {
    const parted = row.findIndex((id, t) => id !== b[i]?.[t])
    return parted < 0 ? row.length : parted
  })
}
